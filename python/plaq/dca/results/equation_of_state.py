"""Equation of state of a sweep over density or mu: compressibility, and the entropy by two ways, by filling and T.

``equation_of_state.csv`` has a row for each run and temperature: n, mu, compressibility, entropy by integration in beta
(plaq.dca.results.thermodynamics) and entropy_maxwell, by integration in n or mu from the run nearest to half filling
(plaq.dca.physics.maxwell), each with its errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from plaq.data.figures import Theme, subplots, temperature_colour
from plaq.dca.physics.maxwell import Grid
from plaq.dca.results.sweep_table import DENSITY, MU, Entry
from plaq.dca.units import over

FEWEST = 3  # fillings, and temperatures that all of them have
MOST = 6  # temperatures in the figure
SIZE = (5.2, 5.0)


def rows(entries: list[Entry]) -> list[dict[str, Any]]:
    """Return the rows of ``equation_of_state.csv``; none where neither density nor mu has three values."""
    return [row for group in groups(entries) for row in rows_of(group)]


def groups(entries: list[Entry]) -> Iterator[list[Entry]]:
    """Yield entries that differ in density or mu alone, by filling; at least three of them."""
    for key in (DENSITY, MU):
        found: dict[tuple, list[Entry]] = {}
        for entry in entries:
            if entry.results and entry.axes.get(key):
                rest = tuple((name, value) for name, value in entry.axes.items() if name != key)
                found.setdefault(rest, []).append(entry)
        for group in found.values():
            if len({float(entry.axes[key]) for entry in group}) >= FEWEST:
                yield sorted(group, key=lambda entry: float(entry.axes[key]))


def rows_of(group: list[Entry]) -> Iterator[dict[str, Any]]:
    """Yield the rows of runs that differ in filling alone, at the temperatures that all of them have."""
    found = [entry.results.thermodynamics for entry in group]
    points = [{f"{p.T:.9g}": p for p in entry.results.points if "density" in p} for entry in group]
    common = [T for T in sorted(points[0], key=float, reverse=True) if all(T in of for of in points)]
    if len(common) < FEWEST or not all("entropy" in each for each in found):
        return
    at = [[of[T] for T in common] for of in points]
    grid = grid_of(group, at)
    kappa, kappa_error, kappa_width = grid.compressibility()
    half = int(np.argmin([abs(float(p["density"].mean) - 1) for p, *_ in at]))
    change, change_error, width = grid.entropy_change(half)
    s = np.array([[value(each, "entropy", p.T) for p in line] for each, line in zip(found, at)])
    for i, (entry, line) in enumerate(zip(group, at)):
        for j, point in enumerate(line):
            yield {"run": entry.name, **entry.axes, "T": point.T, "density": float(point["density"].mean),
                   "density_error": float(point["density"].error), "mu": point.mu, "mu_error": mu_error(point),
                   "compressibility": kappa[i, j], "compressibility_error": kappa_error[i, j],
                   "compressibility_discretisation": kappa_width[i, j],
                   "entropy": s[i, j, 0], "entropy_error": s[i, j, 1], "entropy_discretisation": s[i, j, 2],
                   "entropy_maxwell": s[half, j, 0] + change[i, j],
                   "entropy_maxwell_error": float(np.hypot(s[half, j, 1], change_error[i, j])),
                   "entropy_maxwell_discretisation": float(np.hypot(s[half, j, 2], width[i, j]))}


def grid_of(group: list[Entry], at: list[list]) -> Grid:
    """Return n or mu of the runs and temperatures."""
    limit = group[0].results.limit
    beta = np.array([point.beta for point in at[0]])
    if limit.fixed == "mu":
        y, error = (np.array([[float(getattr(p["density"], part)) for p in line] for line in at])
                    for part in ("mean", "error"))
        x = np.array([line[0].mu for line in at])
        return Grid("mu", x, beta, y, error, limit.scale, np.full(len(x), limit.filling))
    n = np.array([float(entry.axes[DENSITY]) for entry in group])
    f = n / (2 * limit.filling)
    y = np.array([[p.mu for p in line] for line in at])
    error = np.array([[mu_error(p) for p in line] for line in at])
    return Grid("density", n, beta, y, error, limit.scale, np.log(f / (1 - f)))


def mu_error(point) -> float:
    return float(point["mu"].error) if "mu" in point else 0.0


def value(found, name: str, T: float) -> tuple[float, float, float]:
    """Return (mean, error, error from few temperatures) of a quantity at T."""
    i = int(np.argmin(np.abs(found.T - T)))
    return float(found[name].mean[i]), float(found[name].error[i]), float(found.uncertainty[name][i])


def draw(table: list[dict[str, Any]], theme: Theme, unit: str) -> Figure:
    """Draw entropy, by both ways, and compressibility against density at some temperatures of the first group."""
    keys = [key for key in table[0] if "." in key and key not in (DENSITY, MU)]
    table = [row for row in table if all(row[key] == table[0][key] for key in keys)]
    T = sorted({row["T"] for row in table})
    T = [T[i] for i in np.unique(np.linspace(0, len(T) - 1, min(MOST, len(T))).round().astype(int))]
    figure, (top, bottom) = subplots(2, 1, figsize=SIZE, sharex=True)
    for i, t in enumerate(T):
        part = sorted((row for row in table if row["T"] == t), key=lambda row: row["density"])
        column = lambda name: np.array([row[name] for row in part], dtype=float)  # noqa: E731, B023
        n = np.array([float(row.get(DENSITY) or row["density"]) for row in part])
        colour = temperature_colour(i / max(1, len(T) - 1))
        top.errorbar(n, column("entropy"), column("entropy_error"), fmt="o", color=colour, label=f"{t:.3g}")
        top.errorbar(n, column("entropy_maxwell"), column("entropy_maxwell_error"), fmt="-", color=colour, lw=0.9)
        bottom.errorbar(n, column("compressibility"), np.hypot(column("compressibility_error"), column(
            "compressibility_discretisation")), fmt="o-", color=colour)
    top.set(ylabel="entropy")
    bottom.set(ylabel=f"dn/dμ · {unit}" if unit else "dn/dμ", xlabel="density n",
               ylim=(0, 1.2 * max(row["compressibility"] for row in table if row["T"] in T)))
    figure.legend(*top.get_legend_handles_labels(), title=over("T", unit), ncols=6, loc="outside upper left")
    return figure

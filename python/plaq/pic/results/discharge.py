"""Figures of discharges: densities and potential across the gap with its sheaths, energies by place, power, circuits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from plaq.data.display import Drawing
from plaq.data.figures import subplots
from plaq.data.plots import label, typeset
from plaq.data.recorded import Recorded
from plaq.pic.inputs.units import ELECTRON_REST_ENERGY
from plaq.pic.results.figures import TIME, axis_label
from plaq.pic.results.power import power_drawing
from plaq.pic.results.results import Results

Draw = Callable[[Any], Any]
PLACES = ((0, 1 / 16), (3 / 16, 5 / 16), (7 / 16, 9 / 16))  # parts of the box whose energies are shown
DECADES = 6  # of a spectrum


def discharge_drawings(results: Results) -> dict[str, Drawing]:
    """Return the figures that the records of a run are enough for."""
    found: dict[str, Drawing] = {}
    recorded = results.recorded
    densities = density_means(results)
    if len(densities) > 1:
        edges = sheath_edges(results, densities)
        words = (" Vertical lines: sheath edges at x = " + ", ".join(f"{x:.4g}" for x in edges)
                 + " c/ω_p, by Brinkmann's condition on the means.") if edges else ""
        found["sheath"] = Drawing(across(results, densities, edges), "Across the gap",
                                  f"Means over all windows; bands: standard errors.{words}")
    if (power := power_drawing(results)) is not None:
        found["power_balance"] = power
    for name, record in recorded.items():
        if name.startswith("mean_") and [axis.name for axis in record.axes] == ["time", "x", "energy"]:
            found[f"{name[5:]}_by_place"] = Drawing(
                energies_by_place(record), f"{name[5:]} by place",
                "Mean density of particles over energy, divided by the density and by √E, in parts of the box; "
                "a Maxwell distribution is a straight line.")
    circuits = [name[:-8] for name in recorded if name.endswith(".current") and f"{name[:-8]}.potential" in recorded]
    for name in circuits:
        found[f"circuit_{name}"] = Drawing(circuit(recorded, name), f"Circuit {name}",
                                           "Potential and charge of its electrode, and its current."
                                           if np.any(recorded[f"{name}.current"].values) else
                                           "Potential and charge of an electrode that floats.")
    return found


def density_means(results: Results) -> dict[str, Recorded]:
    """Return the means of densities across the box by species, of boxes with one dimension."""
    charges, found = results.history.get("charges", {}), {}
    for name, record in results.recorded.items():
        species = record.convention.removeprefix("density of ").partition(",")[0]
        if (name.startswith("mean_") and record.convention.startswith("density of ") and len(record.axes) == 2
                and charges.get(species)):
            found.setdefault(species, record)
    return found


def mean_and_error(record: Recorded) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean over all windows and its standard error, 0 of one window."""
    values = record.values
    if len(values) == 1:
        return values[0], np.zeros_like(values[0])
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))


def sheath_edges(results: Results, densities: Mapping[str, Recorded]) -> list[float]:
    """Return the places of the sheath edges, from the low side and from the high one; none without electrons and ions.

    The edge s has as many negative charges between wall and s as are missing between s and the middle of the gap:
    Brinkmann, J. Appl. Phys. 102 (2007) 093303.
    """
    charges = results.history["charges"]
    x = next(iter(densities.values())).axes[1].at(-1)
    total = {sign: np.zeros_like(x) for sign in (-1, 1)}
    for name, record in densities.items():
        if record.axes[1].size != len(x):
            return []
        total[int(np.sign(charges[name]))] += abs(charges[name]) * mean_and_error(record)[0]
    if not (total[1].any() and total[-1].any()) or len(x) < 5:
        return []
    middle, edges = len(x) // 2, []
    for part in (slice(0, middle + 1), slice(len(x) - 1, len(x) - middle - 2, -1)):
        negative, positive, place = total[-1][part], total[1][part], x[part]
        width = abs(place[1] - place[0])
        steps = lambda of: np.concatenate([[0.0], np.cumsum((of[1:] + of[:-1]) / 2) * width])
        # ∫_0^s n_- = ∫_s^m (n_+ - n_-): the left side rises, the right one falls
        balance = steps(negative) - (steps(positive - negative)[-1] - steps(positive - negative))
        if balance[0] < 0 < balance[-1]:
            at = int(np.argmax(balance > 0))
            share = -balance[at - 1] / (balance[at] - balance[at - 1])
            edges.append(float(place[at - 1] + share * (place[at] - place[at - 1])))
    return edges


def across(results: Results, densities: Mapping[str, Recorded], edges: list[float]) -> Draw:
    """Draw densities and, where it has a mean, the potential across the gap."""
    phi = next((record for name, record in results.recorded.items()
                if name.startswith("mean_") and record.convention.startswith("phi,") and len(record.axes) == 2), None)

    def draw(theme):
        figure, grid = subplots(1 + (phi is not None), 1, figsize=(6, 4.8 if phi else 3.4), sharex=True, squeeze=False)
        panels = grid[:, 0]
        for i, (species, record) in enumerate(densities.items()):
            band(panels[0], record, 1.0, theme.series[i % len(theme.series)], species)
        panels[0].set(ylabel=label("density", "n_0"), ylim=(0, None))
        panels[0].legend()
        if phi is not None:
            band(panels[1], phi, ELECTRON_REST_ENERGY, theme.series[len(densities) % len(theme.series)], None)
            panels[1].set(ylabel=label("φ", "V"))
        for axes in panels:
            for edge in edges:
                axes.axvline(edge, color=theme.ink, linewidth=0.8, linestyle="--")
        panels[-1].set(xlabel=axis_label(next(iter(densities.values())).axes[1]))
        return figure

    return draw


def band(axes: Any, record: Recorded, unit: float, color: str, name: str | None) -> None:
    """Draw a mean with its standard error."""
    x, (values, error) = record.axes[1].at(-1), mean_and_error(record)
    axes.plot(x, unit * values, color=color, linewidth=1.1, label=name)
    axes.fill_between(x, unit * (values - error), unit * (values + error), color=color, alpha=0.3, linewidth=0)


def energies_by_place(record: Recorded) -> Draw:
    """Draw the distribution of energies at the low side, at a quarter and in the middle of the box."""
    x, energy = record.axes[1].at(-1), record.axes[2].at(-1) * ELECTRON_REST_ENERGY
    values = record.values.mean(axis=0) / ELECTRON_REST_ENERGY  # per eV
    length = x[-1] + x[0]

    def draw(theme):
        figure, axes = subplots(figsize=(6, 3.4))
        top = 0.0
        for i, (low, high) in enumerate(PLACES):
            chosen = (x >= low * length) & (x <= high * length)
            if not chosen.any() or not (found := values[chosen].mean(axis=0)).any():
                continue
            found = found / (found.sum() * (energy[1] - energy[0]) * np.sqrt(energy))
            top = max(top, float(found.max()))
            axes.semilogy(energy, np.where(found > 0, found, np.nan), linewidth=1.1, color=theme.series[i],
                          label=typeset(f"x = {low * length:.3g} … {high * length:.3g} c/ω_p"))
        axes.set(xlabel=label("energy", "eV"), ylabel="f / (n √E) / eV$^{-3/2}$")
        if top:
            axes.set_ylim(bottom=max(axes.get_ylim()[0], top * 10.0**-DECADES))
            axes.legend()
        return figure

    return draw


def circuit(recorded: Mapping[str, Recorded], name: str) -> Draw:
    """Draw potential, current and charge of a circuit's electrode in time."""
    parts = [(label("V", "V"), "potential", ELECTRON_REST_ENERGY), (label("I", "e W ω_p"), "current", 1.0),
             (label("Q", "e W"), "charge", 1.0)]
    parts = [part for part in parts if part[1] != "current" or np.any(recorded[f"{name}.current"].values)]

    def draw(theme):
        figure, grid = subplots(len(parts), 1, figsize=(6, 1.6 * len(parts) + 0.4), sharex=True, squeeze=False)
        for i, (axes, (words, quantity, unit)) in enumerate(zip(grid[:, 0], parts)):
            record = recorded[f"{name}.{quantity}"]
            axes.plot(record.axis("time"), unit * record.values, color=theme.series[i], linewidth=1.0)
            axes.set(ylabel=words)
        grid[-1, 0].set(xlabel=TIME)
        figure.align_ylabels()
        return figure

    return draw

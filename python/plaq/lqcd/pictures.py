"""The figures of a report: histories, the flow, effective masses."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from plaq.data import page
from plaq.data.results_file import Findings

SIZE = (5.2, 3.2)


def drawn(findings: Findings) -> list[str]:
    """As HTML, those that there are data for."""
    series, found = findings.recorded, findings.estimates
    figures = [page.figure(lambda theme: history(series["plaquette"].values, found["plaquette"],
                                                 "configuration", "plaquette"),
                           "Plaquette", "Re tr P / 3 of one configuration after the other; the band is the "
                           "average with its error.",
                           wide=False)]
    if "delta_h" in series:
        figures.append(page.figure(lambda theme: changes(series["delta_h"].values, series["accepted"].values),
                                   "Energy violation", "Delta H of all trajectories, those of thermalisation too; "
                                   "crosses were refused.",
                                   wide=False))
    if "flow_energy" in found:
        figures.append(page.figure(lambda theme: flow(findings), "Gradient flow",
                                   "t^2 E of the clover-shaped field strength; it is 0.3 at t = t0.", wide=False))
        figures.append(page.figure(lambda theme: history(series["charge"].values, None, "configuration", "Q"),
                                   "Topological charge", series["charge"].convention + ".", wide=False))
    if "potential" in found and np.isfinite(found["potential"].mean).any():
        figures.append(page.figure(lambda theme: potential(found["potential"]), "Static potential",
                                   "ln W(r, t) / W(r, t + 1) of Wilson loops; it falls to V(r) as t grows.",
                                   wide=False))
    masses = {name.removeprefix("mass_"): e for name, e in found.items() if name.startswith("mass_")}
    if any(np.isfinite(e.mean).any() for e in masses.values()):
        figures.append(page.figure(lambda theme: effective_masses(masses, findings), "Effective masses",
                                   "cosh m = (C(t-1) + C(t+1)) / 2 C(t); bands are masses of fits, "
                                   "where there are any.", wide=False))
    return figures


def history(values: np.ndarray, average, axis: str, label: str):
    figure, axes = plt.subplots(figsize=SIZE)
    axes.plot(np.arange(1, len(values) + 1), values, linewidth=0.8, marker="." if len(values) < 200 else "")
    if average is not None and average.supported:
        axes.axhspan(average.mean - average.error, average.mean + average.error, color="C1", alpha=0.4, linewidth=0)
        axes.axhline(average.mean, color="C1", linewidth=1)
    axes.set(xlabel=axis, ylabel=label)
    return figure


def changes(values: np.ndarray, accepted: np.ndarray):
    """Where some are large, as in thermalisation, on a scale that is linear up to one."""
    figure, axes = plt.subplots(figsize=SIZE)
    numbers, taken = np.arange(1, len(values) + 1), accepted > 0
    finite = np.isfinite(values)
    axes.plot(numbers[taken], values[taken], ".", markersize=3)
    axes.plot(numbers[~taken & finite], values[~taken & finite], "x", color="C1", markersize=4)
    if np.abs(values[finite]).max(initial=0) > 3:
        axes.set_yscale("symlog", linthresh=1)
    axes.axhline(0, color="C2", linewidth=0.8)
    axes.set(xlabel="trajectory", ylabel="Delta H")
    return figure


def flow(findings: Findings):
    energy = findings["flow_energy"]
    t = energy.axes[0].values
    figure, axes = plt.subplots(figsize=SIZE)
    axes.plot(t, t**2 * energy.mean)
    if energy.supported:
        axes.fill_between(t, t**2 * (energy.mean - energy.error), t**2 * (energy.mean + energy.error),
                          alpha=0.3, linewidth=0)
    axes.axhline(0.3, color="C2", linewidth=0.8)
    if "t0" in findings.estimates:
        axes.axvline(findings["t0"].mean, color="C1", linewidth=0.8)
    axes.set(xlabel="t / a^2", ylabel="t^2 E")
    return figure


def potential(found):
    (r, t), figure = (axis.values for axis in found.axes), plt.figure(figsize=SIZE)
    axes = figure.gca()
    for i, x in enumerate(t):
        error = found.error[:, i] if found.pick(t=i).supported else None
        axes.errorbar(r + 0.06 * i, found.mean[:, i], error, fmt="o", markersize=4, color=f"C{i % 6}",
                      label=f"t = {x}")
    axes.legend()
    axes.set(xlabel="r / a", ylabel="a V")
    return figure


def effective_masses(masses: dict, findings: Findings):
    figure, axes = plt.subplots(figsize=SIZE)
    for i, (name, mass) in enumerate(masses.items()):
        t = mass.axes[0].values + 0.08 * i
        error = mass.error if mass.supported else None
        axes.errorbar(t, mass.mean, error, fmt="o", color=f"C{i % 6}", label=name)
        fit = findings.estimates.get(f"fit_{name}")
        if fit is not None and fit.supported:
            first = int(fit.convention.split("from ")[1].split()[0])
            axes.fill_between([first, mass.axes[0].values[-1] + 1], fit.mean - fit.error, fit.mean + fit.error,
                              color=f"C{i % 6}", alpha=0.3)
    axes.legend()
    axes.set(xlabel="t / a", ylabel="a m")
    return figure

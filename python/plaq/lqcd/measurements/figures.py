"""Figures of a report: histories, the flow, potential, correlators and masses."""

from __future__ import annotations

import numpy as np

from plaq.data import page
from plaq.data.figures import subplots
from plaq.data.results_file import Findings

SIZE = (5.2, 3.2)


def draw_figures(findings: Findings) -> list[str]:
    """Return figures of all available data as HTML."""
    series, estimates = findings.recorded, findings.estimates
    figures = [page.figure(lambda theme: history(series["plaquette"].values, estimates["plaquette"],
                                                 "configuration", "plaquette"),
                           "Plaquette", "Re tr P / 3 of one configuration after the other; the band is the "
                           "average with its error.",
                           wide=False)]
    if "delta_h" in series:
        figures.append(page.figure(lambda theme: changes(series["delta_h"].values, series["accepted"].values),
                                   "Energy violation", "Delta H of all trajectories, those of thermalisation too; "
                                   "crosses were refused.",
                                   wide=False))
    if "flow_energy" in estimates:
        figures.append(page.figure(lambda theme: flow(findings), "Gradient flow",
                                   "t^2 E of the clover-shaped field strength, and by plaquettes; 0.3 at t = t0.",
                                   wide=False))
        charge = series["charge"]
        figures.append(page.figure(lambda theme: history(charge.values[:, -1], None, "configuration", "$Q$"),
                                   "Topological charge", f"Clover-shaped, at flow time {charge.axis('t')[-1]:g}.",
                                   wide=False))
    if "potential" in estimates and np.isfinite(estimates["potential"].mean).any():
        figures.append(page.figure(lambda theme: potential(estimates["potential"]), "Static potential",
                                   "ln W(r, t) / W(r, t + 1) of Wilson loops; it falls to V(r) as t grows.",
                                   wide=False))
    mesons = {name.removeprefix("meson_"): e for name, e in estimates.items() if name.startswith("meson_")}
    if mesons:
        figures.append(page.figure(lambda theme: correlators(mesons), "Correlators", "|C(t)|, t from the source; open "
                                   "symbols are negative.", wide=False))
    masses = {name.removeprefix("mass_"): e for name, e in estimates.items() if name.startswith("mass_")}
    if any(np.isfinite(e.mean).any() for e in masses.values()):
        figures.append(page.figure(lambda theme: effective_masses(masses, findings), "Effective masses",
                                   "cosh m = (C(t-1) + C(t+1)) / 2 C(t); bands are masses of fits, "
                                   "where there are any.", wide=False))
    if "pcac_mass" in estimates and np.isfinite(estimates["pcac_mass"].mean).any():
        figures.append(page.figure(lambda theme: pcac(estimates["pcac_mass"]), "PCAC mass",
                                   estimates["pcac_mass"].convention + ".", wide=False))
    return figures


def history(values: np.ndarray, average, axis: str, label: str):
    figure, axes = subplots(figsize=SIZE)
    axes.plot(np.arange(1, len(values) + 1), values, linewidth=0.8, marker="." if len(values) < 200 else "")
    if average is not None and average.supported:
        axes.axhspan(average.mean - average.error, average.mean + average.error, color="C1", alpha=0.4, linewidth=0)
        axes.axhline(average.mean, color="C1", linewidth=1)
    axes.set(xlabel=axis, ylabel=label)
    return figure


def changes(values: np.ndarray, accepted: np.ndarray):
    """Plot Delta H of trajectories; with large values, as in thermalisation, on a scale that is linear up to one."""
    figure, axes = subplots(figsize=SIZE)
    numbers, taken = np.arange(1, len(values) + 1), accepted > 0
    finite = np.isfinite(values)
    axes.plot(numbers[taken], values[taken], ".", markersize=3)
    axes.plot(numbers[~taken & finite], values[~taken & finite], "x", color="C1", markersize=4)
    if np.abs(values[finite]).max(initial=0) > 3:
        axes.set_yscale("symlog", linthresh=1)
    axes.axhline(0, color="C2", linewidth=0.8)
    axes.set(xlabel="trajectory", ylabel=r"$\Delta H$")
    return figure


def flow(findings: Findings):
    figure, axes = subplots(figsize=SIZE)
    for i, (name, label) in enumerate((("flow_energy", "clover"), ("flow_energy_plaquette", "plaquettes"))):
        energy = findings[name]
        t = energy.axes[0].values
        axes.plot(t, t**2 * energy.mean, color=f"C{2 * i}", label=label)
        if energy.supported:
            axes.fill_between(t, t**2 * (energy.mean - energy.error), t**2 * (energy.mean + energy.error),
                              color=f"C{2 * i}", alpha=0.3, linewidth=0)
    axes.axhline(0.3, color="C3", linewidth=0.8)
    if "t0" in findings.estimates:
        axes.axvline(findings["t0"].mean, color="C1", linewidth=0.8, label="$t_0$")
    axes.legend()
    axes.set(xlabel="$t / a^2$", ylabel="$t^2 E$", ylim=(0, None))
    return figure


def potential(estimate):
    r, t = (axis.values for axis in estimate.axes)
    figure, axes = subplots(figsize=SIZE)
    for i, x in enumerate(t):
        error = estimate.error[:, i] if estimate.pick(t=i).supported else None
        axes.errorbar(r + 0.06 * i, estimate.mean[:, i], error, fmt="o", markersize=4, color=f"C{i % 6}",
                      label=f"$t = {x}$")
    axes.legend()
    axes.set(xlabel="$r / a$", ylabel="$a V$")
    return figure


def correlators(mesons: dict):
    """Plot correlators on a logarithmic scale; error bars that reach zero end at a tenth of the value."""
    figure, axes = subplots(figsize=SIZE)
    for i, (name, c) in enumerate(mesons.items()):
        t, size = c.axes[0].values + 0.08 * i, np.abs(c.mean)
        error = np.stack([np.minimum(c.error, 0.9 * size), c.error]) if c.supported else np.zeros((2, len(t)))
        colour = f"C{i % 6}"
        for sign in (1, -1):
            chosen = (sign * c.mean > 0)
            if chosen.any():
                axes.errorbar(t[chosen], size[chosen], error[:, chosen], fmt="o", color=colour, markersize=4,
                              markerfacecolor=colour if sign > 0 else "none", label=name if chosen[0] else None)
    axes.legend()
    axes.set(xlabel="$t / a$", ylabel="$|C(t)|$", yscale="log")
    return figure


def pcac(mass):
    figure, axes = subplots(figsize=SIZE)
    axes.errorbar(mass.axes[0].values, mass.mean, mass.error if mass.supported else None, fmt="o")
    axes.set(xlabel="$t / a$", ylabel=r"$a\,m_{\rm PCAC}$")
    return figure


def effective_masses(masses: dict, findings: Findings):
    figure, axes = subplots(figsize=SIZE)
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
    axes.set(xlabel="$t / a$", ylabel=r"$a\,m$")
    return figure

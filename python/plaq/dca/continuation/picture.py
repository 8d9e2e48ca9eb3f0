"""Figures of spectra: the map A(k, omega) with bands, A(K, omega), the density of states, Sigma."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from plaq.data.display import Drawing
from plaq.data.estimate import Estimate
from plaq.data.figures import LIGHT, Theme, subplots, temperature_colour
from plaq.data.formatting import momentum
from plaq.dca.continuation.one_function import is_fit
from plaq.dca.continuation.spectra import SpectralPoint
from plaq.dca.units import measured, over

if TYPE_CHECKING:
    from plaq.dca.continuation.run_spectra import Spectra

VISIBLE = 5e-3  # of the integral of |A|: frequencies beyond it are not drawn
MOST_MOMENTA = 6
LINES = ("--", ":", "-.")
EQUAL = 1e-6  # of the largest value: curves that differ by less are drawn once
RESPONSES = {"chi_s": "spin", "chi_c": "charge"}


def drawings(spectra: Spectra) -> dict[str, Drawing]:
    """Return ``{name: drawing}`` of the figures that these spectra have data for."""
    cold, words = spectra.points[-1], spectra.settings
    found = {
        "spectra_map": ("A_k" in cold, lattice_map, "Spectral function along the zone",
                        f"A(k,ω) at the lowest temperature, by {words['method']}, periodisation "
                        f"{words['periodisation']}. ω is relative to μ. Markers: the highest maxima."),
        "spectra_map_orbitals": ("A_k_orbital" in cold, map_by_orbital, "Spectral function by orbital",
                                 "A_aa(k,ω) at the lowest temperature, in one scale of colours."),
        "spectra_momenta": (True, by_momentum, "Spectra of the cluster momenta",
                            "A(K,ω) at the lowest temperature. The narrow band is one standard error, the wide one "
                            "the spread of default models and regularisation; other methods are thin lines."),
        "spectra_temperature": (len(spectra.points) > 1, by_temperature, "Spectra over temperature",
                                "A(K,ω) near ω = 0 at each inequivalent momentum. A dip at ω = 0 that deepens on "
                                "cooling is a (pseudo)gap."),
        "spectra_nodes": ("A_k" in cold and "".join(cold.labels) == "ΓXMΓ", nodes, "Antinode against node",
                          "A(k,ω) over temperature where A(k,0) is largest between X and M, and between M and Γ."),
        "spectra_dos": (True, density_of_states, "Density of states",
                        "Mean of A(K,ω) over K, of one spin and all orbitals, with one standard error."),
        "spectra_orbitals": ("dos_orbital" in cold, by_orbital, "Density of states by orbital",
                             "At the lowest temperature, of one spin, with one standard error."),
        "spectra_between": ("A_matrix" in cold, between_orbitals, "Spectra between orbitals",
                            "A_ab(K,ω) at the lowest temperature, real part and, where there is one, dashed imaginary "
                            "part, with one standard error. Its integral over ω is 0."),
        "spectra_sigma": ("Sigma" in cold and np.ptp(cold.estimates["Sigma"].mean.imag) > 0, self_energy,
                          "Self-energy at real frequencies",
                          "Σ(K,ω) at the lowest temperature, with the Hartree term; of several orbitals the diagonal "
                          "elements."),
        **{f"spectra_{name}": (bool(having(spectra, f"{name}_imag")), partial(dynamic_response, name=name),
                               f"Dynamic {of} response", f"χ″(q,ω) of the {of} on the lattice at the lowest "
                               "temperature. Bands as for A(K,ω).") for name, of in RESPONSES.items()},
    }
    wide = set(found) - {"spectra_dos", "spectra_orbitals"}
    return {name: Drawing(lambda theme, draw=draw: draw(spectra, theme), title, caption, name in wide)
            for name, (present, draw, title, caption) in found.items() if present}


def lattice_map(spectra: Spectra, theme: Theme) -> Figure:
    """Draw A(k, omega) along the path, with the ridge of its highest maxima."""
    point = spectra.points[-1]
    spectral = point.estimates["A_k"].mean
    figure, axes = subplots(figsize=(7.6, 4.2))
    omega, even = evenly(point, spectral)
    image = coloured_map(axes, point, omega, even, np.quantile(even, 0.995), theme)
    ridge = omega[even.argmax(axis=1)]
    axes.plot(point.positions[::2], ridge[::2], ".", color=theme.ink, ms=2.5)
    axes.set(ylabel=over("ω", spectra.unit), title=f"T = {measured(f'{point.T:.4g}', spectra.unit)}")
    figure.colorbar(image, ax=axes, label=label(spectra.unit, "A(k,ω)"), pad=0.02)
    return figure


def map_by_orbital(spectra: Spectra, theme: Theme) -> Figure:
    """Draw A_aa(k, omega) along the path, one panel for each orbital, and spin where these differ."""
    point = spectra.points[-1]
    spectral = point.estimates["A_k_orbital"]
    by_spin = spectral.axes[0].name == "spin"
    parts = {str(name): spectral.mean[..., :, a, :] for a, name in enumerate(spectral.axes[-2].values)}
    if by_spin:
        parts = {f"{name} {spin}": part[s] for name, part in parts.items()
                 for s, spin in enumerate(spectral.axes[0].values)}
    omega, _ = evenly(point, point.estimates["A_k"].mean)
    even = dict(different((name, evenly(point, part, omega)[1]) for name, part in parts.items()))
    highest = max(np.quantile(part, 0.995) for part in even.values())
    lines = -(-len(even) // 2)
    figure, grid = subplots(lines, 2, figsize=(7.6, 0.4 + 2.7 * lines), squeeze=False)
    for axes in grid.flat[len(even):]:
        axes.set_axis_off()
    for axes, (name, part) in zip(grid.flat, even.items()):
        image = coloured_map(axes, point, omega, part, highest, theme)
        axes.set(title=name, ylabel=over("ω", spectra.unit))
    figure.colorbar(image, ax=grid, label=label(spectra.unit, "A(k,ω)"), pad=0.02)
    return figure


def evenly(point: SpectralPoint, spectral: np.ndarray, omega: np.ndarray | None = None
           ) -> tuple[np.ndarray, np.ndarray]:
    """Return evenly spaced frequencies, by default of nearly all of the spectra [k, x], and the spectra there."""
    omega = np.linspace(*shown(point, spectral), 400) if omega is None else omega
    return omega, np.array([np.interp(omega, point.omega, row) for row in spectral])


def coloured_map(axes, point: SpectralPoint, omega: np.ndarray, even: np.ndarray, highest: float, theme: Theme):
    """Draw spectra [k, x] along the path as colours, and return the image."""
    # Pixels have colours of their own, on light pages and dark ones.
    colours = LinearSegmentedColormap.from_list("map", [f"{LIGHT[0]}00", LIGHT[0], LIGHT[5]])
    image = axes.pcolormesh(point.positions, omega, even.T, cmap=colours, vmin=0, vmax=highest, shading="gouraud",
                            rasterized=True)
    axes.axhline(0, color=theme.ink, lw=0.9, ls=(0, (4, 3)))
    for tick in point.ticks:
        axes.axvline(tick, color=theme.ink, lw=0.6)
    axes.set_xticks(point.ticks, point.labels)
    axes.set(xlim=(point.positions[0], point.positions[-1]), ylim=(omega[0], omega[-1]))
    axes.grid(False)
    return image


def by_momentum(spectra: Spectra, theme: Theme) -> Figure:
    """Draw A(K, omega) at the lowest temperature, one panel for each inequivalent momentum."""
    point = spectra.points[-1]
    A = point.estimates["A"]
    return panels_with_bands(spectra, point, "A", "G", inequivalent(point), shown(point, A.mean), "A(K,ω)", "K", theme)


def dynamic_response(spectra: Spectra, theme: Theme, name: str) -> Figure:
    """Draw chi''(q, omega) at the lowest temperature that has it, one panel for each of some momenta."""
    point = having(spectra, f"{name}_imag")[-1]
    values = point.estimates[f"{name}_imag"].mean
    places = np.unique(np.linspace(0, len(values) - 1, MOST_MOMENTA).round().astype(int))
    weight = np.where(point.omega > 0, values, 0) / np.maximum(point.omega, 1e-12)
    what = {"chi_s": "χ″ₛ(q,ω)", "chi_c": "χ″_c(q,ω)"}[name]
    reach = 0, shown(point, weight)[1]
    return panels_with_bands(spectra, point, f"{name}_imag", name, places, reach, what, "q", theme)


def panels_with_bands(spectra: Spectra, point: SpectralPoint, name: str, function: str, places: np.ndarray,
                      reach: tuple[float, float], what: str, axis: str, theme: Theme) -> Figure:
    """Draw a quantity [momentum, omega] with its error, the band of variants and the other methods."""
    chosen, panels, figure = momentum_panels(places)
    values, low, high = point.estimates[name], point[f"{name}_low"], point[f"{name}_high"]
    others = [known for known in point.recorded if known.startswith(f"{name}_") and known not in (
        f"{name}_low", f"{name}_high")]
    for axes, k in zip(panels, chosen):
        axes.fill_between(point.omega, low.values[k], high.values[k], color=theme.series[0], alpha=0.18, lw=0)
        curve(axes, point.omega, values, k, theme.series[0], spectra.settings["method"], alpha=0.4)
        for i, known in enumerate(others):
            axes.plot(point.omega, point.recorded[known].values[k], LINES[i], lw=0.9, color=theme.series[1 + i],
                      label=method_label(point, known.removeprefix(f"{name}_"), function))
        axes.axvline(0, color=theme.ink, lw=0.7, ls=(0, (4, 3)))
        axes.set(xlim=reach, ylim=(0, 1.3 * values.mean[k].max()), xlabel=over("ω", spectra.unit),
                 ylabel=label(spectra.unit, what), title=f"{axis} = {momentum(values.axes[0].values[k])}")
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=3, loc="outside upper left")
    return figure


def curve(axes, omega: np.ndarray, values: Estimate, at: int, colour: str, name: str, alpha: float = 0.25) -> None:
    """Draw one row of an estimate [row, omega] with its error."""
    mean, error = values.mean[at], values.error[at]
    axes.fill_between(omega, mean - error, mean + error, color=colour, alpha=alpha, lw=0)
    axes.plot(omega, mean, color=colour, label=name)


def over_temperature(spectra: Spectra, axes, name: str, place: Callable[[SpectralPoint], int], reach: float, what: str,
                     title: str, theme: Theme) -> None:
    """Draw one row of a spectrum [row, omega] near 0 for all temperatures."""
    for colour, point in coloured(spectra):
        curve(axes, point.omega, point.estimates[name], place(point), colour, f"{point.T:.4g}")
    axes.axvline(0, color=theme.ink, lw=0.7, ls=(0, (4, 3)))
    axes.set(xlim=(-reach, reach), ylim=(0, None), xlabel=over("ω", spectra.unit), ylabel=label(spectra.unit, what),
             title=title)


def by_temperature(spectra: Spectra, theme: Theme) -> Figure:
    """Draw A(K, omega) near 0 for all temperatures, one panel for each inequivalent momentum."""
    cold = spectra.points[-1]
    chosen, panels, figure = momentum_panels(inequivalent(cold))
    reach = 0.5 * max(map(abs, shown(cold, cold.estimates["A"].mean)))
    for axes, k in zip(panels, chosen):
        title = f"K = {momentum(cold.estimates['A'].axes[0].values[k])}"
        over_temperature(spectra, axes, "A", lambda point, k=k: k, reach, "A(K,ω)", title, theme)
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=8, loc="outside upper left",
                  title=over("T", spectra.unit))
    return figure


def density_of_states(spectra: Spectra, theme: Theme) -> Figure:
    """Draw the density of states, one curve for each temperature."""
    figure, axes = subplots(figsize=(5.2, 3.5))
    for colour, point in coloured(spectra):
        dos = point.estimates["dos"]
        axes.fill_between(point.omega, dos.mean - dos.error, dos.mean + dos.error, color=colour, alpha=0.25, lw=0)
        axes.plot(point.omega, dos.mean, color=colour, label=f"{point.T:.4g}")
    axes.axvline(0, color=theme.ink, lw=0.7, ls=(0, (4, 3)))
    cold = spectra.points[-1]
    axes.set(xlim=shown(cold, cold.estimates["dos"].mean[None]), ylim=(0, None), xlabel=over("ω", spectra.unit),
             ylabel=label(spectra.unit, "density of states"))
    axes.legend(title=over("T", spectra.unit), ncols=2)
    return figure


def by_orbital(spectra: Spectra, theme: Theme) -> Figure:
    """Draw the density of states of each orbital, and spin where these differ, at the lowest temperature."""
    point = spectra.points[-1]
    dos = point.estimates["dos_orbital"]
    figure, axes = subplots(figsize=(5.2, 3.5))
    name = lambda at: " ".join(str(axis.values[j]) for axis, j in zip(dos.axes, at))
    rows = different((name(at), np.array([dos.mean[at], dos.error[at]])) for at in np.ndindex(dos.mean.shape[:-1]))
    for i, (names, (mean, error)) in enumerate(rows):
        colour = theme.series[i % len(theme.series)]
        axes.fill_between(point.omega, mean - error, mean + error, color=colour, alpha=0.25, lw=0)
        axes.plot(point.omega, mean, color=colour, ls=("-", *LINES)[i % 4], label=names)
    axes.axvline(0, color=theme.ink, lw=0.7, ls=(0, (4, 3)))
    axes.set(xlim=shown(point, dos.mean.reshape(-1, len(point.omega))), ylim=(0, None), xlabel=over("ω", spectra.unit),
             ylabel=label(spectra.unit, "density of states"))
    axes.legend(title="orbital")
    return figure


def between_orbitals(spectra: Spectra, theme: Theme) -> Figure:
    """Draw A_ab(K, omega) of pairs of orbitals at the lowest temperature, one panel for each inequivalent momentum."""
    point = spectra.points[-1]
    A = point.estimates["A_matrix"]
    spins = A.axes[0].values if A.axes[0].name == "spin" else [""]
    orbitals = A.axes[-2].values
    shape = (len(spins), len(momenta_of(A)), *[len(orbitals)] * 2, -1)
    mean, error = A.mean.reshape(shape), A.error.reshape(shape)
    pairs = [(s, a, b) for s in range(len(spins)) for a, b in itertools.combinations(range(len(orbitals)), 2)
             if mean[s, :, a, b].any()]
    name = lambda s, a, b: " ".join(filter(None, (f"{orbitals[a]}–{orbitals[b]}", str(spins[s]))))
    chosen, panels, figure = momentum_panels(inequivalent(point))
    for axes, k in zip(panels, chosen):
        rows = different((name(*at), np.array([mean[at[0], k, at[1], at[2]], error[at[0], k, at[1], at[2]]]))
                         for at in pairs)
        for i, (names, (value, bar)) in enumerate(rows):
            colour = theme.series[i % len(theme.series)]
            for part, line in (("real", "-"), ("imag", "--")):
                curve, width = getattr(value, part), getattr(bar, part)
                if part == "imag" and not np.abs(curve).max() > EQUAL * np.abs(value).max():
                    continue
                axes.fill_between(point.omega, curve - width, curve + width, color=colour, alpha=0.25, lw=0)
                axes.plot(point.omega, curve, color=colour, ls=line, label=names if part == "real" else None)
        axes.axvline(0, color=theme.ink, lw=0.7, ls=(0, (4, 3)))
        axes.set(xlim=shown(point, point.estimates["A"].mean), xlabel=over("ω", spectra.unit),
                 ylabel=label(spectra.unit, "A_ab(K,ω)"), title=f"K = {momentum(momenta_of(A)[k])}")
        axes.legend(title="orbitals")
    return figure


def different(rows: Iterable[tuple[str, np.ndarray]]) -> list[tuple[str, np.ndarray]]:
    """Return (name, values) of the rows, equal ones once, with all their names."""
    found: list[tuple[str, np.ndarray]] = []
    for name, values in rows:
        scale = EQUAL * np.abs(values).max()
        at = next((i for i, (_, other) in enumerate(found) if np.abs(values - other).max() <= scale), None)
        if at is None:
            found.append((name, values))
        else:
            found[at] = (f"{found[at][0]}, {name}", found[at][1])
    return found


def self_energy(spectra: Spectra, theme: Theme) -> Figure:
    """Draw real and imaginary part of Sigma at the lowest temperature, one line of panels for each orbital."""
    point = spectra.points[-1]
    sigma = point.estimates["Sigma"]
    rows = different((name, np.array([mean, error])) for name, mean, error in diagonal_rows(sigma))
    figure, grid = subplots(len(rows), 2, figsize=(7.6, 0.4 + 3.1 * len(rows)), squeeze=False)
    for (orbital, (mean, error)), panels in zip(rows, grid):
        for part, axes in zip(("real", "imag"), panels):
            for i, k in enumerate(inequivalent(point)[:MOST_MOMENTA]):
                value, bar = getattr(mean[k], part), getattr(error[k], part)
                colour = theme.series[i % len(theme.series)]
                axes.fill_between(point.omega, value - bar, value + bar, color=colour, alpha=0.25, lw=0)
                axes.plot(point.omega, value, color=colour, label=momentum(momenta_of(sigma)[k]))
            axes.axvline(0, color=theme.ink, lw=0.7, ls=(0, (4, 3)))
            axes.set(xlabel=over("ω", spectra.unit), xlim=shown(point, -mean.imag), title=orbital,
                     ylabel=over(f"{'Re' if part == 'real' else 'Im'} Σ(K,ω)", spectra.unit))
    grid[0, 1].legend(title="K")
    figure.suptitle(f"T = {measured(f'{point.T:.4g}', spectra.unit)}", x=0.01, ha="left", fontsize=10)
    return figure


def diagonal_rows(sigma: Estimate) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Return (orbital and spin in words, mean [K, x], error [K, x]) of the diagonal elements that are not constant."""
    names = [axis.name for axis in sigma.axes]
    spins = sigma.axes[0].values if "spin" in names else [""]
    orbitals = sigma.axes[-2].values if "orbital" in names else [""]
    shape = (len(spins), len(momenta_of(sigma)), *[len(orbitals)] * 2, -1)
    mean, error = sigma.mean.reshape(shape), sigma.error.reshape(shape)
    rows = [(" ".join(filter(None, (str(orbital), str(spin)))), mean[s, :, a, a], error[s, :, a, a])
            for a, orbital in enumerate(orbitals) for s, spin in enumerate(spins)]
    return [row for row in rows if np.ptp(row[1].imag) > 0]


def momenta_of(sigma: Estimate) -> np.ndarray:
    return next(axis.values for axis in sigma.axes if axis.name == "K")


def nodes(spectra: Spectra, theme: Theme) -> Figure:
    """Draw A(k, omega) over T where the Fermi surface crosses the path: after X (antinode), before Γ (node)."""
    figure, panels = subplots(1, 2, figsize=(7.6, 3.5))
    reach = 0.4 * max(map(abs, shown(spectra.points[-1], spectra.points[-1].estimates["A"].mean)))
    for axes, (name, corner) in zip(panels, (("antinode", "XM"), ("node", "MΓ"))):
        cold = spectra.points[-1]
        kx, ky = cold.estimates["A_k"].axes[0].values[crossing(cold, corner)] / np.pi
        over_temperature(spectra, axes, "A_k", lambda point, corner=corner: crossing(point, corner), reach, "A(k,ω)",
                         f"{name}: k = ({kx:.2f}π,{ky:.2f}π)", theme)
    figure.legend(*panels[0].get_legend_handles_labels(), ncols=8, loc="outside upper left",
                  title=over("T", spectra.unit))
    return figure


def crossing(point: SpectralPoint, ends: str) -> int:
    """Return the index of the point of the largest A(k, 0) between two corners of the path."""
    at = next(i for i in range(len(point.labels) - 1) if point.labels[i] + point.labels[i + 1] == ends)
    first, last = np.searchsorted(point.positions, point.ticks[[at, at + 1]] - 1e-9)
    middle = len(point.omega) // 2
    return int(first + np.argmax(point.estimates["A_k"].mean[first : last + 1, middle]))


def having(spectra: Spectra, name: str) -> list[SpectralPoint]:
    """Return the points that have a quantity, from hot to cold."""
    return [point for point in spectra.points if name in point]


def method_label(point: SpectralPoint, method: str, function: str) -> str:
    """Return the name of a method, and whether some of its spectra of a function do not fit."""
    rows = [row for row in point.fits if row["method"] == method and row["function"].split()[0] == function]
    return method if all(is_fit(row["chi2"], row["data"]) for row in rows) else f"{method} (does not fit)"


def momentum_panels(places: np.ndarray):
    """Return indices of the first momenta, a panel for each, and the figure."""
    chosen = places[:MOST_MOMENTA]
    columns = min(3, len(chosen))
    lines = -(-len(chosen) // columns)
    figure, grid = subplots(lines, columns, figsize=(7.6, 0.6 + 2.5 * lines), squeeze=False)
    for axes in grid.flat[len(chosen):]:
        axes.set_axis_off()
    return chosen, list(grid.flat[:len(chosen)]), figure


def inequivalent(point: SpectralPoint) -> np.ndarray:
    return np.unique(point.representatives)


def shown(point: SpectralPoint, values: np.ndarray) -> tuple[float, float]:
    """Return the frequencies between which nearly all of the spectra [row, x] lies, with a margin."""
    weight = np.cumsum(np.abs(values) * np.gradient(point.omega), axis=1)
    weight /= np.maximum(weight[:, -1:], 1e-300)
    low = min(point.omega[np.argmax(row > VISIBLE)] for row in weight)
    high = max(point.omega[np.argmax(row > 1 - VISIBLE)] for row in weight)
    margin = 0.08 * (high - low)
    return low - margin, high + margin


def coloured(spectra: Spectra) -> list[tuple[str, SpectralPoint]]:
    """Return (colour, point) from hot to cold."""
    last = max(1, len(spectra.points) - 1)
    return [(temperature_colour(1 - i / last), point) for i, point in enumerate(spectra.points)]


def label(unit: str, name: str) -> str:
    """Return the label of an axis of spectra, whose unit is that of 1/energy."""
    return measured(f"{name} ·", unit) if unit else name

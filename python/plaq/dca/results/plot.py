"""The figures of a run: each a function of the results that draws with a theme."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from plaq.data.display import Drawing, estimate_drawing, save
from plaq.data.estimate import Estimate, with_error
from plaq.data.figures import Theme, subplots, temperature_colour
from plaq.data.formatting import momentum
from plaq.dca.physics.point import Point
from plaq.dca.physics.response import inequivalent
from plaq.dca.results.order_figure import order_drawings
from plaq.dca.results.response_figures import response_drawings
from plaq.dca.results.results import Results
from plaq.dca.units import measured, over
from plaq.trace.session import region

SIZE, WIDE = (5.2, 3.5), (7.6, 4.0)
MARKERS = "osD^vP"
WIDE_FIGURES = {"lambda_d", "instabilities", "susceptibilities", "self_energy", "thermodynamics", "orbitals", "time"}
MOST_PANELS = 6  # rows of a figure of orbitals
OVERVIEW = ("order_parameter", "lambda_d", "density", "energy", "double_occupancy", "sign", "expansion_order")


def drawings(results: Results) -> dict[str, Drawing]:
    """Return ``{name: drawing}`` of the figures that these results have data for."""
    any_has = lambda name: any(name in point for point in results.points)  # noqa: E731
    chosen = {
        "lambda_d": (any_has(results.pairing), pairing, "Pairing eigenvalue and T_c",
                     f"Leading {results.pairing.removeprefix('lambda_')}-wave eigenvalue of the Bethe-Salpeter "
                     "equation; superconductivity sets in where it reaches 1. Bars and band are one standard error."),
        "instabilities": (any(not order.is_pairing for order in results.instabilities()), instabilities,
                          "Eigenvalues of the other channels",
                          "Leading eigenvalues of spin, charge and finite-momentum pairing; "
                          "order sets in where one of them reaches 1. For spins in two dimensions it marks "
                          "correlations as long as the cluster."),
        "susceptibilities": (any_has("spin_susceptibility"), susceptibilities, "Spin and charge susceptibility",
                             "Static, of the cluster in its bath, at the inequivalent momenta."),
        "self_energy": (any_has("Sigma"), self_energy, "Self-energy",
                        "Σ(K,iω) at the lowest temperature, at the inequivalent momenta."),
        "expansion_order": (any_has("order_histogram"), order_histogram, "Expansion order",
                            "Probability of k vertices in a configuration, by temperature."),
        "sign": (any_has("sign"), sign, "Average sign", "The cost of a run grows as 1/sign²."),
        "autocorrelation": (any(e.tau_int is not None for p in results.points for e in p.observables.values()),
                            autocorrelation, "Autocorrelation",
                            "Integrated autocorrelation time in measurements; 0.5 is none. Bins must be longer."),
        "convergence": (any(record.get("change") == record.get("change") and record.get("change") is not None
                            for p in results.points for record in p.history),
                        convergence, "Convergence",
                        "Change of Σ from one iteration to the next, in its own standard errors."),
        "thermodynamics": (any_has("energy"), thermodynamics, "Energy and double occupancy",
                           f"Per {'cell' if any_has('density_orbital') else 'site'}, against temperature."),
        "orbitals": (any_has("density_orbital"), by_orbital, "Electrons by orbital",
                     "Of both spins, and with a field ⟨S^z⟩, against temperature."),
        "frequency_window": (any_has("lambda_window"), frequency_window, "Frequency window",
                             "λ_d against the number of positive frequencies kept, relative to all of them."),
        "gap": (any_has(results.pairing), gap, "Gap function",
                "Eigenvector of pairing at the lowest temperature. A d-wave gap changes sign between (π,0) and (0,π)."),
        "time": (any(point.seconds for point in results.points), time_spent, "Time by part",
                 "Seconds by temperature."),
    }
    drawn = {name: Drawing(lambda theme, draw=draw: draw(results, theme), title, caption, name in WIDE_FIGURES)
             for name, (present, draw, title, caption) in chosen.items() if present}
    drawn = order_drawings(results) | drawn | response_drawings(results)
    found = results.thermodynamics
    if found.estimates:
        drawn["entropy"] = found.drawing()
    return drawn


def drawing(results: Results, name: str | None) -> Drawing:
    """Return a figure of `drawings`, of an observable, or an overview; KeyError with all names if there is none.

    An observable that is a number is drawn against temperature, an array at the lowest temperature.
    """
    if name is None:
        return Drawing(lambda theme: overview(results, theme), "Overview")
    found = drawings(results)
    if name in found:
        return found[name]
    observables = dict.fromkeys(known for point in results.points for known in point.observables)
    if name not in observables:
        known = ", ".join(dict.fromkeys([*found, *observables]))
        raise KeyError(f"no figure or observable {name!r}; there are {known}")
    if (cold := lowest(results, name))[name].mean.ndim:
        return estimate_drawing(cold[name])
    return Drawing(lambda theme: observable(results, name, theme), words(name))


@region("figures")
def draw_figures(folder: Path, results: Results, more: Mapping[str, Drawing] = {}) -> list[Path]:
    """Draw every figure of these results, and ``more``, into ``figures/`` in a folder; return the paths."""
    return save({**drawings(results), **more}, folder)


def overview(results: Results, theme: Theme) -> Figure:
    """Draw the main numbers against temperature, a panel for each."""
    names = [name for name in OVERVIEW if any(name in point for point in results.points)]
    columns = min(3, max(1, len(names)))
    figure, grid = subplots(-(-max(1, len(names)) // columns), columns, squeeze=False,
                            figsize=(3.4 * columns, 2.6 * -(-max(1, len(names)) // columns)))
    for i, axes in enumerate(grid.flat):
        if i < len(names):
            draw_series(axes, results, names[i], theme.series[i % len(theme.series)])
        else:
            axes.set_axis_off()
    return figure


def observable(results: Results, name: str, theme: Theme) -> Figure:
    """Draw a number against temperature."""
    figure, axes = subplots(figsize=SIZE)
    draw_series(axes, results, name, theme.series[0])
    return figure


def draw_series(axes, results: Results, name: str, colour: str) -> None:
    T, value, error = results.series(name)
    axes.errorbar(T, value.real, np.where(np.isfinite(error.real), error.real, 0), fmt="o-", color=colour)
    log_temperature(axes, T, results.unit)
    axes.set_ylabel(over(words(name), next(point[name].unit for point in results.points if name in point)))
    if name.startswith("lambda_"):
        axes.axhline(1.0, color=axes.xaxis.label.get_color(), lw=0.9, ls=(0, (4, 3)))


def pairing(results: Results, theme: Theme) -> Figure:
    """Draw λ(T) of pairing with the fit, its crossing of 1 and the error band of T_c."""
    figure, axes = subplots(figsize=WIDE)
    T, value, error = results.series(results.pairing)
    irrep = results.pairing.removeprefix("lambda_")
    transition = results.transition
    axes.axhline(1.0, color=theme.ink, lw=0.9, ls=(0, (4, 3)))
    if transition is not None and transition.parameters is not None:
        fine = np.linspace(min(T.min(), transition.value or T.min()) * 0.985, T.max() * 1.015, 300)
        axes.plot(fine, transition.curve(fine), color=theme.series[0], label=r"$p_0/(T-p_1)^{p_2}$")
    if transition is not None and transition.value is not None:
        if np.isfinite(transition.error):
            low, high = transition.value - transition.error, transition.value + transition.error
            axes.axvspan(low, high, color=theme.series[1], alpha=0.25, lw=0)
        label = f"$T_c$ = {measured(with_error(transition.value, transition.error), results.unit)}"
        axes.axvline(transition.value, color=theme.series[1], label=label)
    finite = np.where(np.isfinite(error), error, 0)
    axes.errorbar(T, value, finite, fmt="o", color=theme.series[0], label=math(f"λ_{irrep}"), zorder=3)
    axes.set(xlabel=over("temperature T", results.unit), ylabel=f"leading {irrep}-wave eigenvalue {math(f'λ_{irrep}')}")
    if len(axes.get_legend_handles_labels()[0]) > 1:  # the label of the axis names points alone
        figure.legend(ncols=3, loc="outside upper left")
    return figure


def instabilities(results: Results, theme: Theme) -> Figure:
    """Draw the eigenvalues of all other channels against T, and their crossings of 1."""
    figure, axes = subplots(figsize=WIDE)
    axes.axhline(1.0, color=theme.ink, lw=0.9, ls=(0, (4, 3)))
    orders = [order for order in results.instabilities() if not order.is_pairing]
    transfers = list(dict.fromkeys(order.q for order in orders))
    series = list(dict.fromkeys((order.channel, order.irrep) for order in orders))
    for order in orders:
        T, value, error = results.series(order.observable)
        colour = theme.series[series.index((order.channel, order.irrep)) % len(theme.series)]
        axes.errorbar(T, value, np.where(np.isfinite(error), error, 0),
                      fmt=MARKERS[transfers.index(order.q) % 6] + "-",
                      color=colour, label=order.label.replace("λ_", ""))
        found = order.transition
        if found is not None and found.value is not None:
            known = measured(with_error(found.value, found.error), results.unit)
            label = f"{math(order.symbol)} = {known}"
            axes.axvline(found.value, color=colour, lw=0.9, ls=":", label=label)
    log_temperature(axes, [p.T for p in results.points if any(order.observable in p for order in orders)], results.unit)
    axes.set(ylabel="leading eigenvalue")
    figure.legend(ncols=4, loc="outside upper left")
    return figure


def susceptibilities(results: Results, theme: Theme) -> Figure:
    """Draw spin and charge susceptibilities against T, one curve per momentum."""
    figure, panels = subplots(1, 2, figsize=(7.6, 3.3))
    for axes, name in zip(panels, ("spin_susceptibility", "charge_susceptibility")):
        points = sorted((p for p in results.points if name in p), key=lambda point: point.T)
        K = points[0][name].axes[0].values
        for i, k in enumerate(inequivalent(points[0])):
            value, error = (np.array([getattr(p[name], part)[k] for p in points]) for part in ("mean", "error"))
            axes.errorbar([p.T for p in points], value, np.where(np.isfinite(error), error, 0), ls="-",
                          label=momentum(K[k]), **look(theme, i))
        log_temperature(axes, [p.T for p in points], results.unit)
        axes.set(ylabel=" · ".join(filter(None, (words(name), results.unit))))
    legend_of_momenta(figure, panels[0], "q")
    return figure


def self_energy(results: Results, theme: Theme) -> Figure:
    """Draw the real part without its constant, and the imaginary part, at the lowest temperature.

    With orbitals or two spins each diagonal element has panels of its own.
    """
    point = lowest(results, "Sigma")
    parts = diagonal_elements(point)
    figure, grid = subplots(len(parts), 2, figsize=(7.6, 3.5 if len(parts) == 1 else 2.4 * len(parts)), squeeze=False)
    for (left, right), (name, sigma, constant) in zip(grid, parts):
        K, w = sigma.axes[0].values, sigma.axes[1].values
        shown = w <= max(12.0, w[:4].max())
        real = (sigma.mean.T - constant).T.real
        for i, k in enumerate(inequivalent(point)):
            left.errorbar(w[shown], real[k, shown], sigma.error[k, shown].real, label=momentum(K[k]), **look(theme, i))
            right.errorbar(w[shown], sigma.mean[k, shown].imag, sigma.error[k, shown].imag, **look(theme, i))
        left.set(ylabel=over(rf"Re $\Sigma$ {name}− " + ("Hartree" if len(parts) == 1 else "constant"), results.unit))
        right.set(ylabel=over(rf"Im $\Sigma$ {name}".rstrip(), results.unit))
    for axes in grid[-1]:
        axes.set(xlabel=over(r"$\omega_n$", results.unit))
    figure.suptitle(f"T = {measured(f'{point.T:.4g}', results.unit)}", x=0.01, ha="left", fontsize=10)
    legend_of_momenta(figure, grid[0, 0], "K")
    return figure


def diagonal_elements(point: Point) -> list[tuple[str, Estimate, np.ndarray | float]]:
    """Return (name, Sigma [K, w], its constant [K]) of the diagonal elements in spin and orbital, at most six."""
    sigma = point["Sigma"]
    constant = point["Sigma_infinity"] if "Sigma_infinity" in point else None
    inner = [axis for axis in sigma.axes if axis.name in ("spin", "orbital")]
    parts = []
    for places in itertools.product(*(range(axis.size) for axis in inner)):
        at = dict(zip((axis.name for axis in inner), places)) if inner else {}
        at |= {"orbital'": at["orbital"]} if "orbital" in at else {}
        name = " ".join(str(axis.values[i]) for axis, i in zip(inner, places))
        parts.append((f"{name} " if name else "", sigma.pick(**at) if at else sigma,
                      0.0 if constant is None else (constant.pick(**at) if at else constant).mean.real))
    return parts[:MOST_PANELS]


def order_histogram(results: Results, theme: Theme) -> Figure:
    """Draw the probability of k vertices, one curve per temperature."""
    figure, axes = subplots(figsize=SIZE)
    for colour, point in coloured(results, "order_histogram"):
        histogram = point["order_histogram"]
        k = histogram.axes[0].values if histogram.axes else np.arange(len(histogram.mean))
        used = histogram.mean > 1e-4 * histogram.mean.max()
        axes.plot(k[used], histogram.mean[used] / histogram.mean.sum(), color=colour, label=f"{point.T:.4g}",
                  marker="o" if np.count_nonzero(used) == 1 else "")  # without interaction there is k = 0 only
    axes.set(xlabel="expansion order k", ylabel="probability", ylim=(0, None))
    axes.legend(title=over("T", results.unit), ncols=2)
    return figure


def sign(results: Results, theme: Theme) -> Figure:
    figure, axes = subplots(figsize=SIZE)
    T, value, error = results.series("sign")
    axes.errorbar(T, value, np.where(np.isfinite(error), error, 0), fmt="o-", color=theme.series[0])
    log_temperature(axes, T, results.unit)
    axes.set(ylabel="average sign", ylim=(min(0.0, value.min()), 1.05))
    return figure


def autocorrelation(results: Results, theme: Theme) -> Figure:
    figure, axes = subplots(figsize=SIZE)
    everything = [item for point in results.points for item in point.observables.items()]
    names = dict.fromkeys(name for name, estimate in everything if estimate.tau_int is not None)
    for i, name in enumerate(names):
        rows = [(p.T, p[name].tau_int) for p in results.points if name in p and p[name].tau_int is not None]
        colour = theme.series[i % len(theme.series)]
        axes.plot(*zip(*rows), marker=MARKERS[i % 6], color=colour, label=words(name))
    log_temperature(axes, [p.T for p in results.points], results.unit)
    axes.set(ylabel=r"$\tau_{\rm int}$ / measurements", ylim=(0, None))
    axes.legend()
    return figure


def convergence(results: Results, theme: Theme) -> Figure:
    figure, axes = subplots(figsize=SIZE)
    for colour, point in coloured(results):
        rows = [(r["iteration"], r["change"] / r["change_error"]) for r in point.history
                if r.get("change") is not None and r.get("change_error")]
        rows = [(x, y) for x, y in rows if np.isfinite(y) and y > 0]
        if rows:
            axes.plot(*zip(*rows), marker="o", color=colour, label=f"{point.T:.4g}")
    axes.axhline(1.0, color=theme.ink, lw=0.9, ls=(0, (4, 3)))
    axes.set(xlabel="iteration", ylabel=r"change of $\Sigma$ / standard error", yscale="log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if axes.get_legend_handles_labels()[0]:  # without interaction nothing ever changes
        axes.legend(title=over("T", results.unit), ncols=2)
    return figure


def thermodynamics(results: Results, theme: Theme) -> Figure:
    shown = [name for name in ("energy", "double_occupancy") if any(name in point for point in results.points)]
    figure, axes = subplots(1, len(shown), figsize=(7.6, 3.3), squeeze=False)
    for i, (axis, name) in enumerate(zip(axes[0], shown)):
        T, value, error = results.series(name)
        axis.errorbar(T, value, np.where(np.isfinite(error), error, 0), fmt="o-", color=theme.series[i])
        log_temperature(axis, T, results.unit)
        axis.set(ylabel=over(words(name), results.unit if name == "energy" else ""))
    return figure


def by_orbital(results: Results, theme: Theme) -> Figure:
    """Draw electrons and, where spins differ, magnetisation of each orbital against T."""
    names = [name for name in ("density_orbital", "magnetisation_orbital") if any(name in p for p in results.points)]
    figure, axes = subplots(1, len(names), figsize=(7.6, 3.3), squeeze=False)
    for axis, name in zip(axes[0], names):
        T, value, error = results.series(name)
        for i, orbital in enumerate(lowest(results, name)[name].axes[0].values):
            bar = np.where(np.isfinite(error[:, i]), error[:, i], 0)
            axis.errorbar(T, value[:, i], bar, ls="-", label=str(orbital), **look(theme, i))
        log_temperature(axis, T, results.unit)
        axis.set_ylabel({"density_orbital": "electrons", "magnetisation_orbital": r"$\langle S^z\rangle$"}[name])
    axes[0, 0].legend(title="orbital")
    return figure


def frequency_window(results: Results, theme: Theme) -> Figure:
    figure, axes = subplots(figsize=SIZE)
    for colour, point in coloured(results, "lambda_window"):
        estimate = point["lambda_window"]
        n = estimate.axes[0].values if estimate.axes else 1 + np.arange(len(estimate.mean))
        change = 100 * (estimate.mean / estimate.mean[-1] - 1)
        axes.plot(n, change, marker="o", color=colour, label=f"{point.T:.4g}")
    axes.axhline(0.0, color=theme.ink, lw=0.9, ls=(0, (4, 3)))
    axes.set(xlabel="positive frequencies kept", ylabel=r"$\lambda_d(n)\,/\,\lambda_d - 1$ in %")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(title=over("T", results.unit))
    return figure


def gap(results: Results, theme: Theme) -> Figure:
    irrep = results.pairing.removeprefix("lambda_")
    point = lowest(results, f"eigenvector_{irrep}")
    vector = point[f"eigenvector_{irrep}"]
    positive = vector.axes[-1].values > 0
    w, values = vector.axes[-1].values[positive], vector.mean[..., positive]
    figure, axes = subplots(figsize=SIZE)
    for i, flat in enumerate(np.argsort(-np.abs(values[..., 0]), axis=None)[:6]):
        at = np.unravel_index(flat, values.shape[:-1])
        names = [str(axis.values[j]) for axis, j in zip(vector.axes[1:-1], at[1:])]
        label = " ".join([momentum(vector.axes[0].values[at[0]]), *names])
        axes.plot(w, values[at].real, marker=MARKERS[i], color=theme.series[i], label=label)
    axes.set(xlabel=over(r"$\omega_n$", results.unit), ylabel=math(f"φ_{irrep}") + r"$(K, i\omega_n)$",
             title=f"T = {measured(f'{point.T:.4g}', results.unit)}")
    axes.legend(title="K")
    return figure


def time_spent(results: Results, theme: Theme) -> Figure:
    parts = list(dict.fromkeys(part for p in results.points for part in p.seconds))
    figure, axes = subplots(figsize=(7.6, 0.9 + 0.32 * len(results.points)))
    rows, left = np.arange(len(results.points)), np.zeros(len(results.points))
    for i, part in enumerate(parts):
        seconds = np.array([p.seconds.get(part, 0.0) for p in results.points])
        axes.barh(rows, seconds, left=left, height=0.7, color=theme.series[i % len(theme.series)],
                  alpha=1.0 if i < len(theme.series) else 0.5, label=words(part))
        left += seconds
    axes.set(xlabel="time / s", ylabel=over("T", results.unit))
    axes.set_yticks(rows, [f"{p.T:.4g}" for p in results.points])
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    figure.legend(ncols=5, loc="outside upper left")
    return figure


def lowest(results: Results, name: str) -> Point:
    """Return the coldest point that has an observable."""
    return min((point for point in results.points if name in point), key=lambda point: point.T)


def coloured(results: Results, name: str | None = None) -> list[tuple[str, Point]]:
    """Return (colour, point) from hot to cold, of the points that have an observable."""
    points = [point for point in results.points if name is None or name in point]
    order = sorted(points, key=lambda point: -point.T)
    return [(temperature_colour(1 - i / max(1, len(order) - 1)), point) for i, point in enumerate(order)]


def look(theme: Theme, i: int) -> dict[str, str]:
    """Return colour and marker of curve i, another pair for each of 36."""
    colours = len(theme.series)
    return {"color": theme.series[i % colours], "marker": MARKERS[(i + i // colours) % len(MARKERS)]}


def legend_of_momenta(figure: Figure, axes, title: str) -> None:
    """Draw the legend among the curves, or beside the figure where there are many."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) <= len(MARKERS):
        axes.legend(title=title)
    else:
        figure.legend(handles, labels, title=title, loc="outside right upper", ncols=-(-len(labels) // 16))


def log_temperature(axes, T, unit: str) -> None:
    """Set a logarithmic axis of temperatures."""
    log_axis(axes, "x", T)
    axes.set_xlabel(over("temperature T", unit))


def log_axis(axes, name: str, T) -> None:
    """Set the axis x or y logarithmic, with ticks at 1, 2 and 5 times the powers of ten, at least two of them."""
    low, high = min(T) / 1.1, max(T) * 1.1
    ticks = [m * 10.0**e for e in range(-6, 7) for m in (1, 2, 5) if low <= m * 10.0**e <= high]
    if len(ticks) < 2:
        ticks = sorted(set(T)) if len(set(T)) <= 6 else sorted({min(T), max(T)})
    axes.set(**{f"{name}scale": "log", f"{name}lim": (low, high)})
    getattr(axes, f"set_{name}ticks")(ticks, [f"{t:.3g}" for t in ticks])
    axes.minorticks_off()


def math(symbol: str) -> str:
    """Return T_N and λ_d with a true index."""
    head, _, index = symbol.partition("_")
    head, index = head.replace("λ", r"\lambda").replace("φ", r"\phi"), index.replace("_", r"\ ")
    return f"${head}_{{\\rm {index}}}$" if index else symbol


def words(name: str) -> str:
    return name.replace("_", " ")

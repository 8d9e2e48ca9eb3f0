"""Power balance of species: what fields give them, and what sides, gases and their own energy take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from plaq.data.display import Drawing
from plaq.data.figures import subplots
from plaq.data.plots import label
from plaq.pic.results.results import Results

UNIT = "W m_e c² ω_p"


class Balance(NamedTuple):
    """Mean powers of a species in W m_e c² ω_p: of its stored energy, of sides, and of processes in gases by name."""

    stored: float
    sides: float
    processes: dict[str, float]

    @property
    def from_field(self) -> float:
        """Power that follows from the others: the field's."""
        return self.stored + self.sides + sum(self.processes.values())


def span(results: Results) -> tuple[float, float]:
    """Return the time of the balance: that of the mean of J E, else the second half of the run."""
    times = results.time
    windows = [results.history.get("windows", {}).get(name) for name in power_means(results)]
    return windows[0] if windows and windows[0] is not None else (float(times[-1]) / 2, float(times[-1]))


def power_means(results: Results) -> list[str]:
    return [name for name, record in results.recorded.items()
            if name.startswith("mean_") and record.convention.startswith("power, J E")]


def balances(results: Results) -> dict[str, Balance]:
    """Return the balance of each species that sides or gases take energy from, over `span`."""
    recorded, (begin, end) = results.recorded, span(results)
    times = results.time
    chosen = (times > begin * (1 + 1e-9)) & (times <= end * (1 + 1e-9))
    if chosen.sum() < 2:
        return {}
    first, last = np.flatnonzero(chosen)[[0, -1]]
    length = float(times[last] - (times[first - 1] if first else 0.0))
    of = lambda name: float(recorded[name].values[chosen].sum()) / length if name in recorded else 0.0
    found = {}
    for species in results.history.get("charges", {}):
        kinetic = recorded[f"{species}.kinetic"].values
        processes: dict[str, float] = {}
        for scattering, projectile in results.history.get("scatterings", {}).items():
            prefix = f"{scattering}.count_energy_"
            for name in recorded:
                if projectile == species and name.startswith(prefix):
                    processes[name.removeprefix(prefix)] = of(name)
        sides = of(f"{species}.left_energy") + of(f"{species}.absorbed_energy") - of(f"{species}.emitted_energy")
        if sides or any(processes.values()):
            found[species] = Balance(float(kinetic[last] - kinetic[max(first - 1, 0)]) / length, sides, processes)
    return found


def mean_power(results: Results) -> float | None:
    """Return the mean of ∫ J E over the box, in W m_e c² ω_p; None where no mean of the input records it."""
    for name in power_means(results):
        record, volume = results.recorded[name], 1.0
        for axis in record.axes[1:]:
            places = axis.at(-1)
            volume *= places[1] - places[0] if len(places) > 1 else 1.0
        return float(record.values.mean(axis=0).sum()) * float(volume)
    return None


def power_drawing(results: Results) -> Drawing | None:
    """Return the figure of the balance with its sums in words, None without losses."""
    found = balances(results)
    if not found:
        return None
    begin, end = span(results)
    total = sum(balance.from_field for balance in found.values())
    words = (f"Means from t = {begin:.4g} to {end:.4g}. By their energies and losses the field gives "
             + " and ".join(f"{balance.from_field:.4g} to {species}" for species, balance in found.items())
             + f", in {UNIT}.")
    if (measured := mean_power(results)) is not None and total:
        words += (f" Their sum is {total:.4g}. The mean of J E is {measured:.4g}, which differs by "
                  f"{100 * (measured / total - 1):+.2g} %.")
    return Drawing(bars(found), "Power balance", words)


def bars(found: dict[str, Balance]) -> Callable[[Any], Any]:
    """Draw the field's power and the losses of each species as bars."""

    def draw(theme):
        rows = [(species, words, value, i) for i, (species, balance) in enumerate(found.items())
                for words, value in (("from the field", balance.from_field), ("to sides", balance.sides),
                                     *balance.processes.items(), ("stored", balance.stored))]
        figure, axes = subplots(figsize=(6, 0.28 * len(rows) + 0.9))
        for at, (_, words, value, i) in enumerate(rows):
            axes.barh(at, value, color=theme.series[i % len(theme.series)],
                      alpha=1.0 if words == "from the field" else 0.6)
        axes.set_yticks(range(len(rows)), [f"{species}: {words}" for species, words, _, _ in rows])
        axes.invert_yaxis()
        axes.axvline(0, color=theme.ink, linewidth=0.8)
        axes.set(xlabel=label("power", UNIT))
        axes.grid(False, axis="y")
        return figure

    return draw

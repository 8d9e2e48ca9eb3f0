"""Means over windows of time of densities, fluxes, energies, fields and spectra by place: [mean.NAME].

Weights at the nodes are counted as whole multiples of a power of two, so that sums do not depend on their order and
results do not depend on ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.pic.diagnostics.histogram import count_unit, count_weights
from plaq.pic.diagnostics.probe import UNITS
from plaq.pic.diagnostics.recorder import Recorder
from plaq.pic.inputs.setup import Setup
from plaq.pic.inputs.table import COMPONENTS
from plaq.pic.plasma import Plasma


class Mean(Recorder):
    """Recorder of the mean of a quantity over each window of `length` from `start` on, of a sample every few steps."""

    def __init__(self, setup: Setup, name: str, section: Any):
        super().__init__(setup, f"mean_{name}", section.every)
        self.section, self.quantity, self.species = section, section.quantity, section.species
        self.first = round(section.start * setup.units.of("time") / setup.dt)
        self.window = window_steps(setup, section)
        self.sum: np.ndarray | float = 0.0
        self.before = np.zeros(0)  # E before the step of a sample of the power [component, x, y, z]
        self.unit, words = UNITS.get(self.quantity[0], ""), self.quantity
        if self.quantity not in COMPONENTS:
            self.unit = {"density": "n_0", "energy": "n_0 m_e c²", "power": "n_0 m_e c² ω_p",
                         "spectrum": "n_0/(m_e c²)"}.get(self.quantity, "n_0 c")
            words += f" of {self.species}" if self.species else ", J E"
        self.convention = f"{words}, mean over windows that end at these times"

    def next_step(self, after: int) -> int:
        sample = self.first + (max(after - self.first, 0) // self.every + 1) * self.every
        return sample - 1 if self.quantity == "power" and sample - 1 > after else sample

    def due(self, step: int) -> bool:
        return self._samples(step) or (self.quantity == "power" and self._samples(step + 1))

    def _samples(self, step: int) -> bool:
        return step > self.first and (step - self.first) % self.every == 0

    def record(self, plasma: Plasma) -> None:
        """Add a sample; of the power, whose J is that of the middle of a step, keep the field before the step."""
        if self._samples(plasma.step):
            self._add_sample(plasma)
        if self.quantity == "power" and self._samples(plasma.step + 1):
            self.before = np.stack([self._field(plasma, f"e{d}") for d in self.setup.axes])

    def _add_sample(self, plasma: Plasma) -> None:
        self.sum = self.sum + self.take(plasma)
        if (plasma.step - self.first) % self.window == 0:
            self.steps.append(plasma.step)
            self.values.append(np.asarray(self.sum / (self.window // self.every)))
            self.moved.append(plasma.offset)
            self.sum = 0.0

    def span(self) -> tuple[float, float]:
        """Return the begin of the first window and the end of the last one, in 1/ω_p."""
        return self.first * self.setup.dt, self.steps[-1] * self.setup.dt

    def state(self) -> dict[str, Any]:
        return {**super().state(), "sum": self.sum, "before": self.before}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.sum, self.before = state["sum"], state["before"]

    def axes(self) -> tuple[Axis, ...]:
        setup, nodes = self.setup, self.quantity not in COMPONENTS and self.quantity not in ("power", "spectrum")
        shift = setup.half.get(self.quantity, (0, 0, 0))
        counts = setup.node_counts if nodes else setup.cells
        places = [Axis(d, (np.arange(n) + 0.5 * shift[i]) * h, "c/ω_p")
                  for i, (d, n, h) in enumerate(zip(setup.directions, counts, setup.spacing))]
        if self.quantity == "power":
            return tuple(Axis(a.name, a.values + 0.5 * h, a.unit) for a, h in zip(places, setup.spacing))
        if self.quantity == "spectrum":
            edges = self._edges()
            return tuple(Axis(name, (e[1:] + e[:-1]) / 2, unit)
                         for name, e, unit in zip((setup.directions[0], "energy"), edges, ("c/ω_p", "m_e c²")))
        return tuple(places)

    def take(self, plasma: Plasma) -> np.ndarray:
        if self.quantity == "spectrum":
            edges = self._edges()
            across = np.pi * self.setup.lengths[1] ** 2 if self.setup.cylinder else np.prod(self.setup.lengths[1:])
            volume = np.diff(edges[0])[0] * np.diff(edges[1])[0] * across
            return count_weights(plasma, self.species, (self.setup.directions[0], "energy"), edges) / volume
        if self.quantity == "power":
            return np.sum([self._field(plasma, f"j{d}") * (before + self._field(plasma, f"e{d}")) / 2
                           for d, before in zip(self.setup.axes, self.before)], axis=0)
        if self.quantity in COMPONENTS:
            return self._field(plasma, self.quantity)
        return self._at_nodes(plasma)

    def _edges(self) -> list[np.ndarray]:
        """Return the edges of the bins of a spectrum: cells in x, and energies."""
        high = self.section.high * self.setup.units.of("temperature")
        return [np.linspace(0, self.setup.lengths[0], self.setup.cells[0] + 1),
                np.linspace(0, high, self.section.bins + 1)]

    def _field(self, plasma: Plasma, name: str) -> np.ndarray:
        """Return a field in all cells on every rank."""
        if name == "rho":
            plasma.call("compute_charge")
        whole = np.zeros(self.setup.cells)
        for where, part in plasma.local_arrays(name):
            whole[where] = part
        return np.asarray(plasma.comm.allreduce(whole + 0.0))

    def _at_nodes(self, plasma: Plasma) -> np.ndarray:
        """Return the density of a species at the nodes by linear weights, of its number, flux or energy."""
        setup, core, number = self.setup, plasma.core, plasma.names.index(self.species)
        moment = ("density", *(f"flux_{d}" for d in setup.axes), "energy").index(self.quantity)
        unit = count_unit(plasma, number, moment)
        counts = np.zeros([n + 1 for n in setup.cells])
        for patch in core.local_patches():
            nodes = tuple(slice(a, a + n + 1) for a, n in zip(core.origin(patch), core.extent(patch)))
            counts[nodes] += core.count_at_nodes(patch, number, moment, unit)
        found = np.ldexp(np.asarray(plasma.comm.allreduce(counts)).reshape(counts.shape), unit) / setup.cell_volume
        for d, side in enumerate(setup.sides("", 0)):
            first, last = ((slice(None),) * d + (place,) for place in (0, -1))
            if side == "periodic":
                found[first] += found[last]
                found = np.delete(found, -1, axis=d)
            elif side == "axis":
                found = found / self._rings()
            else:  # half of the volume
                found[first] *= 2
                found[last] *= 2
        return found

    def _rings(self) -> np.ndarray:
        """Return 2π ∫ w r dr / dr of the linear weights w of each node in r, the first one on the axis."""
        rings = np.arange(self.setup.cells[1] + 1.0)
        rings[0], rings[-1] = 1 / 6, (3 * rings[-1] - 1) / 6
        return 2 * np.pi * self.setup.spacing[1] * rings


def window_steps(setup: Setup, section: Any) -> int:
    """Return the steps of a window of [mean.NAME], a multiple of its `every`."""
    return max(1, round(section.length * setup.units.of("time") / setup.dt / section.every)) * section.every

"""Probe of a field at a point, or along a line, in time."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.pic.diagnostics.recorder import Recorder
from plaq.pic.inputs.setup import Setup
from plaq.pic.plasma import Plasma

UNITS = {"e": "m_e c ω_p/e", "b": "m_e ω_p/e", "j": "e n_0 c", "r": "e n_0", "p": "m_e c²/e"}


class Probe(Recorder):
    """Probe of [probe.NAME]: the values of the cells that the point lies in, without interpolation."""

    def __init__(self, setup: Setup, name: str, section: Any):
        super().__init__(setup, f"probe_{name}", section.every)
        self.field, self.along = section.field, None if section.along is None else setup.axes.index(section.along)
        self.unit = UNITS[section.field[0]]
        self.convention = (f"{section.field} of the cells at {list(section.at)}"
                           + (f", all in {section.along}" if section.along else ""))
        self.cell = [min(n - 1, int(at * setup.length_unit / h))
                     for at, h, n in zip(section.at, setup.spacing, setup.cells)]

    def axes(self) -> tuple[Axis, ...]:
        if self.along is None:
            return ()
        shift = 0.5 * self.setup.half.get(self.field, (0, 0, 0))[self.along]
        positions = (np.arange(self.setup.cells[self.along]) + shift) * self.setup.spacing[self.along]
        return (Axis(self.setup.axes[self.along], positions, "c/ω_p"),)

    def take(self, plasma: Plasma) -> np.ndarray:
        values = np.zeros(() if self.along is None else self.setup.cells[self.along])
        if self.field == "rho":
            plasma.call("compute_charge")
        for where, part in plasma.local_arrays(self.field):
            if all(d == self.along or s.start <= cell < s.stop for d, (s, cell) in enumerate(zip(where, self.cell))):
                inside = tuple(slice(None) if d == self.along else cell - s.start
                               for d, (s, cell) in enumerate(zip(where, self.cell)))
                if self.along is None:
                    values = part[inside]
                else:
                    values[where[self.along]] = part[inside]
        return np.asarray(plasma.comm.allreduce(values + 0.0))  # 0 on all other ranks; -0 becomes 0 as in a sum

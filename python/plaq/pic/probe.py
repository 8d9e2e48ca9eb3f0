"""A field at a place, or along a line, in time."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.pic.plasma import Plasma
from plaq.pic.recorder import Recorder
from plaq.pic.setup import HALF, Setup
from plaq.pic.table import DIRECTIONS

UNITS = {"e": "m_e c ω_p/e", "b": "m_e ω_p/e", "j": "e n_0 c", "r": "e n_0", "p": "m_e c²/e"}


class Probe(Recorder):
    """Of [probe.NAME]: the values of the cells that the place lies in, without interpolation."""

    def __init__(self, setup: Setup, name: str, asked: Any):
        super().__init__(setup, f"probe_{name}", asked.every)
        self.field, self.along = asked.field, None if asked.along is None else DIRECTIONS.index(asked.along)
        self.unit = UNITS[asked.field[0]]
        self.convention = (f"{asked.field} of the cells at {list(asked.at)}"
                           + (f", all in {asked.along}" if asked.along else ""))
        self.cell = [min(n - 1, int(at * setup.length_unit / h))
                     for at, h, n in zip(asked.at, setup.spacing, setup.cells)]

    def axes(self) -> tuple[Axis, ...]:
        if self.along is None:
            return ()
        shift = 0.5 * HALF.get(self.field, (0, 0, 0))[self.along]
        places = (np.arange(self.setup.cells[self.along]) + shift) * self.setup.spacing[self.along]
        return (Axis(DIRECTIONS[self.along], places, "c/ω_p"),)

    def take(self, plasma: Plasma) -> np.ndarray:
        found = np.zeros(() if self.along is None else self.setup.cells[self.along])
        if self.field == "rho":
            plasma.call("charge")
        for where, values in plasma.local_arrays(self.field):
            if all(d == self.along or s.start <= cell < s.stop for d, (s, cell) in enumerate(zip(where, self.cell))):
                inside = tuple(slice(None) if d == self.along else cell - s.start
                               for d, (s, cell) in enumerate(zip(where, self.cell)))
                if self.along is None:
                    found = values[inside]
                else:
                    found[where[self.along]] = values[inside]
        return np.asarray(plasma.comm.allreduce(found + 0.0))  # all others have 0 there; -0 becomes 0 as in a sum

"""Pictures of fields and densities for the report: a sample of the cells at some times."""

from __future__ import annotations

import numpy as np

from plaq.data.estimate import Axis
from plaq.pic.diagnostics.histogram import count_weights
from plaq.pic.diagnostics.probe import UNITS
from plaq.pic.diagnostics.recorder import Recorder
from plaq.pic.inputs.setup import Setup
from plaq.pic.plasma import Plasma

FINEST = {1: 512, 2: 96, 3: 96}  # cells of a picture in a direction


class Pictures(Recorder):
    """Recorder at some times, including the first and the last; in three dimensions of the plane in the middle of z."""

    def __init__(self, setup: Setup, name: str):
        super().__init__(setup, name, 1)
        count = setup.p.output.pictures
        self.picture_steps = sorted({round(i * setup.steps / max(1, count - 1)) for i in range(count)} if count > 1
                           else {setup.steps})
        self.shown = min(setup.dimension, 2)

    def next_step(self, after: int) -> int:
        return min((step for step in self.picture_steps if step > after), default=1 << 62)

    def due(self, step: int) -> bool:
        return step in self.picture_steps


class FieldPicture(Pictures):
    """Picture of every n-th cell of a field."""

    def __init__(self, setup: Setup, field: str):
        super().__init__(setup, f"picture_{field}")
        self.field, self.unit = field, UNITS[field[0]]
        self.stride = [-(-n // FINEST[setup.dimension]) for n in setup.cells[:self.shown]]
        self.plane = setup.cells[2] // 2 if setup.dimension == 3 else 0
        strides = [f"one cell of {s} in {d}" for d, s in zip(setup.directions, self.stride) if s > 1]
        self.convention = ", ".join([field, *strides])

    def axes(self) -> tuple[Axis, ...]:
        return tuple(Axis(name, np.arange(0, cells, step) * spacing, "c/ω_p") for name, cells, step, spacing
                     in zip(self.setup.directions, self.setup.cells, self.stride, self.setup.spacing))

    def take(self, plasma: Plasma) -> np.ndarray:
        picture = np.zeros([axis.size for axis in self.axes()])
        for where, values in plasma.local_arrays(self.field):
            if len(where) == 3:
                if not where[2].start <= self.plane < where[2].stop:
                    continue
                values = values[:, :, self.plane - where[2].start]
            first = [-(-s.start // stride) for s, stride in zip(where, self.stride)]
            part = values[tuple(slice(f * stride - s.start, None, stride)
                                for f, s, stride in zip(first, where, self.stride))]
            picture[tuple(slice(f, f + n) for f, n in zip(first, part.shape))] = part
        return np.asarray(plasma.comm.allreduce(picture + 0.0))


class DensityPicture(Pictures):
    """Picture of the density of a species, each particle in one cell; in three dimensions the mean over z."""

    unit = "n_0"

    def __init__(self, setup: Setup, species: str):
        super().__init__(setup, f"picture_density_{species}")
        self.species = species
        cells = [-(-n // -(-n // FINEST[setup.dimension])) for n in setup.cells[:self.shown]]
        self.edges = [np.linspace(0, length, n + 1) for length, n in zip(setup.lengths, cells)]
        self.volume = np.prod([e[1] for e in self.edges]) * np.prod(setup.lengths[self.shown:])
        if setup.cylinder:
            self.volume = self.volume * np.pi * (self.edges[1][1:] + self.edges[1][:-1])
        self.convention = f"number of {species} in each cell of the picture over its volume"

    def axes(self) -> tuple[Axis, ...]:
        return tuple(Axis(d, (e[1:] + e[:-1]) / 2, "c/ω_p") for d, e in zip(self.setup.directions, self.edges))

    def take(self, plasma: Plasma) -> np.ndarray:
        return count_weights(plasma, self.species, tuple(self.setup.directions[:self.shown]), self.edges) / self.volume


def pictures(setup: Setup) -> list[Recorder]:
    """Return recorders of all species and of E and B, with the potential of an electrostatic run."""
    if not setup.p.output.pictures:
        return []
    potential = ["phi"] * (setup.p.fields.solver == "electrostatic")
    return [*(FieldPicture(setup, name) for name in (*potential, *(f"{kind}{d}" for kind in "eb" for d in setup.axes))),
            *(DensityPicture(setup, name) for name in setup.p.species)]

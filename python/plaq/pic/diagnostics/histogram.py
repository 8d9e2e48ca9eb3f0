"""Histograms of the particles of a species by position, momentum or energy: phase space and spectra.

Weights are counted as whole multiples of a power of two, 2⁻⁵⁰ of the largest possible sum. Sums of integers do not
depend on their order, so that the result does not depend on ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.pic.diagnostics.recorder import Recorder
from plaq.pic.inputs.setup import Setup
from plaq.pic.plasma import Plasma


def coordinate(axes: str, name: str, particles: dict[str, np.ndarray], mass: float) -> np.ndarray:
    """Return x, y, z in c/ω_p, ux, uy, uz, or energy (γ - 1) m c² in m_e c², of each particle; names by ``axes``."""
    if name in tuple(axes):
        return particles["x"][:, axes.index(name)]
    if name != "energy":
        return particles["u"][:, axes.index(name[1])]
    square = np.sum(particles["u"] ** 2, axis=1)
    return mass * square / (np.sqrt(1 + square) + 1)


def count_weights(plasma: Plasma, species: str, names: tuple[str, ...], edges: list[np.ndarray]) -> np.ndarray:
    """Return the weight in each bin, [bins of the first, bins of the second], without particles outside. Collective."""
    mass, axes = plasma.setup.p.species[species].mass, plasma.setup.axes
    local = list(plasma.particles(species))
    number = plasma.comm.allreduce(sum(len(part["w"]) for part in local))
    heaviest = plasma.comm.allreduce(max((float(part["w"].max(initial=0.0)) for part in local), default=0.0), "max")
    unit = int(np.frexp(number * heaviest)[1]) - 50  # as a power of two
    shape = tuple(len(e) - 1 for e in edges)
    counts = np.zeros(int(np.prod(shape)), np.int64)
    for part in local:
        bins = [np.searchsorted(e, coordinate(axes, name, part, mass), side="right") - 1
                for name, e in zip(names, edges)]
        inside = np.all([(b >= 0) & (b < n) for b, n in zip(bins, shape)], axis=0)
        flat = np.ravel_multi_index([b[inside] for b in bins], shape)
        np.add.at(counts, flat, np.rint(np.ldexp(part["w"][inside], -unit)).astype(np.int64))
    return np.ldexp(np.asarray(plasma.comm.allreduce(counts)).reshape(shape).astype(float), unit)


class Histogram(Recorder):
    """Histogram of [histogram.NAME]."""

    def __init__(self, setup: Setup, name: str, section: Any):
        super().__init__(setup, f"histogram_{name}", section.every)
        self.species, self.names = section.species, section.axes
        scale = [setup.length_unit if axis in tuple(setup.axes)
                 else setup.units.of("temperature" if axis == "energy" else "u") for axis in section.axes]
        self.edges = [np.linspace(low * s, high * s, n + 1)
                      for low, high, n, s in zip(section.low, section.high, section.bins, scale)]
        volume = " × ".join(["c/ω_p"] * setup.weight_dimension)
        self.unit = f"n_0 ({volume})"
        self.convention = (f"weight of {section.species} in each bin of {', '.join(section.axes)}; "
                           "axes are the middles of bins")

    def axes(self) -> tuple[Axis, ...]:
        units = {**dict.fromkeys(self.setup.axes, "c/ω_p"), "energy": "m_e c²"}
        return tuple(Axis(name, (e[1:] + e[:-1]) / 2, units.get(name, "γβ")) for name, e in zip(self.names, self.edges))

    def take(self, plasma: Plasma) -> np.ndarray:
        return count_weights(plasma, self.species, self.names, self.edges)

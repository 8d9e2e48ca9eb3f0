"""How many particles of a species there are by place, momentum or energy: phase space and spectra.

Weights are counted as whole multiples of a power of two, 2⁻⁵⁰ of the largest that their sum may be: sums of
integers have no order, so the result does not depend on ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.pic.plasma import Plasma
from plaq.pic.recorder import Recorder
from plaq.pic.setup import Setup
from plaq.pic.table import DIRECTIONS

MOMENTA = ("ux", "uy", "uz")


def coordinate(name: str, particles: dict[str, np.ndarray], mass: float) -> np.ndarray:
    """x, y, z in c/ω_p, ux, uy, uz, or energy (γ - 1) m c² in m_e c², of each particle."""
    if name in DIRECTIONS:
        return particles["x"][:, DIRECTIONS.index(name)]
    if name in MOMENTA:
        return particles["u"][:, MOMENTA.index(name)]
    square = np.sum(particles["u"] ** 2, axis=1)
    return mass * square / (np.sqrt(1 + square) + 1)


def counted(plasma: Plasma, species: str, names: tuple[str, ...], edges: list[np.ndarray]) -> np.ndarray:
    """Weight in each bin, [bins of the first, bins of the second]; what lies outside is not counted. Collective."""
    mass = plasma.setup.p.species[species].mass
    mine = list(plasma.particles(species))
    number = plasma.comm.allreduce(sum(len(part["w"]) for part in mine))
    heaviest = plasma.comm.allreduce(max((float(part["w"].max(initial=0.0)) for part in mine), default=0.0), "max")
    unit = int(np.frexp(number * heaviest)[1]) - 50  # as a power of two
    shape = tuple(len(e) - 1 for e in edges)
    counts = np.zeros(int(np.prod(shape)), np.int64)
    for part in mine:
        bins = [np.searchsorted(e, coordinate(name, part, mass), side="right") - 1 for name, e in zip(names, edges)]
        inside = np.all([(b >= 0) & (b < n) for b, n in zip(bins, shape)], axis=0)
        flat = np.ravel_multi_index([b[inside] for b in bins], shape)
        np.add.at(counts, flat, np.rint(np.ldexp(part["w"][inside], -unit)).astype(np.int64))
    return np.ldexp(np.asarray(plasma.comm.allreduce(counts)).reshape(shape).astype(float), unit)


class Histogram(Recorder):
    """Of [histogram.NAME]."""

    def __init__(self, setup: Setup, name: str, asked: Any):
        super().__init__(setup, f"histogram_{name}", asked.every)
        self.species, self.names = asked.species, asked.axes
        scale = [setup.length_unit if axis in DIRECTIONS
                 else setup.units.of("temperature" if axis == "energy" else "u") for axis in asked.axes]
        self.edges = [np.linspace(low * s, high * s, n + 1)
                      for low, high, n, s in zip(asked.low, asked.high, asked.bins, scale)]
        volume = " × ".join(["c/ω_p"] * setup.dimension)
        self.unit = f"n_0 ({volume})"
        self.convention = (f"weight of {asked.species} in each bin of {', '.join(asked.axes)}; "
                           "axes are the middles of bins")

    def axes(self) -> tuple[Axis, ...]:
        units = {**dict.fromkeys(DIRECTIONS, "c/ω_p"), **dict.fromkeys(MOMENTA, "γβ"), "energy": "m_e c²"}
        return tuple(Axis(name, (e[1:] + e[:-1]) / 2, units[name]) for name, e in zip(self.names, self.edges))

    def take(self, plasma: Plasma) -> np.ndarray:
        return counted(plasma, self.species, self.names, self.edges)

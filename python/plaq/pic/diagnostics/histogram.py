"""Histograms of the particles of a species by position, momentum or energy: phase space and spectra.

Weights are counted as whole multiples of a power of two. Sums of integers do not depend on their order, so that the
result does not depend on ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.pic.diagnostics.recorder import Recorder
from plaq.pic.inputs.setup import Setup
from plaq.pic.plasma import Plasma

BITS = 50  # of the largest possible sum


def count_unit(plasma: Plasma, species: int, moment: int) -> int:
    """Return the power of two that parts in a moment are counted in, 2⁻⁵⁰ of the largest possible sum. Collective."""
    bounds = [plasma.core.bound_of_moment(patch, species, moment) for patch in plasma.core.local_patches()]
    number = plasma.comm.allreduce(sum(count for count, _ in bounds))
    largest = plasma.comm.allreduce(max((part for _, part in bounds), default=0.0), "max")
    return int(np.frexp(number * largest)[1]) - BITS


def count_weights(plasma: Plasma, species: str, names: tuple[str, ...], edges: list[np.ndarray]) -> np.ndarray:
    """Return the weight in each bin, [bins of the first, bins of the second], without particles outside. Collective.

    Names are x, y, z in c/ω_p, ux, uy, uz, and energy (γ - 1) m c² in m_e c²; edges are evenly spaced.
    """
    axes, number = plasma.setup.axes, plasma.names.index(species)
    known = (*axes, *(f"u{d}" for d in axes), "energy")
    unit = count_unit(plasma, number, 0)
    counts = np.zeros(tuple(len(e) - 1 for e in edges))
    for patch in plasma.core.local_patches():
        counts += plasma.core.count_in_bins(patch, number, [known.index(name) for name in names],
                                            [e.tolist() for e in edges], plasma.offset, unit)
    return np.ldexp(np.asarray(plasma.comm.allreduce(counts)).reshape(counts.shape), unit)


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

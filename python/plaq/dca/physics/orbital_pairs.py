"""Estimates from two-particle functions with orbitals: the functions and their Bethe-Salpeter eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plaq.data.estimate import Axis
from plaq.data.statistics import Resampled
from plaq.dca.physics import orbital_channels
from plaq.dca.physics.lattice_estimates import lattice_estimates
from plaq.dca.physics.pair_estimates import PairEstimates
from plaq.dca.physics.two_particle import labels_of_modes, leading_values, physical_modes
from plaq.dca.solver.choices import SUMS
from plaq.trace.session import region

AT_ZERO = "pp", 0, 0  # pairing, whose names have no tag


class OrbitalPairs(PairEstimates):
    """Two-particle functions of a general model, each with all its elements in every bin."""

    def all(self):
        """Return all estimates by name."""
        for kind, q, m in self.channels:
            self.add_channel(kind, q, m)
        if self.evaluation.model.momenta is not None:
            self.results |= lattice_estimates(self.evaluation, self.window, self.of_channels, self.resample, self.note)
        return self.results

    def resample(self, which: tuple[str, int, int], prepare: Callable, function: Callable) -> dict[str, Resampled]:
        """Return the jackknife of function(evaluation, m, g4, prepared) as `lattice_estimates` has it."""
        bins, sample = np.asarray(self.combined(self.measured_parts(*which))), self.evaluation.sample
        first = self.with_all_data(lambda w, g, f, g4: prepare(*sample(w, g, f), g4 / w), bins)
        return self.jackknife(lambda w, g, f, g4: function(*sample(w, g, f), g4 / w, first), bins)

    def add_channel(self, kind: str, q: int, m: int) -> None:
        """Add one function, and its eigenvalues where it is that of a channel of the Bethe-Salpeter equation."""
        evaluation, window = self.evaluation, self.window
        tag = "" if (kind, q, m) == AT_ZERO else f"{kind}_q{q}_m{m}"
        bins = np.asarray(self.combined(self.measured_parts(kind, q, m)))
        axes = orbital_channels.axes(evaluation, window)
        if len(SUMS.get(kind, "1")) == 1:
            blocks = orbital_channels.symmetry_of(evaluation.model, kind, q).blocks(window, static=m == 0)
            terms = self.terms_of(kind, q, m)
            full = self.with_all_data(lambda *sums: all_modes(blocks, terms(*sums)), bins)
            sizes = {name: basis.shape[1] for name, basis in blocks.items()}
            self.add(labels_of_modes(sizes, axes, tag), self.jackknife(
                lambda *sums: leading(blocks, full, tag, terms(*sums)), bins))
        primed = [Axis(f"{axis.name}'" if axis.name in ("K", "omega") else f"{axis.name}''", axis.values, axis.unit)
                  for axis in axes]
        function = WholeFunction(tuple(len(axis.values) for axis in (*axes, *primed)))
        self.add_function(f"G4_{tag or 'pp'}", function, bins, (*axes, *primed), orbital_channels.CHANNELS[kind])

    def terms_of(self, kind: str, q: int, m: int) -> Callable[..., orbital_channels.Terms]:
        """Return the function of sums over bins that gives the terms of the equation."""
        sample = self.evaluation.sample
        return lambda w, g, f, g4: orbital_channels.terms(*sample(w, g, f), kind, q, m, self.window, g4 / w)


@region("Bethe-Salpeter: channel")
def all_modes(blocks, terms):
    """Return the modes of all data, and where the physical ones begin."""
    return physical_modes(terms.modes(blocks), terms.modes(blocks, on_cluster=True))


@region("Bethe-Salpeter: channel")
def leading(blocks, full, tag, terms):
    """Return the leading physical eigenvalues of every block, ordered as with all data."""
    return leading_values(terms.modes(blocks), full, tag)


@dataclass(frozen=True)
class WholeFunction:
    """Function that every bin has whole, in the place of a `PairFunction`; shape : without axes of a single orbital."""

    shape: tuple[int, ...]

    def whole(self, values: np.ndarray) -> np.ndarray:
        """Return the function in its shape."""
        return values.reshape(self.shape)

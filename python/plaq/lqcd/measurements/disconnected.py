r"""Loops of quarks from noise on all sites, as tables [disconnected.NAME] ask for them.

$L_\Gamma(t) = \sum_{\mathbf x}\mathrm{tr}\,\Gamma M^{-1}(x, x)$ is the mean over noise $\eta$ of
$\sum_{\mathbf x}\eta^+(x)\Gamma\phi(x)$, $M\phi = \eta$. Dilution and probing split the noise into vectors that are
solved separately, so that their products have no noise.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.lqcd.fields import gamma
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.solvers import solve
from plaq.lqcd.fields.sources import VOLUME, noise
from plaq.lqcd.fields.spinor_field import SpinorField
from plaq.lqcd.measurement_tables import power_of_two
from plaq.lqcd.measurements.hadrons import momentum_suffix
from plaq.lqcd.measurements.measurement import Measurement, Quantity
from plaq.lqcd.measurements.mesons import spin_products
from plaq.lqcd.measurements.workbench import Workbench, quark_of
from plaq.lqcd.parameters import Parameters

ORIGIN = (0, 0, 0, 0)


def probing_bits(extents: tuple[int, ...]) -> list[np.ndarray]:
    """Return bits of sites [t, x, y, z] in the order of hierarchical probing.

    Of each power of two in the coordinates, first its sum over directions, then its value in all directions but one.
    Sites that agree in the first 1, 4, 5, 8 ... bits have even distance, distances of two in each direction, and so on.
    """
    coordinates = np.meshgrid(*map(np.arange, extents), indexing="ij")
    levels = [power_of_two(n) for n in extents]
    bits = []
    for level in range(max(levels)):
        here = [x >> level & 1 for x, most in zip(coordinates, levels) if level < most]
        bits += [sum(here) % 2, *here[1:]]
    return bits


def probing_vector(extents: tuple[int, ...], number: int) -> np.ndarray:
    """Return signs [t, x, y, z] of a Hadamard vector of hierarchical probing.

    The first 2^n vectors together separate all sites that differ in the first n of `probing_bits`.
    """
    signs = np.ones(extents)
    for i, bit in enumerate(probing_bits(extents)):
        if number >> i & 1:
            signs = signs * (1 - 2.0 * bit)
    return signs


class Disconnected(Measurement):
    """Loops of [disconnected.NAME], a series for each vector of noise."""

    family = "disconnected"

    def __init__(self, p: Parameters, name: str):
        super().__init__(p, name)
        self.quark = quark_of(p, self.table, self.table.kappa, -self.table.mu if self.table.one_end else self.table.mu)
        self.momenta = [tuple(k) for k in self.table.momenta]

    def quantities(self) -> dict[str, Quantity]:
        axes = (Axis("vector", np.arange(self.table.vectors)), Axis("t", np.arange(self.p.lattice.extents[0]), "a"))
        words = "difference of tr Gamma M^-1, mu less -mu" if self.table.one_end else "tr Gamma M^-1"
        return {structure + momentum_suffix(k): Quantity(
            f"{words}, sum over space, for each vector of noise" + (f", momentum {k} in 2 pi / L" if any(k) else ""),
            axes, dtype=complex) for structure in self.table.structures for k in self.momenta}

    def measure(self, bench: Workbench) -> Mapping[str, Any]:
        found: dict[str, list[np.ndarray]] = {name: [] for name in self.quantities()}
        for vector in range(self.table.vectors):
            tensors = sum(self._tensors(bench, eta) for eta in self._parts(bench.gauge.lattice, bench.number, vector))
            for structure, (k, W) in itertools.product(self.table.structures, zip(self.momenta, tensors)):
                matrix = gamma.STRUCTURES[structure]
                if self.table.one_end:
                    matrix = -4j * self.table.kappa * self.table.mu * gamma.GAMMA5 @ matrix
                scale = 1 / 2**self.table.probing
                found[structure + momentum_suffix(k)].append(scale * np.einsum("ca,tac->t", matrix, W[:, :, 0, :, 0]))
        return found

    def _tensors(self, bench: Workbench, eta: np.ndarray) -> np.ndarray:
        """Return spin tensors of solution and source, or of the solution with itself, by momentum. Collective."""
        quark, lattice = self.quark, bench.gauge.lattice
        field = SpinorField(lattice).set_local(eta)
        phi, _ = solve(bench.matrix(quark), field, quark.residual, quark.solver, quark.precision)
        solution = phi.local()[..., None, None]
        other = solution if self.table.one_end else eta[..., None, None]
        return spin_products(lattice, ORIGIN, solution, other, self.momenta)

    def _parts(self, lattice: Lattice, number: int, vector: int) -> Iterator[np.ndarray]:
        """Yield the vectors [t, x, y, z, spin, colour] of this rank's box that one vector of noise is split into."""
        table, extents = self.table, lattice.extents
        whole = noise((*extents, 4, 3), table.noise, self.p.seed, (VOLUME, number - 1, vector))[lattice.box]
        spins, colours = ([slice(i, i + 1) for i in range(n)] if name in table.dilution else [slice(None)]
                          for name, n in (("spin", 4), ("colour", 3)))
        time = np.arange(extents[0])[lattice.box[0]]
        for probe, slot, spin, colour in itertools.product(range(2**table.probing), range(table.time_dilution), spins,
                                                           colours):
            eta = np.zeros(whole.shape, complex)
            eta[..., spin, colour] = whole[..., spin, colour]
            eta[time % table.time_dilution != slot] = 0
            yield eta * probing_vector(extents, probe)[lattice.box][..., None, None]

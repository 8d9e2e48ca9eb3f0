r"""Three-point functions of a hadron at rest at the sink, by sequential sources through the sink.

With $G = \partial C_2/\partial S$ for the propagators S(x, 0) of a quark to the sink, on slice $t_s$, a current
$\bar q\Gamma q$ at y gives $C_3 = \sum_{\mathbf x} G(x)\,S(x, y)\,\Gamma\,S(y, 0)$. Since
$S(x, y) = \gamma_5 S'(y, x)^+\gamma_5$ with the opposite twisted mass, one solve for each of the twelve components at
the origin gives all currents and times (Martinelli and Sachrajda, Nucl. Phys. B 316, 355 (1989)). Currents are times
2 kappa, for quarks normalised with the mass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plaq.lqcd.fields import gamma
from plaq.lqcd.fields.propagators import Propagator
from plaq.lqcd.fields.solvers import solve
from plaq.lqcd.fields.spinor_field import SpinorField
from plaq.lqcd.measurements.mesons import spin_products
from plaq.lqcd.measurements.workbench import Quark, Workbench, brush_of

Momentum = tuple[int, ...]
REST = (0, 0, 0)


def sequential(bench: Workbench, table: Any, quark: Quark, line: Propagator, sink: int,
               opened: Callable[[int], np.ndarray]) -> Propagator:
    """Return the sequential propagator through the sink, ``sink`` slices from the source. Collective.

    line : S(x, 0) of the quark. opened : function of a slice of this rank's box that returns G there, [site, spin,
    colour, source spin, source colour] of propagators in `Propagator.local`, with the sink smeared as the table asks.
    """
    lattice, T = line.lattice, line.lattice.extents[0]
    box, t = lattice.box[0], (line.source[0] + sink) % T
    eta = np.zeros(line.local.shape, complex)
    if box.start <= t < box.stop:
        turned = opened(t - box.start) * np.exp(1j * np.pi * line.theta[0] * sink / T)
        eta[t - box.start] = (np.diag(gamma.GAMMA5)[:, None, None, None] * turned.conj()).reshape(eta.shape[1:])
    smearing = bench.smearing(brush_of(table, table.gauss_sink))
    matrix, out = bench.matrix(replace(quark, mu=-quark.mu)), np.empty_like(eta)
    for spin, colour in np.ndindex(4, 3):
        field = SpinorField(lattice).set_local(eta[..., spin, colour])
        if smearing:
            smearing(field, line.theta)
        out[..., spin, colour] = solve(matrix, field, quark.residual, quark.solver, quark.precision)[0].local()
    return Propagator.from_fields(lattice, line.source, out, line.theta)


def local_currents(quark: Quark, line: Propagator, back: Propagator, structures: Sequence[str],
                   momenta: Sequence[Momentum]) -> Iterator[tuple[str, Momentum, np.ndarray]]:
    r"""Yield (structure, momentum, C_3 [tau]) of the currents $\bar q\Gamma q$. Collective."""
    tensors = spin_products(line.lattice, line.source, line.fields(), back.fields(), momenta)
    for structure in structures:
        for momentum, W in zip(momenta, tensors):
            yield structure, momentum, 2 * quark.kappa * np.einsum(
                "ca,tabcb->t", gamma.GAMMA5 @ gamma.STRUCTURES[structure], W)


def conserved_charges(bench: Workbench, quark: Quark, line: Propagator, back: Propagator,
                      momenta: Sequence[Momentum] = (REST,)) -> np.ndarray:
    """Return C_3 of the conserved vector current from tau to tau + 1, [momentum, tau]. Collective."""
    one, g0 = np.eye(4), gamma.GAMMA[0]
    ahead = spin_products(line.lattice, line.source, line.fields(), back.transport(bench.gauge, 0), momenta)
    behind = spin_products(line.lattice, line.source, line.transport(bench.gauge, 0), back.fields(), momenta)
    return quark.kappa * (np.einsum("ca,ktabcb->kt", gamma.GAMMA5 @ (one + g0), ahead)
                          - np.einsum("ca,ktabcb->kt", gamma.GAMMA5 @ (one - g0), behind))


def charge_violation(charge: np.ndarray, sink: int, expected: complex) -> float:
    """Return how far the change of the conserved charge [tau] at the sink is from ``expected``, over that."""
    return abs(charge[sink - 1] - charge[sink] - expected) / abs(expected)

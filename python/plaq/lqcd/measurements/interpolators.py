r"""Operators of baryons, $\chi_\gamma = \epsilon_{abc}\,(q^T_{1a}\Gamma q_{2b})\,q_{3c,\gamma}$ and sums of them.

The signs of colour and of the exchange of quarks cancel in a contraction. So a correlator is the sum over all ways of
joining quarks of equal flavour, each with the plus sign, of spin coefficients times
$T = \sum_{\mathbf x}\epsilon\epsilon' S_1S_2S_3$ (`baryon_tensor`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from functools import cache

import numpy as np

from plaq.lqcd.fields import gamma

C = gamma.GAMMA[0] @ gamma.GAMMA[2]
r"""Charge conjugation, $C\gamma_\mu C^{-1} = -\gamma_\mu^T$."""

Operator = Mapping[tuple[str, str, str], np.ndarray]  # {flavours: [vector, spin, spins of the quarks 1, 2, 3]}


def diquark(*structures: np.ndarray) -> np.ndarray:
    """Return coefficients [vector, spin, a, b, c] of (q1^T Gamma q2) q3 for each Gamma."""
    return np.einsum("vab,gc->vgabc", np.array(structures), np.eye(4))


SCALAR = diquark(C @ gamma.GAMMA5)
VECTOR = diquark(*(C @ gamma.GAMMA[j] for j in (1, 2, 3)))

OPERATORS: dict[str, Operator] = {
    "nucleon": {("u", "d", "u"): SCALAR},
    "sigma": {("u", "s", "u"): SCALAR},
    "xi": {("s", "u", "s"): SCALAR},
    "lambda": {("u", "d", "s"): 2 / np.sqrt(6) * SCALAR, ("u", "s", "d"): 1 / np.sqrt(6) * SCALAR,
               ("d", "s", "u"): -1 / np.sqrt(6) * SCALAR},
    "delta": {("u", "u", "u"): VECTOR},
    "sigma_star": {("u", "s", "u"): 2 / np.sqrt(3) * VECTOR, ("u", "u", "s"): 1 / np.sqrt(3) * VECTOR},
    "xi_star": {("s", "u", "s"): 2 / np.sqrt(3) * VECTOR, ("s", "s", "u"): 1 / np.sqrt(3) * VECTOR},
    "omega": {("s", "s", "s"): VECTOR},
}
r"""{name: operator}. Proton, $\Sigma^+$, $\Xi^0$, $\Lambda$, $\Delta^{++}$, $\Sigma^{*+}$, $\Xi^{*0}$, $\Omega^-$;
those of spin 3/2 have the vector index of the diquark (Leinweber, Woloshyn, Draper, Phys. Rev. D 43, 1659 (1991))."""

PLUS, MINUS = ((np.eye(4) + sign * gamma.GAMMA[0]) / 2 for sign in (1, -1))
r"""Projectors $(1 \pm \gamma_0)/2$: parity of states that move forwards in time."""

POLARISED = PLUS @ (1j * gamma.GAMMA5 @ gamma.GAMMA[3])
"""Projector onto parity + times the spin along z."""


def spin_projector() -> np.ndarray:
    r"""Return $\delta_{ij} - \gamma_i\gamma_j/3$, [i, j, spin, spin]: spin 3/2 at rest."""
    space = gamma.GAMMA[1:]
    return np.einsum("ij,ab->ijab", np.eye(3), np.eye(4)) - np.einsum("iab,jbc->ijac", space, space) / 3


def conjugate(operator: np.ndarray) -> np.ndarray:
    r"""Return coefficients of $\bar\chi = \chi^+\gamma_0$ for $\bar q$ in place of q."""
    g0 = gamma.GAMMA[0]
    return np.einsum("vgabc,gh,ai,bj,ck->vhijk", operator.conj(), g0, g0, g0, g0)


ROUNDING = 1e-12  # of coefficients, which are fractions


def flavours_of(particle: str) -> tuple[str, str, str]:
    """Return the flavours of a particle in the order of the lines of its tensor."""
    return tuple(sorted(next(iter(OPERATORS[particle])), key="uds".index))


PROJECTORS = {"plus": PLUS, "minus": MINUS, "polarised": POLARISED}
PARTS = {"plus": {"unit": 0.5, "temporal": 0.5}, "minus": {"unit": 0.5, "temporal": -0.5},
         "polarised": {"polarised": 1.0}}
"""Projectors as sums of matrices with fewer numbers, {projector: {matrix in `MATRICES`: weight}}."""
MATRICES = {**PROJECTORS, "unit": np.eye(4), "temporal": gamma.GAMMA[0]}


@cache
def coefficients(particle: str, matrix: str) -> np.ndarray:
    """Return K [a, b, c, d, e, f] of the projected correlator K T, with the lines of T in the order of `flavours_of`.

    ``matrix`` is a name in `MATRICES`, of a projector or of a part of one. Those of spin 3/2 are projected onto it,
    and summed over the vector index.
    """
    P, operator, lines = MATRICES[matrix], OPERATORS[particle], flavours_of(particle)
    K = np.zeros([4] * 6, complex)
    for sink_flavours, sink in operator.items():
        of_spin = np.einsum("ijab,jbcde->iacde", spin_projector(), sink) if len(sink) == 3 else sink
        for source_flavours, source in operator.items():
            bar = conjugate(source)
            for at_sink, at_source in itertools.product(itertools.permutations(range(3)), repeat=2):
                # Line k ends at quark at_sink[k] of the sink and begins at quark at_source[k] of the source.
                if any(sink_flavours[i] != f or source_flavours[j] != f
                       for f, i, j in zip(lines, at_sink, at_source)):
                    continue
                ends, begins = "abc", "xyz"
                sink_spins = "".join(ends[at_sink.index(i)] for i in range(3))
                source_spins = "".join(begins[at_source.index(j)] for j in range(3))
                K += np.einsum(f"hg,vg{sink_spins},vh{source_spins}->axbycz", P, of_spin, bar)
    for part in (K.real, K.imag):
        part[np.abs(part) < ROUNDING] = 0
    return K / math.prod(math.factorial(lines.count(f)) for f in set(lines))  # names of lines of one flavour

"""Two-point functions of baryons, as tables [baryons.NAME] ask for them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.lqcd.fields.propagators import Propagator
from plaq.lqcd.fields.sources import Source
from plaq.lqcd.measurements.hadrons import FromSources, momentum_suffix, smeared_sink, sources_of
from plaq.lqcd.measurements.interpolators import PARTS, coefficients, flavours_of
from plaq.lqcd.measurements.measurement import Quantity
from plaq.lqcd.measurements.mesons import sink_phases
from plaq.lqcd.measurements.workbench import Line, Quark, Workbench, brush_of, quark_of
from plaq.lqcd.parameters import Parameters

PARITIES = {"": "plus", "_minus": "minus"}


def baryon_tensor(lines: Sequence[Propagator], momenta: Sequence[Sequence[int]] = ((0, 0, 0),)) -> np.ndarray:
    r"""Return the tensor T of three propagators from one source, [momentum, t, a, b, c, d, e, f], on all ranks.

    $T = \sum_{\mathbf x} e^{-2\pi i\mathbf k(\mathbf x-\mathbf y)/L}\,\epsilon_{ijk}\epsilon_{i'j'k'}\,
    S_{1,ai,bi'}S_{2,cj,dj'}S_{3,ek,fk'}$ with spins a ... f. t counts from the source. All baryons of three quarks
    follow from it (`baryon_correlator`). Quarks move forwards in time: a baryon has $e^{i\pi\theta_0}$ of each quark on
    the slices before the source. Bits do not depend on ranks. InputError for other sources and for noise. Collective.
    """
    return _joined(_core.lqcd.baryon_tensor, lines, momenta)


def baryon_correlators(lines: Sequence[Propagator], kinds: Sequence[tuple[str, str]],
                       momenta: Sequence[Sequence[int]] = ((0, 0, 0),)) -> np.ndarray:
    """Return [momentum, t, kind] of `baryon_correlator` for kinds (particle, projector), without the whole tensor.

    Collective.
    """
    parts = tuple(dict.fromkeys((particle, part) for particle, projector in kinds for part in PARTS[projector]))
    order = tuple(sorted(range(3), key=lambda i: -sum(one is lines[i] for one in lines)))  # equal lines first
    lines = [lines[i] for i in order]
    equal = tuple(next(j for j in range(3) if lines[j] is line) for line in lines)
    found = _joined(_core.lqcd.baryon_sums, lines, momenta, folded_coefficients(parts, order, equal))
    weights = np.array([[PARTS[projector].get(part, 0.0) * (particle == name) for name, part in parts]
                        for particle, projector in kinds])
    return found @ weights.T


@lru_cache(maxsize=32)
def folded_coefficients(parts: tuple[tuple[str, str], ...], order: tuple[int, ...],
                        equal: tuple[int, ...]) -> np.ndarray:
    """Return `coefficients` [kind, 4096] for lines in another ``order``, fewer than those for three different lines.

    The tensor does not change if spins of equal lines are exchanged. ``equal`` are the numbers of lines, the same for
    equal ones.
    """
    K = np.array([coefficients(particle, part) for particle, part in parts]).reshape(-1, 16, 16, 16)
    K = K.transpose(0, *(1 + i for i in order))
    at = np.argwhere(K.any(axis=0))
    to = at.copy()
    for number in set(equal):
        columns = np.flatnonzero(np.array(equal) == number)
        to[:, columns] = np.sort(at[:, columns], axis=1)
    out = np.zeros(K.shape, complex)
    np.add.at(out, (slice(None), *to.T), K[:, *at.T])
    return out.reshape(len(parts), -1)


def _joined(sums: Callable, lines: Sequence[Propagator], momenta: Sequence[Sequence[int]], *more: np.ndarray):
    """Return sums over three lines, with t from their source. Collective."""
    lattice, source = lines[0].lattice, lines[0].source
    if any(line.source != source or line.local.shape[-2:] != (4, 3) for line in lines):
        raise InputError("the three propagators of a baryon start from the same site, with all spins and colours")
    values = lattice.call(sums, lattice.context, lattice.layout, sink_phases(lattice, source, momenta),
                          *(np.ascontiguousarray(line.local) for line in lines), *more)
    return np.roll(values, -source[0], axis=1)


def baryon_correlator(tensor: np.ndarray, particle: str = "nucleon", projector: str = "plus") -> np.ndarray:
    """Return the correlator [..., t] of a particle from the `baryon_tensor` of its flavours u, d, s, complex.

    particle : "nucleon", "sigma", "xi", "lambda", "delta", "sigma_star", "xi_star", "omega"
    (`interpolators.OPERATORS`).
    projector : "plus" or "minus", parity of states that move forwards in time, or "polarised" along z. In lattice
    units: times (2 kappa)^3 of its quarks for fields normalised with the mass.
    """
    return np.einsum("abcdef,...abcdef->...", coefficients(particle, projector), tensor)


def quarks_of(p: Parameters, table: Any) -> dict[str, Quark]:
    """Return the quarks of a table by flavour, those that it gives."""
    quarks = {"u": quark_of(p, table, table.kappa, table.mu),
              "d": quark_of(p, table, table.kappa if table.kappa_d is None else table.kappa_d,
                            -table.mu if table.mu_d is None else table.mu_d)}
    if table.kappa_s is not None:
        quarks["s"] = quark_of(p, table, table.kappa_s, table.mu_s)
    return quarks


class Baryons(FromSources):
    """Two-point functions of [baryons.NAME]."""

    family = "baryons"

    def __init__(self, p: Parameters, name: str):
        super().__init__(p, name)
        self.quarks = quarks_of(p, self.table)
        self.momenta = [tuple(k) for k in self.table.momenta]

    def quantities(self) -> dict[str, Quantity]:
        t = self.times()
        return {f"{particle}{ending}{momentum_suffix(k)}": Quantity(
            f"two-point function, sum over space, projector (1 {'+' if parity == 'plus' else '-'} gamma_0)/2"
            + (f", momentum {k} in 2 pi / L" if any(k) else "") + ", t from the source", (t,), dtype=complex)
            for particle in self.table.particles for ending, parity in PARITIES.items() for k in self.momenta}

    def flavours(self) -> list[Quark]:
        """Return the quarks that its particles have, each once."""
        return list(dict.fromkeys(self.quarks[f] for particle in self.table.particles for f in flavours_of(particle)))

    def lines(self, number: int) -> list[Line]:
        brush = brush_of(self.table, self.table.gauss_source)
        return [Line(quark, source, brush, self.table.keep) for source in sources_of(self.p, self.table, number)
                for quark in self.flavours()]

    def of_source(self, bench: Workbench, source: Source) -> Iterator[tuple[str, Any]]:
        brush, sink = brush_of(self.table, self.table.gauss_source), brush_of(self.table, self.table.gauss_sink)
        lines = {quark: smeared_sink(bench, bench.line(Line(quark, source, brush, self.table.keep)), sink)
                 for quark in self.flavours()}
        of_quarks: dict[tuple[Quark, ...], list[str]] = {}
        for particle in self.table.particles:
            of_quarks.setdefault(tuple(self.quarks[f] for f in flavours_of(particle)), []).append(particle)
        for quarks, particles in of_quarks.items():
            kinds = list(itertools.product(particles, PARITIES))
            found = baryon_correlators([lines[quark] for quark in quarks],
                                       [(particle, PARITIES[ending]) for particle, ending in kinds], self.momenta)
            for k, of_momentum in zip(self.momenta, found):
                for (particle, ending), values in zip(kinds, of_momentum.T):
                    yield f"{particle}{ending}{momentum_suffix(k)}", values

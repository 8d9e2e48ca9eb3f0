r"""Reweighting factors: determinants that an ensemble should have had over those that it has, on its configurations.

A factor is an average over complex Gaussian $\eta$ on odd sites, $w = \langle e^{-\eta^+(\Omega-1)\eta}\rangle =
1/\det\Omega$, times the exact ratio of the determinants on even sites. Averages of an observable O are
$\langle O w\rangle / \langle w\rangle$.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.errors import RunError
from plaq.lqcd import sea
from plaq.lqcd.action.of_input import operator_of
from plaq.lqcd.action.rational import CorrectionTerm, binomial_series
from plaq.lqcd.fields import open_ends
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.inverse_root import InverseRoot
from plaq.lqcd.fields.linear_operator import LinearOperator
from plaq.lqcd.fields.solvers import solve_normal, solve_shifted
from plaq.lqcd.fields.wilson import Wilson
from plaq.lqcd.measurements.measurement import Measurement, Quantity
from plaq.lqcd.measurements.workbench import Workbench

FIRST = 1 << 21  # number of the first pseudofermion


def pair_exponents(gauge: GaugeField, target: Callable[[GaugeField], Wilson], simulated: Callable[[GaugeField], Wilson],
                   twist: float, sources: int, seed: int, number: int, residual: float) -> np.ndarray:
    r"""Return [source]: $\log$ of the factors for two equal quarks, whose mean is the estimate of w.

    $\Omega = M_s (M_t^+M_t)^{-1} M_s^+$ of the target t, and the operator s of the simulation with its ``twist`` on odd
    sites. Collective, as all below.
    """
    with gauge.frozen():
        S = gauge.operator(simulated)
        etas = [S.zeros(odd=True).pseudofermion(seed, number, FIRST + k) for k in range(sources)]
        chis, sizes, even = [S.apply_odd(eta, True, twist) for eta in etas], [e.norm2() for e in etas], S.log_det_even
        T = gauge.operator(target)
        found = [size - chi.dot(solve_normal(T, chi, residual=residual)).real for size, chi in zip(sizes, chis)]
    return np.array(found) + 2 * (T.log_det_even - even)


def root_exponents(gauge: GaugeField, matrix: Callable[[GaugeField], LinearOperator], root: InverseRoot, sources: int,
                   seed: int, number: int, residual: float) -> np.ndarray:
    r"""Return the same for a rational function R, $\Omega = (1 + Z)^{-1/2}$ with $1 + Z = \hat M^+\hat M R^2$."""
    term = CorrectionTerm(matrix, root, residual=residual)
    found = []
    with gauge.frozen():
        for k in range(sources):
            term.phi = gauge.operator(matrix).zeros(odd=True).pseudofermion(seed, number, FIRST + k)
            found.append(term.phi.norm2() - term.value(gauge))
    return np.array(found)


def mass_exponents(gauge: GaugeField, target: Callable[[GaugeField], LinearOperator],
                   simulated: Callable[[GaugeField], LinearOperator], sources: int, seed: int, number: int,
                   residual: float) -> np.ndarray:
    r"""Return the same for one quark or a doublet of other masses, $\Omega = [M_s (M_t^+M_t)^{-1} M_s^+]^{1/2}$.

    The root is a binomial series. RunError where it does not converge: the masses are too far apart.
    """
    with gauge.frozen():
        S, T = simulated(gauge), target(gauge)

        def deviation(psi):
            inner = solve_shifted(T, S.apply_odd(psi, True), [0.0], residual)[0]
            return S.apply_odd(inner).add(psi, -1.0)

        def error(share: float) -> RunError:
            found = RunError(f"no reweighting of {S} to {T}: the series of the root of their ratio does not converge, "
                             f"|Z^n psi| / |psi| is {share:.2g}; take masses that are closer")
            found.ranks = gauge.lattice.comm.size
            return found

        etas = [S.zeros(odd=True).pseudofermion(seed, number, FIRST + k) for k in range(sources)]
        found = [eta.norm2() - eta.dot(binomial_series(deviation, eta, 0.5, residual, error)).real for eta in etas]
        return np.array(found) + T.log_det_even - S.log_det_even


class Reweighting(Measurement):
    """Factors of [reweighting.NAME]."""

    family = "reweighting"

    def quantities(self) -> dict[str, Quantity]:
        sources = Axis("source", np.arange(self.table.sources))
        return {"log_factor": Quantity("log of a factor of each source, whose mean over sources is the estimate of the "
                                       "ratio of determinants, up to a constant", (sources,)),
                "plaquette": Quantity("Re tr P / 3 of the configuration")}

    def measure(self, bench: Workbench) -> Mapping[str, Any]:
        p, r, q = self.p, self.table, self.p.quarks[self.table.quarks]
        gauge, number = bench.gauge, bench.number
        plaquettes = open_ends.plaquettes(gauge) if p.lattice.boundary == "open" else gauge.plaquettes()
        matrix = operator_of(p, r.quarks)
        masses = sea.other_masses(q, r)
        target = partial(matrix.func, **matrix.keywords | masses)
        if sea.is_pair(q):
            found = pair_exponents(gauge, target, matrix, 2 * q.kappa * q.regulator, r.sources, p.seed, number,
                                   r.residual)
        elif masses:
            found = mass_exponents(gauge, target, matrix, r.sources, p.seed, number, r.residual)
        else:
            root = InverseRoot.zolotarev(q.poles or sea.POLES, *q.range)
            found = root_exponents(gauge, matrix, root, r.sources, p.seed, number, r.residual)
        return {"log_factor": found, "plaquette": sum(plaquettes) / 2}

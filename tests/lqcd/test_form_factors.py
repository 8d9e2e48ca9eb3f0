"""Three-point functions of mesons against brute force, free fields and exact conservation of charge."""

import itertools

import numpy as np
import pytest
from test_hadrons import TINY, inverse, parameters, thermal

from plaq import lqcd
from plaq.data.estimate import Estimate
from plaq.data.recorded import Recorded
from plaq.lqcd.fields import gamma
from plaq.lqcd.fields.propagators import Propagator
from plaq.lqcd.measurements.correlators import effective_mass
from plaq.lqcd.measurements.form_factor_estimates import form_factor_estimates
from plaq.lqcd.measurements.form_factors import FormFactors
from plaq.lqcd.measurements.measurement import record
from plaq.lqcd.measurements.mesons import meson_correlators
from plaq.lqcd.measurements.scales import inverse_spacing
from plaq.lqcd.measurements.workbench import Workbench

FREE = (8, 4, 2, 4)


@pytest.mark.parametrize("second", [{}, {"kappa_2": 0.1, "mu_2": 0.0}])
def test_three_point_functions_are_those_of_all_propagators(second):
    """S(x, y) Gamma S(y, 0) in place of the quark, with the whole inverse, of a pion and of a kaon."""
    gauge, sink, site, theta = thermal(TINY), 2, (3, 1, 0, 1), [1, 0.3, 0, 0]
    p = parameters(TINY, form_factors={"x": {"kappa": 0.12, "mu": 0.1, "csw": 1.0, "theta": theta, **second,
                                             "sink_times": [sink], "structures": ["gammat", "1", "sigmaxy"],
                                             "momenta": [[0, 0, 1]], "sources": [site], "residual": 1e-12}})
    found = FormFactors(p, "x").measure(Workbench(gauge, 1))
    S = inverse(lqcd.Wilson(gauge, 0.12, 0.1, theta, 1.0))
    other = lqcd.point_propagator(lqcd.Wilson(gauge, second.get("kappa_2", 0.12), second.get("mu_2", 0.1), theta, 1.0),
                                  site, 1e-12)
    for structure, k, tau in itertools.product(("gammat", "1", "sigmaxy"), (0, 1), range(4)):
        y = np.zeros(TINY, complex)
        y[(site[0] + tau) % 4] = np.exp(-2j * np.pi * k * (np.arange(2) - site[3]) / 2)
        inserted = np.einsum("txyzaiTXYZbj,bc,TXYZ,TXYZcjdk->txyzaidk", S, gamma.STRUCTURES[structure], y,
                             S[(..., *site, slice(None), slice(None))], optimize=True)
        current = Propagator.from_fields(gauge.lattice, site, inserted, theta)
        expected = 2 * 0.12 * meson_correlators(current, [("gamma5", "gamma5")], other)[0, sink, 0]
        name = f"{structure}_t{sink}" + "_p0_0_1" * k
        assert found[name][tau] == pytest.approx(expected, rel=1e-7, abs=1e-12), name
    assert found[f"ward_violation_t{sink}"] < 1e-8


def free_propagators(kappa, mu):
    """S_p(t, t'), {momentum: [t, spin, t', spin]}, of the matrices in time of all momenta in space, periodic."""
    T, one, g = FREE[0], np.eye(4), gamma.GAMMA
    found = {}
    for n in np.ndindex(FREE[1:]):
        p = [2 * np.pi * k / L for k, L in zip(n, FREE[1:])]
        M = np.zeros((T, 4, T, 4), complex)
        for t in range(T):
            M[t, :, t] = one + 2j * kappa * mu * gamma.GAMMA5 - kappa * sum(
                (one - g[j + 1]) * np.exp(1j * p[j]) + (one + g[j + 1]) * np.exp(-1j * p[j]) for j in range(3))
            M[t, :, (t + 1) % T], M[(t + 1) % T, :, t] = -kappa * (one - g[0]), -kappa * (one + g[0])
        found[n] = np.linalg.inv(M.reshape(4 * T, -1)).reshape(T, 4, T, 4)
    return found


def test_free_mesons_are_sums_over_momenta():
    """C_3 = (3/V) sum_p tr S'_p(t, 0)^+ S_p(t, tau) Gamma S_{p+q}(tau, 0), with the charge of one quark."""
    sink, q, volume = 3, (1, 0, 3), np.prod(FREE[1:])
    p = parameters(FREE, form_factors={"x": {"kappa": 0.11, "mu": 0.1, "kappa_2": 0.1, "mu_2": 0.0,
                                             "theta": [0, 0, 0, 0], "sink_times": [sink], "momenta": [q],
                                             "sources": [[5, 1, 0, 2]], "residual": 1e-12}})
    found = FormFactors(p, "x").measure(Workbench(lqcd.GaugeField(lqcd.Lattice(FREE)), 1))
    S, other = free_propagators(0.11, 0.1), free_propagators(0.1, 0.0)
    three = np.zeros(FREE[0], complex)
    for n in S:
        moved = S[tuple((a + b) % L for a, b, L in zip(n, q, FREE[1:]))]
        three += 3 / volume * 0.22 * np.einsum("ab,atc,cd,tdb->t", other[n][sink, :, 0].conj(), S[n][sink],
                                               gamma.STRUCTURES["gammat"], moved[:, :, 0])
    assert np.allclose(found[f"gammat_t{sink}_p1_0_3"], three, rtol=1e-8, atol=1e-13)
    assert found[f"ward_violation_t{sink}"] < 1e-9


def test_the_conserved_charge_of_a_heavy_meson_is_one():
    p = parameters((12, 4, 4, 4), form_factors={"x": {"kappa": 0.02, "sink_times": [4], "residual": 1e-12,
                                                      "momenta": [[0, 0, 0], [1, 0, 0]]}})
    one = FormFactors(p, "x")
    found = one.measure(Workbench(lqcd.GaugeField(lqcd.Lattice((12, 4, 4, 4))), 1))
    assert np.allclose(found["conserved_t4"][:4] / found["two_point"][4], 1, rtol=1e-8)
    rows = {name: [np.asarray(values)] * 2 for name, values in found.items()}
    series: dict[str, Recorded] = {path.rpartition("/")[2]: value for path, value in record(one, rows, 2).items()}
    scale = inverse_spacing({"loops/x/r0": Estimate("r0", 5.0, 0.1)})
    estimates, said = form_factor_estimates(p.form_factors["x"], series, p.lattice.extents, scale)
    assert "charge of the conserved vector current: off by at most " in said[0]
    # A heavy meson is a point, up to its size. Z_V of free quarks is 1 / (2 kappa) - sum_j cos p_j at all p.
    assert estimates["vector_t4_p1_0_0"].mean == pytest.approx(np.ones(5), abs=0.02)
    assert estimates["z_v_t4"].mean == pytest.approx(np.full(4, 25), abs=1)
    moving, rest = (effective_mass(found[f"two_point{of}"].real)[1] for of in ("_p1_0_0", ""))
    transfer = estimates["q_squared_t4_p1_0_0"]
    assert transfer.mean == pytest.approx((2 * np.pi / 4)**2 - (moving - rest)**2, rel=1e-12)
    assert f"Q^2 = {transfer} / a^2 = {transfer * (scale[0] * scale[0])} GeV^2 by r0 = 0.5 fm, at tau = 2" in said[-1]
    assert float(scale[0]) == pytest.approx(5 * 0.1973269804 / 0.5)

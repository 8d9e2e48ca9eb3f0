"""Valence quarks with open boundaries in time and with exponential clover terms."""

import itertools

import numpy as np
import pytest
from scipy.linalg import expm

from plaq import lqcd
from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.errors import InputError
from plaq.lqcd.fields import gamma
from plaq.lqcd.fields.propagators import Propagator
from plaq.lqcd.measurements.analysis import meson_estimates
from plaq.lqcd.measurements.baryons import Baryons, baryon_correlator, baryon_tensor
from plaq.lqcd.measurements.charges import Charges
from plaq.lqcd.measurements.correlators import AXIAL
from plaq.lqcd.measurements.form_factors import FormFactors
from plaq.lqcd.measurements.hadrons import Mesons
from plaq.lqcd.measurements.workbench import Workbench

FREE = (12, 2, 4, 2)
SITE = (4, 1, 2, 0)
TINY = (6, 2, 2, 2)


def parameters(extents, boundary="open", **tables):
    return lqcd.Parameters(lattice={"extents": extents, "boundary": boundary},
                           measure={"configurations": ["conf"]}, **tables)


def free_propagator(extents, site, kappa, mu, theta, cF):
    """[t, x, y, z, spin, colour, spin, colour] by sums over momenta in space of inverses of matrices in time.

    M is a matrix of the slices 0 < t < T - 1, on the others the propagator is zero. As in `Propagator`, without the
    phases of theta between source and site.
    """
    T, space, one, g = extents[0], extents[1:], np.eye(4), gamma.GAMMA
    found, sites = np.zeros((*extents, 4, 4), complex), np.indices(space)
    for k in itertools.product(*map(range, space)):
        p = [(2 * np.pi * n + np.pi * turn) / L for n, turn, L in zip(k, theta[1:], space)]
        here = one + 2j * kappa * mu * gamma.GAMMA5 - kappa * sum(
            (one - g[j + 1]) * np.exp(1j * p[j]) + (one + g[j + 1]) * np.exp(-1j * p[j]) for j in range(3))
        M = np.zeros((T - 2, 4, T - 2, 4), complex)
        for t in range(T - 2):
            M[t, :, t] = here + (t in (0, T - 3)) * 2 * kappa * (cF - 1) * one
            if t:
                M[t, :, t - 1], M[t - 1, :, t] = -kappa * (one + g[0]), -kappa * (one - g[0])
        S = np.linalg.inv(M.reshape(4 * (T - 2), -1)).reshape(T - 2, 4, T - 2, 4)[:, :, site[0] - 1]
        wave = np.exp(2j * np.pi * sum(n * (x - y) / L for n, x, y, L in zip(k, sites, site[1:], space)))
        found[1:-1] += np.multiply.outer(S, wave).transpose(0, 3, 4, 5, 1, 2) / np.prod(space)
    return np.einsum("...ab,ij->...aibj", found, np.eye(3))


def test_free_quarks_with_open_boundaries_are_sums_over_momenta():
    """Mesons, baryons and three-point functions, with t from the source on; behind it there is no other way round."""
    quark = {"kappa": 0.115, "mu": 0.05, "theta": [1, 0.3, 0, 0], "cF": 1.2, "sources": [SITE], "residual": 1e-12}
    p = parameters(FREE, mesons={"x": {**quark, "structures": ["gamma5", "gammax"]}}, baryons={"x": quark},
                   charges={"x": {**quark, "sink_times": [3], "structures": ["gammat"]}},
                   form_factors={"x": {**quark, "sink_times": [3]}})
    bench = Workbench(lqcd.GaugeField(lqcd.Lattice(FREE)).hot(seed=1), 1)
    links = bench.gauge.local()
    links[:] = np.eye(3)
    links[-1, ..., 0, :, :] = bench.gauge.local()[-1, ..., 0, :, :]  # those that leave the lattice are in no action
    bench.gauge.set_local(links)
    lines = [Propagator(bench.gauge.lattice, SITE, free_propagator(FREE, SITE, 0.115, mu, (0, 0.3, 0, 0), 1.2))
             for mu in (0.05, -0.05)]
    mesons = Mesons(p, "x")
    found = mesons.measure(bench)
    assert mesons.quantities()["gamma5"].axes[0].values.tolist() == list(range(-4, 8))
    for name in ("gamma5", "gammax"):
        expected = np.roll(lqcd.meson_correlator(lines[0], name), 4)
        assert np.allclose(found[name], expected, rtol=1e-9, atol=1e-13) and expected[0] == expected[-1] == 0
    assert found["ward_violation"] < 1e-10 and found["gamma5"][4] == found["gamma5"].max()
    nucleon = np.roll(baryon_correlator(baryon_tensor([lines[0], lines[0], lines[1]])[0]), 4)
    assert np.allclose(Baryons(p, "x").measure(bench)["nucleon"], nucleon, rtol=1e-9, atol=1e-13)
    charges = Charges(p, "x").measure(bench)
    assert np.allclose(charges["two_point"], nucleon, rtol=1e-9, atol=1e-13)
    for flavour, number in (("u", 2), ("d", 1)):
        ratio = charges[f"{flavour}_conserved_t3"] / nucleon[4 + 3]
        assert np.allclose(ratio, np.where((np.arange(-4, 8) >= 0) & (np.arange(-4, 8) < 3), number, 0), atol=1e-7)
    pion = FormFactors(p, "x").measure(bench)
    assert np.allclose(pion["two_point"], np.roll(lqcd.meson_correlator(lines[0]), 4), rtol=1e-9, atol=1e-13)
    ratio = pion["conserved_t3"] / pion["two_point"][4 + 3]
    assert np.allclose(ratio, (np.arange(-4, 8) >= 0) & (np.arange(-4, 8) < 3), atol=1e-9)


def dense(matrix):
    """M [site spin colour, site spin colour] of an operator."""
    field, size = lqcd.SpinorField(matrix.lattice), int(np.prod(TINY)) * 12
    columns = [matrix(field.set_local(row.reshape(*TINY, 4, 3))).local().ravel()
               for row in np.eye(size, dtype=complex)]
    return np.array(columns).T


@pytest.mark.parametrize("boundary", ["periodic", "open"])
def test_exponential_clover_terms_are_those_of_dense_matrices(boundary):
    """exp of the blocks by which the operators with a clover term and without differ."""
    gauge = lqcd.GaugeField(lqcd.Lattice(TINY)).hot(seed=1)
    for sweep in range(4):
        gauge.heat_bath(beta=5.8, seed=1, sweep=sweep)
    theta, is_open = (0 if boundary == "open" else 1, 0, 0, 0), boundary == "open"
    linear, plain = (dense(lqcd.Wilson(gauge, 0.12, 0.1, theta, csw, open_ends=is_open)) for csw in (1.3, 0.0))
    M = plain.copy()
    for block in (slice(i, i + 12) for i in range(0, len(M), 12)):
        M[block, block] += expm(linear[block, block] - plain[block, block]) - np.eye(12)
    columns = np.zeros((*TINY, 4, 3, 12), complex)
    columns[2, 1, 0, 1] = np.eye(12).reshape(4, 3, 12)
    S = np.linalg.solve(M, columns.reshape(-1, 12)).reshape(*TINY, 4, 3, 4, 3)
    expected = lqcd.meson_correlator(Propagator.from_fields(gauge.lattice, (2, 1, 0, 1), S, theta))
    p = parameters(TINY, boundary, mesons={"x": {"kappa": 0.12, "mu": 0.1, "csw": 1.3, "clover": "exponential",
                                                 "sources": [[2, 1, 0, 1]], "residual": 1e-12}})
    found = Mesons(p, "x").measure(Workbench(gauge, 1))
    assert np.allclose(found["gamma5"], np.roll(expected, 2 * is_open), rtol=1e-9)
    assert found["ward_violation"] < 1e-10


def estimates_of(first, fit_from=2, T=24, mass=0.4, pcac=0.05):
    """Averages of a table whose correlators have one state with this mass and the amplitude 1."""
    p = parameters((T, 4, 4, 4), mesons={"x": {"kappa": 0.13, "source_time": first, "fit_from": fit_from}})
    t, rng = np.arange(T) - first, np.random.default_rng(1)
    pp = np.exp(-mass * np.abs(t)) * (1 + 1e-3 * rng.normal(size=(200, T))) * ((t > -first) & (t < T - 1 - first))
    of_time = {"gamma5": pp, AXIAL: -2 * pcac / np.sinh(mass) * np.sign(t) * pp}
    series = {name: Recorded(name, of_time.get(name, np.zeros((200, *(axis.size for axis in q.axes)))),
                             (Axis("configuration", np.arange(1, 201)), *q.axes))
              for name, q in Mesons(p, "x").quantities().items()}
    return meson_estimates(p.mesons["x"], series)


def test_averages_with_open_boundaries_know_that_nothing_comes_back():
    """Masses of exponentials, PCAC mass and decay constant, of t from the source on."""
    found, said = estimates_of(11)
    assert found["gamma5"].axes[0].values.tolist() == list(range(12))
    for name, value in (("mass_gamma5", 0.4), ("fit_gamma5", 0.4), ("pcac_mass", 0.05), ("amplitude_gamma5", 1),
                        ("f_ps", 0.1 * np.sqrt(2 * 4 * 0.13**2 / 0.4**3))):
        e = found[name]
        assert (np.abs(e.mean - value) < 5 * e.error).all() and (e.error < 0.01 * value).all(), name
    assert found["pcac_mass"].axes[0].values.tolist() == list(range(2, 11))
    assert any("from an exp for t >= 2" in one for one in said)
    found, said = estimates_of(2)
    assert "f_ps" not in found and any(one.startswith("no decay constant: sources at t = 2 are nearer") for one in said)


@pytest.mark.parametrize("tables, words", [
    ({"mesons": {"x": {"kappa": 0.1}}}, 'mesons.x.source_time is missing: with lattice.boundary = "open" it is '
                                        "a time slice from 1 to T - 2 = 10"),
    ({"baryons": {"x": {"kappa": 0.1, "sources": [[3, 0, 0, 0], [4, 0, 0, 0]]}}}, "baryons.x.sources = "),
    ({"mesons": {"x": {"kappa": 0.1, "source_time": 11}}}, "mesons.x.source_time = 11 is not allowed"),
    ({"mesons": {"x": {"kappa": 0.1, "source_time": 4, "fit_from": 2}}}, "begins at most at 1"),
    *(({family: {"x": {"kappa": 0.1, "source_time": 4, "sink_times": [7]}}}, "from t = 4 they are at most 6")
      for family in ("charges", "form_factors")),
    ({"disconnected": {"x": {"kappa": 0.1}}}, "[disconnected.x] is not allowed"),
    ({"flow": {"x": {"time": 0.1}}}, "[flow.x] is not allowed"),
    ({"mesons": {"x": {"kappa": 0.1, "source_time": 4, "csw": 1, "clover": "exponential", "cF": 1.1}}},
     'mesons.x.cF = 1.1 is not allowed with clover = "exponential"'),
])
def test_what_open_boundaries_do_not_allow_is_refused(tables, words):
    with pytest.raises(InputError) as refused:
        parameters(FREE, **tables)
    assert words in str(refused.value)


@pytest.mark.parametrize("key, words", [({"source_time": 12}, "source_time = 12 is not allowed with lattice.extents"),
                                        ({"source_time": 2, "sources": [[1, 0, 0, 0]]}, "with a list of sources"),
                                        ({"cF": 1.1}, "mesons.x.cF = 1.1 is not allowed with lattice.boundary"),
                                        ({"clover": "exponential"}, "exponential\" is not allowed with csw = 0")])
def test_keys_of_valence_quarks_that_contradict_are_refused(key, words):
    with pytest.raises(InputError) as refused:
        parameters(FREE, "periodic", mesons={"x": {"kappa": 0.1, **key}})
    assert words in str(refused.value)

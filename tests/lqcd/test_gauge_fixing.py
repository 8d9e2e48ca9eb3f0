"""Landau and Coulomb gauge, and flows of improved actions, against numpy."""

import numpy as np
import pytest
from command_line import run_plaq

from plaq import lqcd
from plaq.errors import InputError, RunError
from plaq.lqcd.files.info import describe

EXTENTS = (6, 4, 4, 4)


def smooth_field(lattice, seed=1):
    gauge = lqcd.GaugeField(lattice).hot(seed)
    for sweep in range(20):
        gauge.heat_bath(7.0, seed, sweep)
    return gauge


def turned(gauge, seed):
    """The field after a random gauge transformation."""
    rng, extents = np.random.default_rng(seed), gauge.lattice.extents
    g = np.linalg.qr(rng.normal(size=(*extents, 3, 3)) + 1j * rng.normal(size=(*extents, 3, 3)))[0]
    g /= np.linalg.det(g)[..., None, None] ** (1 / 3)
    U = gauge.local()
    for mu in range(4):
        U[..., mu, :, :] = g @ U[..., mu, :, :] @ np.roll(g, -1, axis=mu).conj().swapaxes(-1, -2)
    return gauge.copy().set_local(U)


def functional_and_theta(U, lowest):
    """Both from links [t, x, y, z, mu, 3, 3]."""
    A = (U - U.conj().swapaxes(-1, -2)) / 2j
    A = A - np.trace(A, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) / 3
    divergence = sum(A[..., mu, :, :] - np.roll(A[..., mu, :, :], 1, axis=mu) for mu in range(lowest, 4))
    functional = np.trace(U[..., lowest:, :, :], axis1=-2, axis2=-1).real.mean() / 3
    return functional, (np.abs(divergence)**2).sum(axis=(-2, -1)).mean() / 3


@pytest.mark.parametrize("gauge_name, lowest", [("landau", 0), ("coulomb", 1)])
def test_a_gauge_is_fixed(gauge_name, lowest):
    """Invariants stay, theta vanishes, and a transformed field has the same maximum."""
    start = smooth_field(lqcd.Lattice(EXTENTS))
    found = []
    for field in (start, turned(start, 2)):
        fixed = field.copy()
        quality = fixed.fix(gauge_name, 1e-22, sweeps=3000)
        assert fixed.plaquettes() == pytest.approx(start.plaquettes(), abs=1e-13)
        assert fixed.polyakov_loop() == pytest.approx(start.polyakov_loop(), abs=1e-13)
        assert np.allclose(fixed.wilson_loops(2, 3), start.wilson_loops(2, 3), atol=1e-13)
        assert fixed.unitarity_violation() < 1e-14 and quality.theta < 1e-22 and quality.sweeps % 10 == 0
        F, theta = functional_and_theta(fixed.local(), lowest)
        assert quality.functional == pytest.approx(F, abs=1e-14) and theta < 1e-22
        assert fixed.gauge_quality(gauge_name).theta == quality.theta
        found.append(quality.functional)
    assert found[0] > functional_and_theta(start.local(), lowest)[0] + 0.1
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    F, theta = functional_and_theta(start.local(), lowest)
    assert start.gauge_quality(gauge_name).functional == pytest.approx(F, abs=1e-14)
    assert start.gauge_quality(gauge_name).theta == pytest.approx(theta, rel=1e-12)


def test_a_transformed_unit_field_becomes_one_again():
    """Its maximum F = 1 is the only one."""
    field = turned(lqcd.GaugeField(lqcd.Lattice(EXTENTS)), 3)
    assert field.fix("landau", 1e-26).functional == pytest.approx(1, abs=1e-13)


def test_a_file_is_written_in_a_gauge(tmp_path):
    """With its quality in the texts, the same on two ranks."""
    lqcd.write_ildg(tmp_path / "conf", smooth_field(lqcd.Lattice(EXTENTS)))
    for ranks, name in ((None, "one"), (2, "two")):
        done = run_plaq("lqcd", "fix", "conf", "--out", name, "--gauge", "coulomb", folder=tmp_path, ranks=ranks)
        assert done.returncode == 0, done.stderr
        assert f"{name}: coulomb gauge, functional 0." in done.stdout and done.stdout.count("theta") == 1
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    fixed = lqcd.read_ildg(tmp_path / "one", lqcd.Lattice(EXTENTS))
    assert fixed.gauge_quality("coulomb").theta < 1e-12
    assert "gauge = coulomb" in describe(tmp_path / "one")
    done = run_plaq("lqcd", "fix", "conf", "--out", "conf", folder=tmp_path)
    assert done.returncode == 2 and "conf: is the configuration itself" in done.stderr


def test_a_run_fixes_the_gauge_before_it_measures():
    """Sources on walls see it, invariants do not; series have its quality."""
    p = lqcd.Parameters(lattice={"extents": [4, 4, 4, 4]}, action={"beta": 6.0},
                        updates={"thermalisation": 2, "configurations": 2, "sweeps": 1},
                        mesons={"wall": {"kappa": 0.12, "source": "wall", "residual": 1e-8},
                                "point": {"kappa": 0.12, "residual": 1e-8}})
    plain, fixed = lqcd.run(p), lqcd.run(p.replace(fixing={"gauge": "coulomb"}))
    series = lambda results, name: results.recorded[name].values  # noqa: E731
    assert np.all(series(fixed, "fixing/theta") < 1e-12) and np.all(series(fixed, "fixing/functional") > 0.6)
    assert "coulomb gauge: theta is at most" in fixed.sentences[-1] and "fixing/theta" not in plain.recorded
    for name, same in (("plaquette", True), ("mesons/point/gamma5", True), ("mesons/wall/gamma5", False)):
        assert np.allclose(series(plain, name), series(fixed, name), rtol=1e-5) == same


def test_gauges_that_cannot_be():
    field = lqcd.GaugeField(lqcd.Lattice((4, 4, 4, 4))).hot(1)
    with pytest.raises(InputError, match="'axial' is not one of landau, coulomb"):
        field.fix("axial")
    with pytest.raises(InputError, match="over-relaxation has 1 <= omega < 2, not 2"):
        field.fix(relaxation=2.0)
    with pytest.raises(RunError, match=r"landau gauge: theta = \S+ after 10 sweeps, not below 1e-12"):
        field.fix(sweeps=10)
    with pytest.raises(InputError, match="the flow 'zeuten' is not one of wilson, symanzik, zeuthen"):
        field.flow(0.1, kind="zeuten")
    with pytest.raises(InputError, match="rectangles"):
        lqcd.GaugeField(lqcd.Lattice((4, 4, 4, 2))).flow(0.1, kind="symanzik")


@pytest.mark.parametrize("kind", ["wilson", "symanzik", "zeuthen"])
def test_a_weak_plane_wave_flows_as_its_action_says(kind):
    r"""dA_mu/dt = -(1 - z p_mu^2 / 12) sum_nu [1 - c1 (p_mu^2 + p_nu^2)] (p_nu^2 A_mu - p_mu p_nu A_nu), p = 2 sin."""
    lattice, time, size = lqcd.Lattice((8, 4, 6, 4)), 0.05, 1e-5
    x = np.meshgrid(*map(np.arange, lattice.extents), indexing="ij")
    k = 2 * np.pi * np.array([1, 1, 2, 0]) / lattice.extents
    p, phase = 2 * np.sin(k / 2), sum(k[mu] * x[mu] for mu in range(4))

    def wave(A):
        angle = size * np.stack([A[mu] * np.cos(phase + k[mu] / 2) for mu in range(4)], axis=-1)
        return np.exp(1j * angle[..., None] * [1, -1, 0])[..., None] * np.eye(3)

    c1, z = (0 if kind == "wilson" else -1 / 12), kind == "zeuthen"
    K = np.zeros((4, 4))
    for mu in range(4):
        for nu in set(range(4)) - {mu}:
            weight = (1 - z * p[mu]**2 / 12) * (1 - c1 * (p[mu]**2 + p[nu]**2))
            K[mu, mu] += weight * p[nu]**2
            K[mu, nu] -= weight * p[mu] * p[nu]
    A = np.array([0.3, -1.0, 0.7, 0.5])
    values, vectors = np.linalg.eig(K)
    expected = (vectors * np.exp(-time * values)) @ np.linalg.solve(vectors, A)
    field = lqcd.GaugeField(lattice).set_local(wave(A))
    field.flow(time, 0.01, kind)
    angles = np.angle(field.local()[..., 0, 0]) / size
    found = [2 * np.mean(angles[..., mu] * np.cos(phase + k[mu] / 2)) for mu in range(4)]
    assert np.allclose(found, expected, atol=3e-7)

"""Walls of the Schroedinger functional: classical fields, the action's derivatives, weak coupling, runs."""

import math
from contextlib import nullcontext

import numpy as np
import pytest
from command_line import run_plaq

from plaq import lqcd
from plaq.data import results_file
from plaq.errors import InputError
from plaq.lqcd.action.hmc import TimeScale, trajectory
from plaq.lqcd.action.terms import WallTerm, doublet
from plaq.lqcd.fields import gamma
from plaq.lqcd.fields.momenta import Momenta
from plaq.lqcd.fields.schroedinger import Walls, background_slope
from plaq.lqcd.measurements.walls import Lines, pcac_mass

INPUT = """[lattice]
extents = [6, 4, 4, 4]
boundary = "schroedinger"
[action]
beta = 40
[schroedinger]
ct = 0.95
nu = 0.3
[walls.light]
kappa = 0.12
csw = 1.2
residual = 1e-6
every = 10
[updates]
thermalisation = 20
configurations = 40
sweeps = 1
over_relaxations = 2
save_every = 20
"""


THETA = (0.25, 0.0, -0.5)


def disturbed(walls, size):
    """The classical field with links between the walls moved at random."""
    gauge = walls.background()
    Momenta(walls.lattice).gaussian(1, 0).move(gauge, size)
    return walls.impose(gauge)


def slopes(walls, gauge, beta):
    """Derivatives of the gauge action."""
    force = Momenta(walls.lattice)
    WallTerm(beta, lambda _: walls).kick(force, gauge, -1.0)
    return walls.derivatives(force)


@pytest.mark.parametrize("T, L", [(4, 4), (2, 4), (6, 2), (3, 4)])
def test_the_classical_field_has_the_known_action(T, L):
    """Least, with the walls' links, and the known derivative k / g^2 (Luescher et al., hep-lat/9309005)."""
    beta, lattice = 6.0, lqcd.Lattice((T + 2 - T % 2, L, L, L))
    walls = Walls(lattice, distance=T)
    gauge, gamma = walls.background(), math.pi / (3 * T * L)
    assert np.array_equal(walls.impose(gauge.copy()).array, gauge.array)
    fluxes = np.diff(walls.angles(), axis=0) / (T * L)
    assert np.isclose(walls.action(gauge, beta), beta * T * L**3 * (1 - np.cos(fluxes)).sum(), rtol=1e-12)
    slope, mixed = slopes(walls, gauge, beta)
    assert np.isclose(slope, background_slope(T, L) * beta / 6, rtol=1e-12) and abs(mixed) < 1e-9
    assert np.isclose(background_slope(T, L), 12 * L**2 * (math.sin(gamma) + math.sin(2 * gamma)))
    temporal, spatial = walls.plaquettes(gauge)
    assert np.isclose(temporal, np.cos(fluxes).mean()) and np.isclose(spatial, 1)
    assert walls.action(disturbed(walls, 0.01), beta) > walls.action(gauge, beta)


@pytest.mark.parametrize("eta, nu", [(0.0, 0.3), (0.2, -0.4)])
def test_derivatives_are_those_of_the_action(eta, nu):
    lattice, beta, step = lqcd.Lattice((6, 4, 4, 4)), 7.0, 1e-4
    gauge = disturbed(Walls(lattice, "coupling", eta, nu, 0.9), 0.3)

    def action(eta, nu):
        walls = Walls(lattice, "coupling", eta, nu, 0.9)
        return walls.action(walls.impose(gauge.copy()), beta)

    def slope(nu):
        return slopes(Walls(lattice, "coupling", 0.0, nu, 0.9), at_zero, beta)[0]

    first = slopes(Walls(lattice, "coupling", eta, nu, 0.9), gauge, beta)[0]
    assert np.isclose(first, (action(eta + step, nu) - action(eta - step, nu)) / (2 * step), rtol=1e-6)
    at_zero = Walls(lattice).impose(gauge.copy())
    assert np.isclose(slopes(Walls(lattice, ct=0.9), at_zero, beta)[1], slope(1.0) - slope(0.0), rtol=1e-9)


def test_updates_move_the_links_between_the_walls_alone():
    lattice = lqcd.Lattice((6, 4, 4, 4))
    walls = Walls(lattice, ct=0.8)
    gauge = walls.impose(lqcd.GaugeField(lattice).hot(1))
    before, action = gauge.local(), walls.action(gauge, 6.0)
    walls.over_relax(gauge)
    assert np.isclose(walls.action(gauge, 6.0), action, rtol=1e-12)
    walls.heat_bath(gauge, 6.0, 1, 0)
    moved = np.abs(gauge.local() - before).max(axis=(-2, -1)) > 0
    expected = np.zeros_like(moved)
    expected[:4, ..., 0] = True
    expected[1:4, ..., 1:] = True
    assert np.array_equal(moved, expected)
    assert np.array_equal(walls.impose(gauge.copy()).array, gauge.array) and gauge.unitarity_violation() < 1e-13


def test_free_quarks_are_those_of_one_dimension():
    """f_A, f_P and f_1 at momentum pi theta / L, from the matrix of time slices and spins; at rest (1 + m)^-2t."""
    L, kappa, ct = 4, 0.12, 0.9
    g, one = gamma.GAMMA, np.eye(4)
    for T, theta in ((5, THETA), (6, THETA), (6, (0.0, 0.0, 0.0))):
        n, spare = T - 1, 1 - T % 2
        gauge = lqcd.GaugeField(lqcd.Lattice((T + 1 + spare, L, L, L)))
        p = np.pi * np.array(theta) / L
        local = (1 / (2 * kappa) - 4 + 1 + np.sum(1 - np.cos(p))) * one + 1j * np.einsum("k,kab->ab", np.sin(p), g[1:])
        ends = np.diag(np.isin(np.arange(n), (0, n - 1)).astype(float))
        D = (np.kron(np.eye(n), local) + (ct - 1) * np.kron(ends, one)
             - np.kron(np.eye(n, k=1), (one - g[0]) / 2) - np.kron(np.eye(n, k=-1), (one + g[0]) / 2))
        source = np.kron(np.eye(n)[:, :1], (one + g[0]) / 2)
        H = ct * np.linalg.solve(D, source).reshape(n, 4, 4)
        f_p = 3 * np.einsum("tab,tab->t", H.conj(), H).real / 2
        f_a = -3 * np.einsum("tab,ac,tcb->t", H.conj(), g[0], H).real / 2
        K = ct * (one + g[0]) / 2 @ H[-1]
        matrix = lqcd.Wilson(gauge, kappa, 0.0, (0, *theta), 1.7, open_ends=True, cF=ct, spare=spare)
        for sign in (1, -1):
            lines = Lines(matrix, gauge, sign, 1e-11)
            found = lines.correlators()
            assert np.allclose(found[0], f_a, rtol=1e-9) and np.allclose(found[1], f_p, rtol=1e-9)
            assert np.isclose(np.sum(np.abs(lines.across()) ** 2), 3 * np.sum(np.abs(K) ** 2), rtol=1e-9)
    assert np.isclose(f_p[2] / f_p[1], (1 + 1 / (2 * kappa) - 4) ** -2)
    masses = pcac_mass(np.stack([f_a, f_p], axis=1), 0.0)
    assert np.isclose(masses[1], ((1 + 1 / (2 * kappa) - 4)**2 - (1 + 1 / (2 * kappa) - 4)**-2) / 4)


def test_quarks_cross_from_either_wall_alike():
    """K of one wall is the adjoint of the other's, with clover term in a rough field of the walls' links."""
    walls = Walls(lqcd.Lattice((6, 4, 4, 4)))
    gauge = disturbed(walls, 0.4)
    matrix = lqcd.Wilson(gauge, 0.13, 0.0, (0, *THETA), 1.5, open_ends=True, cF=0.9, spare=1)
    there, back = (Lines(matrix, gauge, sign, 1e-11).across() for sign in (1, -1))
    assert np.allclose(np.linalg.svd(there, compute_uv=False), np.linalg.svd(back, compute_uv=False), rtol=1e-9)


def test_slices_behind_the_walls_do_not_count():
    """The operator on 6 slices is that on 8 with two spare ones, clover term and all."""
    rng, operators = np.random.default_rng(1), []
    links = lqcd.GaugeField(lqcd.Lattice((8, 2, 2, 2))).hot(3).local()
    psi = rng.normal(size=(8, 2, 2, 2, 4, 3)) + 1j * rng.normal(size=(8, 2, 2, 2, 4, 3))
    for slices, spare in ((8, 2), (6, 0)):
        lattice = lqcd.Lattice((slices, 2, 2, 2))
        gauge = lqcd.GaugeField(lattice).set_local(links[:slices])
        matrix = lqcd.Wilson(gauge, 0.13, 0.2, (0, *THETA), 1.5, open_ends=True, cF=0.9, spare=spare)
        operators.append(matrix(lqcd.SpinorField(lattice).set_local(psi[:slices])).local()[1:5])
    assert np.allclose(*operators, rtol=1e-13)


MORE = {"open_ends": True, "cF": 0.9, "spare": 1}


def test_quarks_with_clover_term_contribute_to_the_derivative():
    """By the links of the walls in the field strength: against the change of the pseudofermion action and log det."""
    lattice, step = lqcd.Lattice((6, 2, 2, 2)), 1e-4
    gauge = disturbed(Walls(lattice), 0.3)
    for term in (terms for group in doublet(0.13, 0.0, (0, *THETA), (), 1.5, more=MORE, residual=1e-13,
                                            force_residual=1e-13, precision="double") for terms in group):
        term.begin(gauge, 1, 1)
        force = Momenta(lattice)
        term.kick(force, gauge, -1.0)
        values = [term.value(Walls(lattice, eta=eta).impose(gauge.copy())) for eta in (step, -step)]
        assert np.isclose(Walls(lattice).derivatives(force)[0], (values[0] - values[1]) / (2 * step), rtol=1e-5)


def test_trajectories_conserve_h_and_leave_the_walls():
    """Delta H falls with the step squared, with quarks and clover term."""
    lattice = lqcd.Lattice((6, 2, 2, 2))
    walls, changes = Walls(lattice, ct=0.9), []
    for steps in (8, 16):
        gauge = disturbed(walls, 0.3)
        terms = [term for group in doublet(0.13, 0.0, (0, *THETA), (), 1.5, more=MORE) for term in group]
        result = trajectory(gauge, [TimeScale((*terms, WallTerm(6.0, lambda _: walls)), steps, "leapfrog")], 0.5, 1, 0,
                            always=True, reverse=True, moving=walls.moving())
        changes.append(result.delta_h)
        assert max(map(abs, result.returned)) < 1e-9
        assert np.allclose(walls.impose(gauge.copy()).array, gauge.array, atol=1e-14)
    assert 3 < changes[0] / changes[1] < 5


def test_a_run_finds_the_coupling_and_stops_and_resumes(tmp_path):
    (tmp_path / "input.toml").write_text(INPUT)
    kind = results_file.format_of("plaq lqcd")
    run = lambda *more, **options: run_plaq("lqcd", "run", "input.toml", *more, folder=tmp_path, timeout=600, **options)
    assert run("--set", "updates.configurations=15", "--out", "part").returncode == 0
    done = run("--out", "part", "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert run("--out", "ranks", ranks=2).returncode == 0
    digests = [results_file.digest_of(tmp_path / f"{name}/results.h5", kind) for name in ("part", "ranks")]
    assert digests[0] == digests[1]
    findings, *_ = results_file.read(tmp_path / "part/results.h5", kind)
    coupling = findings["schroedinger/coupling"]
    assert abs(coupling.mean - 0.15 * (1 + 0.15 * 0.5)) < 0.01  # g0^2 and its first correction
    assert any("coupling of the Schroedinger functional" in sentence for sentence in findings.answers())
    assert findings["walls/light/f_p"].mean.shape == (3,) and findings["walls/light/z_p"].mean > 0
    measured = run_plaq("lqcd", "measure", "input.toml", "part/conf.000040", "--set", "walls.light.every=1", "--out",
                        "measured", folder=tmp_path)
    assert measured.returncode == 0, measured.stderr
    assert "not used: [updates]" in " ".join(measured.stdout.split())
    again, *_ = results_file.read(tmp_path / "measured/results.h5", kind)
    assert np.isclose(again.recorded["walls/light/f_1"].values[0], findings.recorded["walls/light/f_1"].values[-1],
                      rtol=1e-5)
    assert np.isclose(again.recorded["schroedinger/ds_deta"].values[0],
                      findings.recorded["schroedinger/ds_deta"].values[-1], rtol=1e-12)


@pytest.mark.parametrize("old, new, message", [
    ("[updates]", '[quarks.a]\nkappa = 0.13\nmu = 0.1\nepsilon = 0.05\nrange = [0.1, 5]\n[updates]',
     "quarks.a.epsilon = 0.05 is not allowed"),
    ("beta = 40", 'beta = 6\ngauge = "iwasaki"', 'it needs "wilson"'),
    ("4, 4, 4]", "4, 4, 6]", "X, Y and Z are equal"),
    ("ct = 0.95", "T = 3", "it is 5 or 4"),
    ("ct = 0.95", 'field = "zero"', "not allowed with eta or nu"),
    ('boundary = "schroedinger"', "", r"\[walls.light\] is not allowed with lattice.boundary"),
    (INPUT[INPUT.index("[walls"):INPUT.index("[updates]")], "", None),
    (INPUT, INPUT.split("[walls")[0].replace('boundary = "schroedinger"', ""), "schroedinger.nu = 0.3 is not allowed"),
    ("[updates]", "[flow.a]\ntime = 1\n[updates]", r"\[flow.a\] is not allowed"),
    ("[updates]", '[fixing]\ngauge = "landau"\n[updates]', "it is for periodic lattices"),
])
def test_inputs_that_walls_contradict_are_refused(tmp_path, old, new, message):
    (tmp_path / "input.toml").write_text(INPUT.replace(old, new))
    with pytest.raises(InputError, match=message) if message else nullcontext():
        lqcd.Parameters.read(tmp_path / "input.toml")

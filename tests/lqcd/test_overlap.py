"""The overlap operator against dense matrices, free fields, exact identities and the gluonic charge."""

import numpy as np
import pytest
from command_line import run_plaq

from plaq import _core, lqcd
from plaq.data import results_file
from plaq.errors import InputError, RunError
from plaq.lqcd.fields.overlap import Overlap, find_low_modes, overlap_propagators, project, solve_overlap
from plaq.lqcd.measurements.mesons import meson_correlator
from plaq.lqcd.measurements.overlap import trace_at_source

INPUT = """[lattice]
extents = [4, 2, 2, 4]
[action]
beta = 5.7
[updates]
thermalisation = 2
configurations = 1
[overlap.a]
masses = [2]
low_modes = 1
error = 1e-4
residual = 1e-2
stout_steps = 1
"""
TINY = (4, 2, 2, 2)
THETA = (1, 0, 0.3, 0)
RHO = 1.3


def thermal(extents, seed=1, sweeps=6, beta=5.7):
    gauge = lqcd.GaugeField(lqcd.Lattice(extents)).hot(seed=seed)
    for sweep in range(sweeps):
        gauge.heat_bath(beta=beta, seed=seed, sweep=sweep)
    return gauge


def dense(lattice, apply):
    """The matrix of an operator, [(x, spin, colour), (y, spin, colour)]."""
    shape = (*lattice.extents, 4, 3)
    size = int(np.prod(shape))
    out = np.zeros((size, size), complex)
    for i in range(size):
        eta = np.zeros(size, complex)
        eta[i] = 1
        out[:, i] = apply(lqcd.SpinorField(lattice).set_local(eta.reshape(shape))).local().ravel()
    return out


@pytest.fixture(scope="module", params=[1, 4])
def rough(request):
    """A gauge field, its operator, and the dense sign function."""
    gauge = thermal(TINY, request.param)
    kernel = lqcd.Wilson(gauge, 1 / (8 - 2 * RHO), 0.0, THETA)
    values, vectors = np.linalg.eigh(dense(gauge.lattice, lambda psi: kernel(psi).gamma5()))
    assert np.abs(values).min() > 1e-3
    return Overlap(gauge, RHO, THETA, low_modes=6), values, (vectors * np.sign(values)) @ vectors.conj().T


def gamma5(matrix):
    """gamma5 times a dense matrix."""
    signs = np.broadcast_to(np.array([1, 1, -1, -1])[:, None], (*TINY, 4, 3)).ravel()
    return signs[:, None] * matrix


def test_the_operator_is_that_of_the_dense_sign_function(rough):
    D, values, sign = rough
    low = np.sort(np.abs(values))[:6] / (2 * D.kernel.kappa)
    assert np.allclose(np.abs(D.kernel_eigenvalues), low, rtol=1e-10)
    psi = lqcd.SpinorField(D.lattice).gaussian(3)
    v = psi.local().ravel()
    for error in (1e-10, 1e-5, 1e-2):
        off = np.linalg.norm(D.sign(psi, error).local().ravel() - sign @ v) / np.linalg.norm(v)
        assert off < error
    mass = 0.2
    matrix = (RHO + mass / 2) * np.eye(len(v)) + (RHO - mass / 2) * gamma5(sign)
    for dagger in (False, True):
        found = D(psi, mass, dagger).local().ravel()
        assert np.allclose(found, (matrix.conj().T if dagger else matrix) @ v, atol=1e-9)
    assert D.violation(psi) < 1e-9
    for chirality in (1, -1):
        half = project(psi.copy(), chirality)
        massless = RHO * (np.eye(len(v)) + gamma5(sign))
        assert np.allclose(D.normal(half, chirality).local().ravel(),
                           massless.conj().T @ massless @ half.local().ravel(), atol=1e-8)


def test_the_index_is_that_of_the_dense_sign_function(rough):
    """With the smallest eigenvalues, of both chiralities."""
    D, _, sign = rough
    modes = find_low_modes(D, 4)
    assert modes.index == round(np.trace(sign).real / 2)
    massless = RHO * (np.eye(len(sign)) + gamma5(sign))
    sizes = np.sort(np.linalg.svd(massless, compute_uv=False))
    sizes = sizes[sizes > 1e-6]
    assert np.allclose(modes.values(4), sizes[[0, 2, 4, 6]], rtol=1e-6)  # each with both chiralities


def test_solutions_of_all_masses_are_those_of_dense_matrices(rough):
    """Without eigenvectors and with them, and the relation of pion and condensate."""
    D, _, sign = rough
    masses = (0.05, 0.3, 1.0)
    eta = lqcd.SpinorField(D.lattice).gaussian(5)
    v, modes = eta.local().ravel(), find_low_modes(D, 3)
    for given in (None, modes):
        for mass, psi in zip(masses, solve_overlap(D, eta, masses, 1e-8, given)):
            matrix = (RHO + mass / 2) * np.eye(len(v)) + (RHO - mass / 2) * gamma5(sign)
            left = v - matrix @ psi.local().ravel()
            assert np.linalg.norm(left) < 1.1e-8 * np.linalg.norm(v)
    for mass, S in zip(masses, overlap_propagators(D, (3, 1, 0, 1), masses, 1e-9, modes)):
        assert np.isclose(mass * meson_correlator(S).sum(), trace_at_source(S), rtol=1e-7)


def test_free_quarks_have_the_known_spectrum():
    r"""D^+D = 2 rho^2 (1 + M / sqrt(M^2 + sum sin^2 p)) with M = sum (1 - cos p) - rho, on plane waves."""
    lattice = lqcd.Lattice((4, 4, 2, 2))
    theta = (1, 0, 0, 0.5)
    D = Overlap(lqcd.GaugeField(lattice), RHO, theta, low_modes=2)
    for number in ((0, 0, 0, 0), (1, 0, 1, 0), (2, 3, 0, 1)):
        p = [np.pi * (2 * k + turn) / n for k, turn, n in zip(number, theta, lattice.extents)]
        phase = np.exp(sum(2j * np.pi * k * x / n for k, x, n in zip(number, np.indices(lattice.extents),
                                                                     lattice.extents)))
        psi = lqcd.SpinorField(lattice).set_local(phase[..., None, None] * np.eye(12)[4].reshape(4, 3))
        m, s = sum(1 - np.cos(p)) - RHO, sum(np.sin(p) ** 2)
        expected = 2 * RHO**2 * (1 + m / np.sqrt(m * m + s))
        assert np.allclose(D.normal(psi, 1).local(), expected * psi.local(), atol=1e-8)


def test_free_quarks_have_all_copies_of_equal_eigenvalues():
    """Eigenvalues of both signs in the kernel, and six zero modes of each chirality in periodic fields."""
    D = Overlap(lqcd.GaugeField(lqcd.Lattice((4, 2, 4, 2))), 1.4, low_modes=8)
    assert D.violation(lqcd.SpinorField(D.lattice).gaussian(1)) < 1e-9
    modes = find_low_modes(D, 1)
    assert modes.zero == {1: 6, -1: 6} and modes.index == 0


def flux(extents, t_x=1, y_z=1):
    """Constant field strengths of the diagonal (1, -1, 0), whose topological charge is twice the product of fluxes."""
    T, X, Y, Z = extents
    t, x, y, z = np.indices(extents)
    angles = np.zeros((*extents, 4))
    angles[..., 1] = 2 * np.pi * t_x * t / (T * X)
    angles[..., 0] = np.where(t == T - 1, -2 * np.pi * t_x * x / X, 0)
    angles[..., 3] = 2 * np.pi * y_z * y / (Y * Z)
    angles[..., 2] = np.where(y == Y - 1, -2 * np.pi * y_z * z / Z, 0)
    links = np.zeros((*extents, 4, 3, 3), complex)
    for i, charge in enumerate((1, -1, 0)):
        links[..., i, i] = np.exp(1j * charge * angles)
    return lqcd.GaugeField(lqcd.Lattice(extents)).set_local(links)


@pytest.mark.parametrize("t_x, expected", [(1, 2), (-1, -2)])
def test_the_index_is_the_gluonic_charge_of_a_smooth_field(t_x, expected):
    """With two equal zero modes, of which one start of Lanczos finds one."""
    gauge = flux((4, 4, 4, 4), t_x)
    assert round(gauge.energy_and_charge()[1]) == expected
    D = Overlap(gauge, 1.4, (0.3, 0.2, 0.1, 0.4), low_modes=4)
    assert find_low_modes(D, 1).index == expected


def test_errors_are_said():
    gauge = thermal(TINY)
    with pytest.raises(InputError, match="0 < rho < 2, not 2"):
        Overlap(gauge, 2.0)
    D = Overlap(gauge, RHO, THETA, low_modes=2, error=1e-4)
    eta = lqcd.SpinorField(gauge.lattice).gaussian(1)
    with pytest.raises(InputError, match="below 2 rho = 2.6, not 0"):
        solve_overlap(D, eta, [0.0])
    with pytest.raises(RunError, match="rho = 1.3 has not converged in 3 steps"):
        solve_overlap(D, eta, [0.1], max_steps=3)
    D.range, D.error = (1e-24, D.range[1]), 1e-13
    with pytest.raises(RunError, match="no rational function of 40 poles with an error of 5e-14"):
        D.sign(eta)


def test_a_run_measures_the_same_bits_on_any_ranks(tmp_path):
    (tmp_path / "input.toml").write_text(INPUT)
    kind, found = results_file.format_of("plaq lqcd"), []
    for ranks in (None, *((2,) if _core.comm.mpiexec() else ())):
        done = run_plaq("lqcd", "run", "input.toml", "--workers", 1, "--out", f"run{ranks}", folder=tmp_path,
                        ranks=ranks, timeout=900)
        assert done.returncode == 0, done.stderr
        found.append(results_file.digest_of(tmp_path / f"run{ranks}/results.h5", kind))
    assert len(set(found)) == 1
    findings, *_ = results_file.read(tmp_path / "runNone/results.h5", kind)
    assert findings["overlap/a/gamma5_m2"].mean.shape == (4,)
    assert findings.recorded["overlap/a/gmor_violation"].values.max() < 0.1
    assert any("overlap.a: relation of pion and condensate" in sentence for sentence in findings.answers())


@pytest.mark.parametrize("keys, message", [
    ("", r"overlap.a.masses = \[\] is not allowed with eigenvalues = 0: nothing is measured"),
    ("masses = [0.1, 0.1]", "must not repeat a value in six digits"),
    ("masses = [2.9]", "masses are below 2 rho = 2.8"),
    ("eigenvalues = 65", "it is at most 64"),
    ("masses = [0.1]\nsources = [[4, 0, 0, 0]]", "is not on it"),
    ("masses = [0.1]\nfit_from = 1", "a fit takes three points"),
])
def test_inputs_that_contradict_themselves_are_refused(tmp_path, keys, message):
    (tmp_path / "input.toml").write_text(f"{INPUT.split('[overlap.a]')[0]}[overlap.a]\n{keys}\n")
    with pytest.raises(InputError, match=message):
        lqcd.Parameters.read(tmp_path / "input.toml")

"""Hybrid Monte Carlo: forces, integrators, and the distribution that it draws from."""

import math
from functools import partial

import numpy as np
import pytest

from plaq import lqcd
from plaq.errors import InputError, RunError
from plaq.lqcd.action.hmc import TimeScale, integrate, trajectory
from plaq.lqcd.action.monitors import Forces
from plaq.lqcd.action.rational import CorrectionTerm, RationalTerm, apply_root, spectral_range
from plaq.lqcd.action.terms import CloverTerm, GaugeTerm, QuarkTerm, doublet
from plaq.lqcd.choices import RECTANGLES
from plaq.lqcd.fields.eigenvectors import extreme_eigenvalues, lowest_eigenvectors
from plaq.lqcd.fields.inverse_root import InverseRoot
from plaq.lqcd.fields.momenta import Momenta
from plaq.lqcd.integrators import INTEGRATORS, operations

KAPPA, MU, THETA = 0.15, 0.1, (1, 0, 0.3, 0)
TIGHT = {"residual": 1e-13, "force_residual": 1e-13}


@pytest.fixture(scope="module")
def start():
    """A gauge field that is neither smooth nor random, and momenta."""
    lattice = lqcd.Lattice((4, 4, 2, 4))
    gauge = lqcd.GaugeField(lattice).hot(1)
    for sweep in range(5):
        gauge.heat_bath(5.6, seed=1, sweep=sweep)
    return gauge, Momenta(lattice).gaussian(1, 1)


def quarks(csw=0.0):
    return [term for together in doublet(KAPPA, MU, THETA, [0.3, 0.9], csw, **TIGHT) for term in together]


def energy(gauge, momenta, terms):
    return [momenta.kinetic_energy(), *(term.value(gauge) for term in terms)]


def single(csw=0.0, low=0.01):
    matrix = partial(lqcd.Wilson, kappa=KAPPA, theta=THETA, csw=csw)
    return RationalTerm(matrix, InverseRoot.zolotarev(10, low, 5.0), number=7, residual=1e-12, force_residual=1e-12)


def heavy(epsilon=0.3, low=0.01, csw=0.0):
    return RationalTerm(split(epsilon, csw), InverseRoot.zolotarev(10, low, 5.0), number=8, residual=1e-12,
                        force_residual=1e-12)


def split(epsilon=0.3, csw=0.0):
    return partial(lqcd.Doublet, kappa=KAPPA, mu=0.5, epsilon=epsilon, theta=THETA, csw=csw)


def wilson(csw, mu=0.0, **more):
    return partial(lqcd.Wilson, kappa=KAPPA, mu=mu, csw=csw, **more)


def part(number):
    return RationalTerm(split(csw=1.2), InverseRoot.zolotarev(10, 0.01, 5.0).parts((4, 6))[number], whole=None,
                        residual=1e-12, force_residual=1e-12)


EXPONENTIAL, OPEN = {"exponential": True}, {"open_ends": True, "cF": 1.1}
TERMS = {"heavy doublet": heavy, "one flavour": single, "one flavour with clover": lambda: single(1.3),
         "heavy doublet with clover": lambda: heavy(csw=1.3), "smallest poles": lambda: part(0),
         "largest poles": lambda: part(1), "clover of a doublet": lambda: CloverTerm(split(csw=1.3), flavours=1),
         "clover of one": lambda: CloverTerm(wilson(1.3), flavours=1), "gauge": lambda: GaugeTerm(5.6),
         "rectangles": lambda: GaugeTerm(2.6, RECTANGLES["iwasaki"]), "heaviest": lambda: quarks()[-1],
         "ratio": lambda: quarks()[1],
         "lightest": lambda: quarks()[0], "clover": lambda: CloverTerm(wilson(1.5, MU)), "lightest with clover":
         lambda: quarks(1.5)[0], "untwisted": lambda: QuarkTerm(KAPPA, theta=THETA, **TIGHT),
         "ratio in kappa": lambda: QuarkTerm(KAPPA, csw=1.2, heavier_kappa=0.13, **TIGHT),
         "ratio in both": lambda: QuarkTerm(KAPPA, MU, mass=0.1, heavier=0.4, heavier_kappa=0.14, **TIGHT),
         "exponential": lambda: QuarkTerm(KAPPA, MU, csw=1.5, more=EXPONENTIAL, **TIGHT),
         "exponential without a root": lambda: CloverTerm(wilson(2.5, 0.5, **EXPONENTIAL)),
         "open": lambda: QuarkTerm(KAPPA, MU, csw=1.5, more=OPEN, **TIGHT),
         "clover of open ones": lambda: CloverTerm(wilson(1.5, MU, **OPEN)),
         "open gauge": lambda: GaugeTerm(2.6, -1 / 12, is_open=True, cG=1.2),
         "history": lambda: QuarkTerm(KAPPA, MU, theta=THETA, history=3, **TIGHT)}


@pytest.mark.parametrize("term", [make() for make in TERMS.values()], ids=list(TERMS))
def test_a_kick_is_the_derivative_of_the_value(start, term):
    """Along P the action changes by dS/dtau = p_a dS/de_a = 2 Re tr P^+ F."""
    gauge, P = start
    term.begin(gauge, 3, 1)
    kicked = P.copy()
    term.kick(kicked, gauge, 1.0)
    slope = 2 * (P.array * (P.array - kicked.array)).sum()
    values, h = [], 2e-3
    for step in (-2, -1, 1, 2):
        moved = gauge.copy()
        P.move(moved, step * h)
        values.append(term.value(moved))
    numerical = (8 * (values[2] - values[1]) - (values[3] - values[0])) / (12 * h)
    assert abs(slope) > 0.1 and np.isclose(slope, numerical, rtol=2e-8)


@pytest.mark.parametrize("term, flavours", [
    (quarks()[0], 1), (quarks()[-1], 1), (single(), 1), (heavy(), 2), (part(0), 2), (part(1), 2),
    (QuarkTerm(KAPPA, MU, heavier_kappa=0.13, **TIGHT), 1),
    (CorrectionTerm(split(csw=1.2), InverseRoot.zolotarev(4, 0.1, 5.0), residual=1e-12), 2)],
    ids=["ratio", "whole", "one flavour", "heavy doublet", "smallest poles", "largest poles", "ratio in kappa",
         "correction"])
def test_a_pseudofermion_begins_with_the_value_that_it_was_drawn_with(start, term, flavours):
    gauge, _ = start
    drawn = term.begin(gauge, 3, 5)
    assert np.isclose(term.value(gauge), drawn, rtol=1e-11) and term.begin(gauge, 3, 6) != drawn
    numbers = 12 * flavours * gauge.lattice.volume / 2
    assert abs(drawn - numbers) < 4 * math.sqrt(numbers)


@pytest.mark.parametrize("poles, low, delta", [(4, 0.1, 1e-5), (8, 1e-3, 1e-6), (14, 1e-4, 1e-9)])
def test_zolotarev_is_the_inverse_root_with_as_many_extrema_as_may_be(poles, low, delta):
    """2 n + 2 of them, equally large: no other function of this degree is better (Chebyshev)."""
    root = InverseRoot.zolotarev(poles, 3 * low, 3.0)
    y = np.exp(np.linspace(math.log(3 * low), math.log(3), 40001))
    error = root(y) * np.sqrt(y) - 1
    assert np.abs(error).max() < delta and np.isclose(np.abs(error).max(), root.delta, rtol=1e-3, atol=1e-15)
    assert np.allclose(root(y), root.factor * (1 + (root.residues()[:, None] / (y + root.below[:, None])).sum(axis=0)),
                       rtol=1e-13)
    if delta > 1e-8:  # else rounding has extrema of its own
        coarse = error[::40]
        turns = np.flatnonzero(np.diff(np.sign(np.diff(coarse)))) + 1
        extrema = np.abs(coarse[np.concatenate([[0], turns, [-1]])])
        assert len(extrema) == 2 * poles + 2 and np.allclose(extrema, root.delta, rtol=1e-2)


@pytest.mark.parametrize("make", [single, heavy])
def test_a_root_twice_is_the_inverse(start, make):
    """R(M^+ M) twice is the inverse of M^+ M, and a range that the eigenvalues leave is named."""
    gauge, _ = start
    term = make()
    M = term.matrix(gauge)
    psi = M.zeros(odd=True).pseudofermion(1, 2, 3)
    low, high = spectral_range(M)
    assert 0.01 < low < high < 5.0
    twice = apply_root(term.root, M, apply_root(term.root, M, psi, 1e-12), 1e-12)
    (inverse,) = lqcd.solve_shifted(M, psi, [0.0], residual=1e-12)
    assert twice.add(inverse, -1.0).norm2() < 1e-12 * inverse.norm2()
    assert M.hermitian(M.hermitian(inverse)).add(psi, -1.0).norm2() < 1e-20 * psi.norm2()
    with pytest.raises(RunError, match=r"eigenvalues of M\^\+ M from 1 to 5 is off by .* they are about from 0\."):
        make(low=1.0).begin(gauge, 1, 1)


def test_a_doublet_without_a_difference_is_two_twisted_quarks(start):
    """Its pseudofermions have the inverse root of both M^+ M, whose determinants are the same."""
    gauge, _ = start
    term, phi = heavy(epsilon=0.0), lqcd.SpinorField(gauge.lattice, odd=True).pseudofermion(1, 2, 3)
    M = term.matrix(gauge)
    for name, mu in (("up", 0.5), ("down", -0.5)):
        both = M.zeros(odd=True)
        getattr(both, name).add(phi)
        found = getattr(apply_root(term.root, M, apply_root(term.root, M, both, 1e-12), 1e-12), name)
        expected = lqcd.solve_normal(lqcd.Wilson(gauge, KAPPA, mu, THETA), phi, residual=1e-12)
        assert found.add(expected, -1.0).norm2() < 1e-12 * expected.norm2()


def test_a_doublet_is_solved(start):
    gauge, _ = start
    M, eta = lqcd.Doublet(gauge, KAPPA, 0.5, 0.3, THETA), lqcd.Flavours(gauge.lattice)
    eta.up.gaussian(1)
    psi, done = lqcd.solve(M, eta, 1e-10)
    assert done.residual <= 2e-10 and M(psi).add(eta, -1.0).norm2() < 1e-19 * eta.norm2()
    assert abs(M(psi, dagger=True).dot(eta) - psi.dot(M(eta))) < 1e-10 * eta.norm2()
    with pytest.raises(RunError, match=r"mu = 0\.5, epsilon = 0\.3 reached the limit of steps"):
        lqcd.solve(M, eta, max_steps=2)


def test_shifted_equations(start):
    """(M^+ M + shift) x = phi, by the matrix itself."""
    gauge, _ = start
    M = lqcd.Wilson(gauge, KAPPA, MU, THETA, csw=1.2)
    phi = lqcd.SpinorField(gauge.lattice, odd=True)
    phi.native.pseudofermion(1, 2, 3)
    for shift, x in zip((0.5, 0.0), lqcd.solve_shifted(M, phi, (0.5, 0.0), 1e-12)):
        back = M.normal(x).array + shift * x.array
        assert np.abs(back - phi.array).max() < 1e-10 * np.abs(phi.array).max()
    with pytest.raises(RunError, match=r"multishift cg for kappa = 0\.15, mu = 0\.1 reached the limit of steps after"):
        lqcd.solve_shifted(M, phi, (0.5,), max_steps=2)
    with pytest.raises(InputError, match="shifts >= 0"):
        lqcd.solve_shifted(M, phi, (-0.5,))


def test_factors_of_a_root_are_the_root():
    root, y = InverseRoot.zolotarev(10, 0.01, 5.0), np.linspace(0.02, 4, 9)
    parts = root.parts((2, 3, 5))
    assert [len(one.below) for one in parts] == [2, 3, 5] and parts[0].below.max() < parts[1].below.min()
    assert np.allclose(math.prod(one(y) for one in parts), root(y), rtol=1e-14)


def dense(matrix, gauge):
    """M^+ M on odd sites as an array."""
    M = matrix(gauge)
    unit = M.zeros(odd=True)
    flavours = [unit.up, unit.down] if isinstance(unit, lqcd.Flavours) else [unit]
    complex_of = lambda psi: np.concatenate([(f.array[..., 0, :] + 1j * f.array[..., 1, :]).ravel() for f in
                                             ([psi.up, psi.down] if len(flavours) == 2 else [psi])])
    columns = []
    for f in flavours:
        for index in np.ndindex(f.array.shape[:3]):
            for lane in range(f.array.shape[-1]):
                f.array[(*index, 0, lane)] = 1
                columns.append(complex_of(M.normal(unit)))
                f.array[(*index, 0, lane)] = 0
    return np.array(columns).T


@pytest.fixture(scope="module")
def tiny():
    """A field on 2^4 sites, whose operators are small matrices."""
    gauge = lqcd.GaugeField(lqcd.Lattice((2, 2, 2, 2))).hot(1)
    for sweep in range(5):
        gauge.heat_bath(5.0, seed=1, sweep=sweep)
    return gauge


@pytest.mark.parametrize("matrix", [wilson(1.2), split(csw=1.2)], ids=["one", "doublet"])
def test_a_correction_makes_the_determinant_exact(tiny, matrix):
    """phi^+ (1 + Z)^-1/2 phi by dense matrices, with an eigenvalue out of the range of R."""
    values, vectors = np.linalg.eigh(dense(matrix, tiny))
    root = InverseRoot.zolotarev(3, 12 * values[0], values[-1])
    term = CorrectionTerm(matrix, root, number=5, residual=1e-12)
    M = matrix(tiny)
    drawn = term.begin(tiny, 1, 1)
    exact = values * root(values) ** 2  # 1 + Z
    assert abs(exact[0] - 1) > 0.05 and np.isclose(term.value(tiny), drawn, rtol=1e-9)
    complex_of = lambda psi: np.concatenate([(f.array[..., 0, :] + 1j * f.array[..., 1, :]).ravel() for f in
                                             ([psi.up, psi.down] if isinstance(psi, lqcd.Flavours) else [psi])])
    phi = vectors.conj().T @ complex_of(term.phi)
    assert np.isclose(drawn, (np.abs(phi) ** 2 / np.sqrt(exact)).sum(), rtol=1e-9)
    eta = M.zeros(odd=True).pseudofermion(1, 1, 5)
    assert np.allclose(phi, exact**0.25 * (vectors.conj().T @ complex_of(eta)), atol=1e-8)
    far = CorrectionTerm(matrix, InverseRoot.zolotarev(3, values[-1] / 400, values[-1] / 200), number=5)
    with pytest.raises(RunError, match="they are about from"):
        far.begin(tiny, 1, 1)


@pytest.mark.parametrize("matrix", [wilson(1.2, 0.2), split(csw=1.2)], ids=["one", "doublet"])
def test_eigenvectors_are_those_of_dense_matrices(tiny, matrix):
    expected = np.linalg.eigvalsh(dense(matrix, tiny))
    M = matrix(tiny)
    found = lowest_eigenvectors(M, 4, above=1.5 * expected[6], degree=8, residual=1e-9)
    assert np.allclose(found.values, expected[:4], rtol=1e-10) and found.residuals.max() < 1e-8
    for value, v in zip(found.values, found.vectors):
        assert M.normal(v).add(v, -value).norm2() < 1e-16 and abs(v.norm2() - 1) < 1e-12
    low, high = extreme_eigenvalues(M)
    assert np.isclose(low, expected[0], rtol=1e-6) and np.isclose(high, expected[-1], rtol=1e-4)
    phi = M.zeros(odd=True).pseudofermion(1, 2, 3)
    left = phi.copy().add(M.normal(found.inverse(phi)), -1.0)
    assert max(abs(v.dot(left)) for v in found.vectors) < 1e-8


ORDERS = [("leapfrog", 2, 8), ("leapfrog_position", 2, 8), ("2mn", 2, 6), ("2mn_position", 2, 6), ("2mnfg", 4, 4),
          ("4mn", 4, 4), ("omf4", 4, 3)]


@pytest.mark.parametrize("name, order, steps", ORDERS)
def test_delta_h_falls_with_the_order_of_the_integrator(start, name, order, steps):
    """Over half a unit; steps are halved."""
    terms = [*quarks()[:1], GaugeTerm(5.6)]
    terms[0].begin(start[0], 3, 1)
    errors = []
    for n in (steps, 2 * steps):
        gauge, P = start[0].copy(), start[1].copy()
        before = energy(gauge, P, terms)
        integrate(gauge, P, [TimeScale((terms[0],), n, name), TimeScale((terms[1],), 1, name)], 0.5)
        errors.append(math.fsum([*energy(gauge, P, terms), *(-value for value in before)]))
    assert abs(math.log2(abs(errors[0] / errors[1])) - order) < 0.35, errors


@pytest.mark.parametrize("name", INTEGRATORS)
def test_operations_are_symmetric_and_last_a_step(name):
    steps = operations(name, 3, 0.21)
    assert np.isclose(sum(one.part for one in steps if one.is_kick), 3) and steps == steps[::-1]
    assert np.isclose(sum(one.part for one in steps if not one.is_kick), 3)
    assert all(a.is_kick != b.is_kick for a, b in zip(steps, steps[1:]))
    assert steps[0].is_kick != name.endswith("position") or name == "4mn"


@pytest.mark.parametrize("name", INTEGRATORS)
def test_trajectories_are_reversible(start, name):
    terms = [*quarks(1.2), single(), heavy(csw=1.1)]
    for term in terms:
        term.begin(start[0], 3, 1)
    scales = [TimeScale((terms[0],), 2, name), TimeScale(tuple(terms[1:]), 1, name),
              TimeScale((GaugeTerm(5.6),), 2, name)]
    gauge, P = start[0].copy(), start[1].copy()
    integrate(gauge, P, scales, 0.5)
    assert np.abs(gauge.array - start[0].array).max() > 0.1
    P.array[:] *= -1
    integrate(gauge, P, scales, 0.5)
    assert np.abs(gauge.array - start[0].array).max() < 1e-13 and np.abs(P.array + start[1].array).max() < 1e-13


@pytest.mark.parametrize("history, residual", [(0, 1e-10), (4, 1e-4)])
def test_a_guess_costs_reversibility_as_far_as_solutions_are_inexact(start, history, residual):
    """The change of links there and back, by rounding in single precision; with a guess it follows the residual."""
    changes = []
    for force_residual in (1e-5, 1e-10):
        gauge = start[0].copy()
        term = QuarkTerm(KAPPA, MU, theta=THETA, history=history, force_residual=force_residual)
        done = trajectory(gauge, [TimeScale((term,), 4), TimeScale((GaugeTerm(5.6),), 2)], 0.5, 1, 1, reverse=True)
        changes.append(done.returned[1])
    assert max(changes) < residual and (not history or changes[1] < 1e-3 * changes[0]), changes


def test_a_guess_saves_steps_and_changes_no_solution(start):
    gauge, P = start[0].copy(), start[1]
    term, exact = (QuarkTerm(KAPPA, MU, theta=THETA, history=n, force_residual=1e-10) for n in (5, 0))
    for one in (term, exact):
        one.begin(gauge, 1, 1)
    for _ in range(6):
        kicked, expected = P.copy(), P.copy()
        term.kick(kicked, gauge, 1.0)
        exact.kick(expected, gauge, 1.0)
        assert np.abs(kicked.array - expected.array).max() < 1e-8
        P.move(gauge, 0.01)
    M = gauge.operator(term.matrix)
    _, left = term.guess._guess(M.normal, term.phi)
    assert left.norm2() < 1e-6 * term.phi.norm2()


def test_forces_are_recorded_by_term(start):
    """Of a trajectory with one kick of length a half: the force is the change of momenta."""
    gauge, watch = start[0].copy(), Forces()
    P, before = start[1].copy(), start[1]
    integrate(gauge, P, [TimeScale((GaugeTerm(5.6),), 1, "leapfrog_position")], 1e-9, watch)
    force = before.copy()
    force.array[:] = (before.array - P.array) / 1e-9
    squares = 2 * (force.array**2).sum(axis=(2, 3, 4))
    (mean, largest), = watch.row(["gauge"])
    assert np.isclose(mean, np.sqrt(squares.mean()), rtol=1e-5)
    assert np.isclose(largest, np.sqrt(squares.max()), rtol=1e-5)


def test_a_refused_trajectory_leaves_the_field_where_it_was(start):
    """One step of such a length conserves nothing."""
    gauge = start[0].copy()
    done = trajectory(gauge, [TimeScale((GaugeTerm(5.6),), 1)], 2.0, seed=1, number=1)
    assert done.delta_h > 20 and not done.accepted and np.array_equal(gauge.array, start[0].array)
    done = trajectory(gauge, [TimeScale((GaugeTerm(5.6),), 20)], 0.5, seed=1, number=1)
    assert abs(done.delta_h) < 0.1 and done.accepted and not np.array_equal(gauge.array, start[0].array)


@pytest.mark.parametrize("action, beta, sweeps, step", [("wilson", 5.0, 350, 0.2), ("dbw2", 0.7, 130, 1 / 7)])
def test_both_algorithms_draw_from_one_distribution(action, beta, sweeps, step):
    """Plaquettes of pure gauge theory on 4^4: Delta H of some tenths, so that a wrong acceptance is seen too. Four
    standard errors, of which autocorrelation times are taken to be two sweeps and three trajectories."""
    found, c1 = [], RECTANGLES[action]
    scales = [TimeScale((GaugeTerm(beta, c1),), round(1 / step))]
    for hmc in (True, False):
        gauge, values, changes = lqcd.GaugeField(lqcd.Lattice((4, 4, 4, 4))).hot(1), [], []
        for n in range(sweeps):
            if hmc:
                done = trajectory(gauge, scales, 1.0, seed=2, number=n)
                changes.append(done.delta_h)
            else:
                gauge.heat_bath(beta, seed=2, sweep=n, c1=c1)
            values.append(gauge.plaquette())
        kept = np.array(values[50:])
        found.append((kept.mean(), kept.std() * math.sqrt((6 if hmc else 4) / kept.size)))
        if hmc:
            weights = np.exp(-np.array(changes[50:]))
            assert abs(weights.mean() - 1) < 4 * weights.std() / math.sqrt(weights.size)
            assert np.std(changes[50:]) > 0.1
    (a, da), (b, db) = found
    assert max(da, db) < 6e-3 and abs(a - b) < 4 * math.hypot(da, db), found


def test_terms_with_equal_quarks_share_their_operator(start, monkeypatch):
    """Kicks of the heaviest quarks and of their clover term, and values of all quarks, take one Wilson operator."""
    gauge, momenta = start[0].copy(), start[1].copy()
    terms = [term for scale in doublet(KAPPA, MU, THETA, masses=(0.4,), csw=1.2) for term in scale]
    made = []
    init = lqcd.Wilson.__init__
    monkeypatch.setattr(lqcd.Wilson, "__init__",
                        lambda self, *args, **kwargs: made.append(1) or init(self, *args, **kwargs))
    scales = [TimeScale(tuple(terms), 1), TimeScale((GaugeTerm(5.6),), 1)]
    for term in terms:
        term.begin(gauge, 1, 1)
    alone = len(made)
    made.clear()
    integrate(gauge, momenta, scales, 0.1)
    assert alone == 3 and len(made) == 3  # one for each of the three kicks


def test_links_cannot_move_while_operators_are_shared(start):
    gauge, momenta = start[0].copy(), start[1]
    with gauge.frozen():
        first, second = (gauge.operator(partial(lqcd.Wilson, kappa=KAPPA)) for _ in range(2))
        other = gauge.operator(partial(lqcd.Wilson, kappa=0.1))
        assert first is second and other is not first
        with pytest.raises(ValueError, match="frozen gauge field cannot be moved"):
            momenta.move(gauge, 0.1)
    momenta.move(gauge, 0.1)
    assert gauge.operator(partial(lqcd.Wilson, kappa=0.1)) is not other

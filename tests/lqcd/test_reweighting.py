"""Reweighting factors against determinants of dense matrices, eigenvectors in solves, and multigrid in forces."""

import math
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest

from plaq import lqcd
from plaq.errors import InputError, RunError
from plaq.lqcd.action.hmc import TimeScale, trajectory
from plaq.lqcd.action.reweighting import mass_exponents, pair_exponents, root_exponents
from plaq.lqcd.action.terms import GaugeTerm, QuarkTerm
from plaq.lqcd.fields.eigenvectors import lowest_eigenvectors
from plaq.lqcd.fields.inverse_root import InverseRoot
from plaq.lqcd.fields.momenta import Momenta
from plaq.lqcd.measurements.reweighted import factors
from plaq.lqcd.parameters import Parameters

KAPPA, CSW = 0.14, 1.2


def thermal(extents, beta=5.4, sweeps=4):
    gauge = lqcd.GaugeField(lqcd.Lattice(extents)).hot(1)
    for sweep in range(sweeps):
        gauge.heat_bath(beta, seed=1, sweep=sweep)
    return gauge


@pytest.fixture(scope="module")
def tiny():
    return thermal((2, 2, 2, 2))


def normal(matrix, gauge, twist=0.0):
    """M^+ M on odd sites as an array."""
    M, columns = matrix(gauge), []
    unit = M.zeros(odd=True)
    parts = lambda psi: [psi] if isinstance(psi, lqcd.SpinorField) else [psi.up, psi.down]  # noqa: E731
    for part in parts(unit):
        for index in np.ndindex(part.array.shape[:3]):
            for lane in range(part.array.shape[-1]):
                part.array[(*index, 0, lane)] = 1
                image = M.normal(unit, twist) if twist else M.normal(unit)
                columns.append(np.concatenate([(one.array[..., 0, :] + 1j * one.array[..., 1, :]).ravel()
                                               for one in parts(image)]))
                part.array[(*index, 0, lane)] = 0
    return np.array(columns).T


def log_det(matrix, gauge, twist=0.0):
    """log det M^+ M of all sites."""
    return np.linalg.slogdet(normal(matrix, gauge, twist))[1] + 2 * matrix(gauge).log_det_even


@pytest.mark.parametrize("target, twist", [({"kappa": 0.1405}, 0.0), ({"mu": 0.02}, 0.0), ({}, 0.1)],
                         ids=["kappa", "mu", "regulator"])
def test_a_factor_is_the_ratio_of_determinants(tiny, target, twist):
    """Within four standard errors of the mean over sources, on which it does not depend."""
    simulated = partial(lqcd.Wilson, kappa=KAPPA, mu=0.05, csw=CSW)
    wanted = partial(lqcd.Wilson, **simulated.keywords | target)
    exact = log_det(wanted, tiny) - log_det(simulated, tiny, twist)
    w = np.exp(pair_exponents(tiny, wanted, simulated, twist, 300, 1, 1, 1e-10) - exact)
    error = w.std() / math.sqrt(len(w))
    assert abs(w.mean() - 1) < 4 * error and 1e-4 < error < 0.05, (w.mean(), error, exact)


def test_the_factor_of_a_rational_function_makes_it_exact(tiny):
    matrix = partial(lqcd.Wilson, kappa=KAPPA, csw=CSW)
    values = np.linalg.eigvalsh(normal(matrix, tiny))
    root = InverseRoot.zolotarev(2, 4 * values[0], values[-1])
    exact = np.log(values * root(values)**2).sum() / 2
    w = np.exp(root_exponents(tiny, matrix, root, 60, 1, 1, 1e-10) - exact)
    error = w.std() / math.sqrt(len(w))
    assert abs(exact) > 1e-3 and abs(w.mean() - 1) < 4 * error and error < 0.05, (w.mean(), error, exact)


@pytest.mark.parametrize("operator, masses, target", [
    (lqcd.Wilson, {"kappa": KAPPA}, {"kappa": 0.1405}),
    (lqcd.Doublet, {"kappa": KAPPA, "mu": 0.15, "epsilon": 0.1}, {"kappa": 0.1402, "mu": 0.16, "epsilon": 0.12}),
])
def test_the_factor_of_one_quark_or_two_different_ones_is_the_ratio_of_their_determinants(tiny, operator, masses,
                                                                                         target):
    simulated, wanted = partial(operator, csw=CSW, **masses), partial(operator, csw=CSW, **target)
    exact = (log_det(wanted, tiny) - log_det(simulated, tiny)) / 2
    w = np.exp(mass_exponents(tiny, wanted, simulated, 100, 1, 1, 1e-10) - exact)
    error = w.std() / math.sqrt(len(w))
    assert abs(exact) > 0.01 and abs(w.mean() - 1) < 4 * error and 1e-5 < error < 0.05, (w.mean(), error, exact)


def test_masses_too_far_apart_for_the_series_are_refused(tiny):
    simulated, wanted = (partial(lqcd.Wilson, kappa=kappa) for kappa in (0.1, 0.17))
    with pytest.raises(RunError, match="does not converge"):
        mass_exponents(tiny, wanted, simulated, 1, 1, 1, 1e-10)


def test_factors_are_relative_to_their_mean():
    found = factors(np.array([[1000.0, 1000.0], [1000.0 + math.log(3), 1000.0 + math.log(3)]]))
    assert np.allclose(found, [0.5, 1.5])


@pytest.mark.parametrize("tables, words", [
    ({"quarks": "charm"}, "reweighting.w.quarks = \"charm\" is not allowed: known are light, strange"),
    ({"quarks": "light"}, "the factor is one"),
    ({"quarks": "strange", "mu": 0.1}, "they are one quark, which has no twisted mass"),
    ({"quarks": "light", "epsilon": 0.1}, "they are of one mass"),
    ({"quarks": "heavy", "epsilon": 5.0}, "less than sqrt"),
    ({"quarks": "heavy", "mu": 0.1, "epsilon": 0.12}, None),
    ({"quarks": "strange", "kappa": 0.131}, None),
])
def test_tables_that_fit_to_no_quarks_are_refused(tables, words):
    quarks = {"light": {"kappa": 0.14}, "strange": {"kappa": 0.13, "flavours": 1, "range": [0.01, 5]},
              "heavy": {"kappa": 0.14, "mu": 0.15, "epsilon": 0.1, "range": [0.01, 5]}}
    with pytest.raises(InputError, match=words) if words else nullcontext():
        Parameters(lattice={"extents": [4, 4, 4, 4]}, action={"beta": 6}, quarks=quarks, reweighting={"w": tables},
                   updates={"algorithm": "hmc"}, hmc={"steps": [1, 1, 1, 1]})


def test_a_solve_begins_from_eigenvectors():
    """The solution is the same, after fewer steps."""
    gauge = thermal((4, 4, 4, 4), sweeps=8)
    M, eta = lqcd.Wilson(gauge, 0.165, theta=(1, 0, 0, 0), csw=1.0), lqcd.SpinorField(gauge.lattice).gaussian(3)
    vectors = lowest_eigenvectors(M, 12, degree=12, residual=1e-8)
    plain, slow = lqcd.solve(M, eta, 1e-9)
    psi, fast = lqcd.solve(M, eta, 1e-9, eigenvectors=vectors)
    assert M(psi).add(eta, -1.0).norm2() < 1.0001e-18 * eta.norm2() and fast.residual <= 1e-9
    assert psi.add(plain, -1.0).norm2() < 1e-14 * plain.norm2()
    assert fast.steps < 0.8 * slow.steps, (fast.steps, slow.steps)


@pytest.mark.parametrize("precision", ["double", "single"])
def test_generalised_conjugate_residuals(precision):
    gauge = thermal((4, 4, 2, 4))
    M, eta = lqcd.Wilson(gauge, 0.15, 0.1, csw=1.0), lqcd.SpinorField(gauge.lattice).gaussian(3)
    psi, done = lqcd.solve(M, eta, 1e-10, "gcr", precision)
    assert M(psi).add(eta, -1.0).norm2() < 1.0001e-20 * eta.norm2() and done.steps > 5


def test_multigrid_gives_the_forces_of_conjugate_gradient():
    """Also on a field that has moved, with the test vectors of the one before."""
    gauge = thermal((4, 4, 4, 4), sweeps=8)
    P, found = Momenta(gauge.lattice).gaussian(1, 1), []
    for solver in ("cg", "multigrid"):
        term, field = QuarkTerm(0.16, 0.02, (1, 0, 0, 0), 1.0, force_residual=1e-9, solver=solver), gauge.copy()
        begun = term.begin(field, 1, 1)
        assert np.isclose(term.value(field), begun, rtol=1e-10)
        kicked = Momenta(gauge.lattice)
        term.kick(kicked, field, 1.0)
        P.move(field, 0.05)
        term.kick(kicked, field, 1.0)
        found.append((kicked.array.copy(), term.value(field)))
    assert np.abs(found[0][0] - found[1][0]).max() < 1e-7 * np.abs(found[0][0]).max()
    assert np.isclose(found[0][1], found[1][1], rtol=1e-10)
    with pytest.raises(InputError, match="without a twist"):
        lqcd.solve_normal(lqcd.Wilson(gauge, 0.15), lqcd.SpinorField(gauge.lattice, odd=True), 0.1, method="multigrid")


def test_multigrid_keeps_its_test_vectors_along_a_chain():
    """Trajectories are reversible to rounding, and continue from stored vectors to the same bits."""
    def run(gauge, term, number):
        scales = [TimeScale((term,), 2, "leapfrog"), TimeScale((GaugeTerm(5.6),), 2)]
        return trajectory(gauge, scales, 0.2, 1, number, always=True, reverse=number == 0)

    def make():
        return QuarkTerm(0.14, 0.05, (1, 0, 0, 0), 1.0, solver="multigrid", aggregates=[(2, 2, 2, 2)])

    gauge, term, other = thermal((4, 4, 4, 4)), make(), make()
    change, links = run(gauge, term, 0).returned
    assert abs(change) < 1e-9 and links < 1e-12
    other.vectors, again = term.test_vectors(), gauge.copy()
    assert run(again, other, 1) == run(gauge, term, 1)
    assert np.array_equal(again.array, gauge.array)

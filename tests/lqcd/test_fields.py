"""Fields as Python sees them, and pure gauge theory."""

import itertools

import numpy as np
import pytest

from plaq import lqcd
from plaq.errors import InputError, RunError

EXTENTS = (8, 4, 2, 6)


@pytest.fixture(scope="module")
def lattice():
    return lqcd.Lattice(EXTENTS)


@pytest.fixture(scope="module")
def gauge(lattice):
    return lqcd.GaugeField(lattice).hot(seed=1)


def test_an_array_is_the_memory_of_the_field_in_blocks_and_lanes(lattice):
    psi = lqcd.SpinorField(lattice).gaussian(1)
    local, sites = psi.local(), lattice.sites()
    assert psi.array.shape == (*sites.shape[:1], 4, 3, 2, sites.shape[1]) and sites[0, 0].tolist() == [0, 0, 0, 0]
    for (block, lane), (spin, colour) in itertools.product([(0, 0), (3, -1), (-1, 0)], [(0, 0), (3, 1)]):
        assert local[tuple(sites[block, lane])][spin, colour] == complex(*psi.array[block, spin, colour, :, lane])
    psi.array[:] = 0
    assert psi.norm2() == 0 and not psi.local().any()
    psi.set_local(local)
    assert np.isclose(psi.norm2(), (np.abs(local) ** 2).sum(), rtol=1e-14)
    assert np.array_equal(psi.copy().local(), local) and np.array_equal(psi.whole(), local)


@pytest.mark.parametrize("extents, words", [((4, 4, 4, 5), "even"), ((4, 4, 4), "four extents"),
                                            ((0, 4, 4, 4), "even")])
def test_lattices_that_cannot_be(extents, words):
    with pytest.raises(InputError, match=words):
        lqcd.Lattice(extents)


def test_a_back_end_that_is_not_there_is_refused_with_one_worker_too():
    with pytest.raises(InputError, match="unknown thread back end 'fibre'; this build has: fiber"):
        lqcd.Lattice(EXTENTS, backend="fibre")


def test_layouts_make_no_difference(gauge):
    plain = lqcd.GaugeField(lqcd.Lattice(EXTENTS, lanes=1)).hot(seed=1)
    assert plain.plaquettes() == gauge.plaquettes()
    moved = gauge.copy()
    for field in (plain, moved):
        field.heat_bath(5.5, seed=1, sweep=0)
        field.over_relax()
    assert np.array_equal(plain.local(), moved.local()) and not np.array_equal(gauge.local(), moved.local())
    found = [lqcd.solve(lqcd.Wilson(u, 0.13, 0.1, (1, 0, 0, 0)), lqcd.SpinorField(u.lattice).gaussian(2))[0].local()
             for u in (plain, moved)]
    assert np.array_equal(*found)


def test_a_plaquette_by_numpy(gauge):
    u = gauge.local()
    total = 0
    for mu, nu in itertools.combinations(range(4), 2):
        a, b = u[..., mu, :, :], u[..., nu, :, :]
        square = (a, np.roll(b, -1, mu), np.roll(a, -1, nu).conj(), b.conj())
        total += np.einsum("...ij,...jk,...lk,...il", *square).real.mean()
    assert np.isclose(gauge.plaquette(), total / 18, rtol=0, atol=1e-14)


def test_a_solver_that_cannot_says_so(lattice):
    """At the critical kappa of free fields a constant is taken to zero."""
    eta = lqcd.SpinorField(lattice).gaussian(1)
    matrix = lqcd.Wilson(lqcd.GaugeField(lattice), kappa=0.125)
    with pytest.raises(RunError, match=r"cg for kappa = 0\.125, mu = 0 .*\|eta - M psi\|/\|eta\| = .*, not 1e-10"):
        lqcd.solve(matrix, eta, max_steps=1000)
    with pytest.raises(InputError, match="not one of cg, bicgstab, gcr, multigrid"):
        lqcd.solve(matrix, eta, method="gmres")
    with pytest.raises(InputError, match="'quarter' is not one of double, single, half"):
        lqcd.solve(matrix, eta, precision="quarter")


def test_stout_smearing_is_a_step_of_the_flow_and_loops_see_it(gauge):
    """To second order in rho."""
    off = []
    for rho in (0.02, 0.01):
        smeared, flowed = gauge.copy().stout(rho), gauge.copy()
        flowed.flow(rho, rho)
        off.append(np.abs(smeared.array - flowed.array).max())
    assert 3.5 < off[0] / off[1] < 4.5 and off[0] < 0.01
    smooth = gauge.copy().stout(0.1, 3)
    assert smooth.unitarity_violation() < 1e-13 and smooth.plaquette() > gauge.plaquette() + 0.3
    loops, mixed = smooth.wilson_loops(2, 3), gauge.wilson_loops(1, 1, smeared=smooth)
    assert loops.shape == (2, 3) and np.isclose(loops[0, 0], smooth.plaquettes()[0], rtol=0, atol=1e-14)
    assert abs(mixed[0, 0]) < 0.7 * loops[0, 0] and abs(smooth.polyakov_loop(1)) < 1


def test_the_plaquette_at_beta_6():
    """The literature has 0.593678(24) on 16^4; this box of 0.75 fm is some 0.001 above. Sixty sweeps of it;
    four standard errors, which are taken to be those of sweeps that remember 2 tau_int = 4 before them."""
    gauge = lqcd.GaugeField(lqcd.Lattice((8, 8, 8, 8)))
    values = []
    for sweep in range(90):
        gauge.heat_bath(6.0, seed=5, sweep=sweep)
        for _ in range(2):
            gauge.over_relax()
        values.append(gauge.plaquette())
    kept = np.array(values[30:])
    error = 2 * kept.std() / np.sqrt(kept.size)
    assert error < 6e-4 and abs(kept.mean() - 0.593678) < 4 * error

"""Averages over equivalent momenta and displacements, taken before the error."""

import numpy as np
import pytest
from isolated import Geometry, Isolated, hops

OF_MOMENTA = ("G", "Sigma", "G_tau", "spin_susceptibility", "charge_susceptibility")
OF_DISPLACEMENTS = ("spin_correlation", "charge_correlation")
PLAQUETTE = Geometry("plaquette", hops(-1.0, -1.0, 0.3), ((2, 0), (0, 2)))
STRIPES = Geometry("stripes", hops(-1.0, -0.5), ((2, 0), (0, 2)))
TRIANGLE = Geometry("triangle", hops(-1.0, -1.0) | {(1, 1): -1.0, (-1, -1): -1.0}, ((1, 1), (-1, 2)))
TILTED = Geometry("tilted", hops(-1.0, -1.0), ((2, 1), (-1, 2)))  # rotations and no mirrors, as 10A has
OBLIQUE = Geometry("oblique", hops(-1.0, -0.5), ((3, 1), (0, 2)))
ALL = (PLAQUETTE, STRIPES, TRIANGLE, TILTED, OBLIQUE)


def orbits(geometry):
    group = Isolated(geometry, 4.0, 2.0, 1.0).group
    return group, dict.fromkeys(OF_MOMENTA, group.momentum_permutations) | dict.fromkeys(
        OF_DISPLACEMENTS, group.site_permutations)


@pytest.mark.parametrize("geometry", ALL, ids=lambda g: g.name)
def test_the_exact_functions_have_the_symmetry_that_is_averaged_over(geometry):
    case = Isolated(geometry, 4.0, 2.0, 0.7)
    exact, cluster = case.exact, case.cluster
    values = {name: cluster.to_momenta(getattr(exact, name)()[:, 0]).real
              for name in ("spin_susceptibility", "charge_susceptibility")}
    values |= {name: getattr(exact, name)()[:, 0] for name in OF_DISPLACEMENTS}
    values["G"] = exact.to_momentum(exact.green_iw(np.pi / 2 * np.array([1, 3])))
    for name, permutations in orbits(geometry)[1].items():
        for permutation in permutations if name in values else ():
            np.testing.assert_allclose(values[name][permutation], values[name], atol=1e-10)


@pytest.mark.parametrize("geometry", ALL, ids=lambda g: g.name)
def test_equivalent_numbers_are_one_number_and_right(geometry):
    case = Isolated(geometry, 4.0, 2.0, 0.7, measurements=2048, seed=5)
    exact, measured, cluster = case.exact, case.measure(), case.cluster
    for name, permutations in orbits(geometry)[1].items():
        for part in (measured[name].mean, measured[name].error, np.moveaxis(measured[name].jackknife, 0, -1)):
            for permutation in permutations:
                np.testing.assert_allclose(part[permutation], part, rtol=1e-9, atol=1e-12)
    z = []
    for name in ("spin_susceptibility", "charge_susceptibility"):
        wanted = cluster.to_momenta(getattr(exact, name)()[:, 0]).real
        z.append((measured[name].mean - wanted) / measured[name].error)
    for name in OF_DISPLACEMENTS:
        z.append((measured[name].mean - getattr(exact, name)()[:, 0]) / measured[name].error)
    assert np.abs(np.concatenate(z)).max() < 4.0 and np.mean(np.concatenate(z) ** 2) < 2.5


def test_the_average_is_made_before_the_error():
    """The two axes of a plaquette, and four sites of a tilted cluster, scatter less together than alone."""
    for geometry, members in ((PLAQUETTE, [1, 2]), (TILTED, [1, 2, 3, 4])):
        case = Isolated(geometry, 4.0, 2.0, 0.7, measurements=4096, seed=6)
        chains = case.fresh_chains()
        assert case.run(chains)
        layout, sums = case.problem.layout(), chains.bins.sums()
        a = layout["static_spin"]
        apart = sums[:, a.offset:a.offset + a.size] / sums[:, [layout["weight"].offset]]
        together = case.collected(chains)
        found = together.correlations["static_spin"] / together.norm[:, None]
        np.testing.assert_allclose(found[:, members[0]], apart[:, members].mean(axis=1), atol=1e-12)
        assert apart[:, members].var(axis=0).mean() > 1.05 * found[:, members[0]].var()

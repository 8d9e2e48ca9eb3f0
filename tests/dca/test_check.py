"""What `plaq check` estimates: the loop's own window, and memory that follows from what is measured."""

import pytest
import synthetic

from plaq.dca.check import describe
from plaq.dca.cluster import Cluster
from plaq.dca.cost import Machine, cost
from plaq.dca.lattice import Lattice
from plaq.dca.tuning import window


def at(T, **sections):
    p = synthetic.parameters(**sections)
    return p, cost(p, Cluster(Lattice(p.hopping()), p.model.cluster), T, Machine(), 1, 1)


@pytest.mark.parametrize("omega_max", [0.01, 0.22, 1.0, 7.7])
def test_window_is_that_of_the_loop(omega_max):
    p, found = at(0.07, two_particle={"omega_max": omega_max})
    assert found.window == window(p, 1 / 0.07) >= 1
    assert at(0.5, two_particle={"omega_max": omega_max})[1].window == 0  # above two_particle.below


def test_memory_follows_what_is_measured():
    """Bytes of the bins of n general channels with 16 frequencies on 4 sites, in four copies."""
    one = 4 * 64 * 16 * (2 * 4 * 16) ** 2
    of = lambda **pairs: at(0.07, two_particle=pairs)[1].rank_bytes
    charge = of(channels=["charge"])
    assert 1.0 < (charge - of(channels=[])) / one < 1.2
    both = of(channels=["charge", "magnetic"])
    assert 0.99 < (both - charge) / one < 1.1
    assert of(channels=["charge"], transfers=[[0, 0], [1, 1]]) == both
    assert of(channels=["charge"], bosonic=[0, 1]) > both  # more frequencies of G as well
    # pp is small at q = 0, nu = 0 only; [2, 0] is that momentum too
    assert of(channels=["pp"]) == of(channels=["pp"], transfers=[[2, 0]]) < (charge + of(channels=[])) / 2
    assert of(channels=["pp"], transfers=[[1, 1]]) == charge


def test_exact_diagonalisation_has_an_estimate_of_its_own():
    isolated = {"density": None, "mu": 3.0, "isolated": True, "temperatures": [0.5]}
    text = describe(synthetic.parameters(dca=isolated, solver={"kind": "ed"}, two_particle={"below": 0.1}))
    assert "256 states, exact diagonalisation in about 1.0 s" in text
    text = describe(synthetic.parameters(dca=isolated, solver={"kind": "ed"}, two_particle={"below": 1.0}))
    assert "256 states, exact diagonalisation in about 11 s" in text

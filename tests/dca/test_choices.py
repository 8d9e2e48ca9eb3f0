"""Choices of the solver where the input says "auto"."""

import pytest
import synthetic

from plaq import dca
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.solver import choices


def at(beta, density=None, mu=None, isolated=False, K="auto", **model):
    """(K, <k> that is expected, the lowest K) of four sites."""
    p = dca.Parameters(model={"U": 6.0, **model}, solver={"K": K},
                       dca={"temperatures": [1 / beta], "isolated": isolated,
                            **({"mu": mu} if density is None else {"density": density})})
    cluster = Cluster(Lattice(p.hopping()), p.model.cluster)
    order = choices.expected_order(p, cluster, beta, 1.0 if density is None else density)
    return choices.expansion_constant(p, cluster, beta), order, -beta * p.model.U * cluster.size / 4


@pytest.mark.parametrize("beta", [0.5, 2.0, 10.0, 50.0])
def test_K_is_negative_near_half_filling(beta):
    for density in (0.9, 0.95, 0.999, 1.0, 1.05, 1.1):
        K, order, lowest = at(beta, density)
        assert lowest / 2 < K < 0 < order
    assert at(beta, 1.0)[0] == pytest.approx(at(beta, 1.0)[2] / 3)
    assert at(beta, 1.0, t_prime=-0.2)[0] > at(beta, 1.0)[0]  # without the symmetry between particles and holes


def test_K_is_1_where_negative_ones_cost_the_sign():
    assert {at(10.0, density)[0] for density in (0.1, 0.5, 0.8, 1.3, 1.9)} == {1.0}
    assert choices.constant_at(0.95, False, 6.0, volume=1e4) == 1.0


def test_K_is_1_where_the_density_is_not_known_or_the_cluster_isolated():
    assert at(10.0, mu=1.9)[0] == 1.0 and at(10.0, mu=3.0, isolated=True)[0] == 1.0
    assert at(10.0, mu=3.0)[0] == at(10.0, 1.0)[0]  # which half filling fixes


def test_K_is_1_without_interaction_and_else_as_given():
    assert at(10.0, 0.95, U=0.0)[0] == 1.0 and at(10.0, 0.95, K=3.5)[0] == 3.5


def test_the_expected_order_is_that_of_the_constant():
    p = synthetic.parameters()
    cluster = Cluster(Lattice(p.hopping()), p.model.cluster)
    K = choices.expansion_constant(p, cluster, 10.0)
    assert choices.expected_order(p, cluster, 10.0, 0.95) - K == pytest.approx(240 * (0.95 / 2 - 0.95**2 / 8))

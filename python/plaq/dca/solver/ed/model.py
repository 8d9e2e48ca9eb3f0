"""Exact diagonalisation of a `Model` of any kind."""

from plaq.dca.lattice.interaction import DN, UP
from plaq.dca.solver.ed.cluster import ExactCluster
from plaq.dca.solver.ed.fock import Terms


def exact_cluster(cluster, interaction, mu, beta):
    """Return the isolated cluster (`Cluster`) with an `Interaction` at chemical potential mu and temperature 1/beta."""
    hopping = [cluster.hopping_matrix(spin) for spin in (UP, DN)]
    pairs = tuple((p.value, p.a, p.spin_a, cluster.site_index(p.d), p.b, p.spin_b) for p in interaction.pairs)
    exchanges = tuple((e.value, e.a, e.b, e.c, e.d) for e in interaction.exchanges)
    return ExactCluster(hopping, Terms(pairs, exchanges), mu, beta, fourier=cluster.fourier)

"""Exact diagonalisation of isolated clusters: `solver.kind = "ed"`, and the oracle of the tests."""

from plaq.dca.solver.ed.cluster import ExactCluster
from plaq.dca.solver.ed.fock import fourier_matrix
from plaq.dca.solver.ed.two_particle import two_particle

__all__ = ["ExactCluster", "fourier_matrix", "two_particle"]

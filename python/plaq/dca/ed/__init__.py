"""Exact diagonalisation of isolated clusters: `solver.kind = "ed"`, and the oracle of the tests."""

from plaq.dca.ed.cluster import ExactCluster
from plaq.dca.ed.fock import fourier_matrix
from plaq.dca.ed.two_particle import two_particle

__all__ = ["ExactCluster", "fourier_matrix", "two_particle"]

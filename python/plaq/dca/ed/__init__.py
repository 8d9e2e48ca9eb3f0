"""Exact diagonalisation of isolated clusters: `solver.kind = "ed"`, and the oracle of the tests."""

from plaq.dca.ed.cluster import ExactCluster
from plaq.dca.ed.fock import fourier_matrix

__all__ = ["ExactCluster", "fourier_matrix"]

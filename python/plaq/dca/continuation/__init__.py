"""Spectral functions of a finished run: analytic continuation of G and of Sigma, and functions of the lattice."""

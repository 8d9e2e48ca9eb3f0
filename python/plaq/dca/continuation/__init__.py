"""Spectral functions of a finished run: analytic continuation of G and of Sigma, and functions of the lattice."""

FILE = "spectra.h5"  # in the folder of the run

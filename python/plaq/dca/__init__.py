"""Dynamical cluster approximation: superconducting T_c of the 2D Hubbard model."""

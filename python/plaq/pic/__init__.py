"""Particle-in-cell simulation of plasmas, being built."""

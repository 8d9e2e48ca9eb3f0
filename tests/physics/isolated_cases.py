"""Isolated clusters from weak to strong coupling, from high to low temperature, at half filling and doped."""

from isolated import DIAGONAL_PLAQUETTE, DIMER, OPEN_DIMER, OPEN_PLAQUETTE, PLAQUETTE, RING, at_filling

GEOMETRIES = (DIMER, OPEN_DIMER, RING, PLAQUETTE, OPEN_PLAQUETTE, DIAGONAL_PLAQUETTE)
COUPLINGS = (4.0, 6.0, 8.0)
BETAS = (2.0, 5.0, 10.0)
FILLINGS = (1.0, "doped")


def density(geometry, beta, filling):
    """At low temperature two electrons on three or four sites: walks are too short for the rare changes of a number
    that is all but fixed, so mixtures are left to high temperature, and to the dimer where they are easier."""
    if filling == 1.0:
        return filling
    if beta == min(BETAS):
        return 0.85
    return 0.75 if geometry.cluster.size == 2 else 2 / geometry.cluster.size


def isolated_case(g, u, b, f, seed, **rest):
    """The cluster, coupling, temperature and filling of these numbers. Each has a seed of its own, from `seed` on."""
    geometry, beta = GEOMETRIES[g], BETAS[b]
    seed += ((g * len(COUPLINGS) + u) * len(BETAS) + b) * len(FILLINGS) + f
    return at_filling(geometry, COUPLINGS[u], beta, density(geometry, beta, FILLINGS[f]), seed=seed, **rest)

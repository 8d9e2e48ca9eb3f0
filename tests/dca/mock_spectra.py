"""Spectra that are known, their Matsubara functions, and noise with correlations between frequencies."""

import numpy as np

from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.one_function import Matsubara
from plaq.dca.lattice import matsubara

BETA, LARGEST = 10.0, 12.0
MESH = matsubara.mesh(BETA, LARGEST)
GRID = Grid.up_to(LARGEST)


def gaussians(*peaks):
    """Sum of (weight, centre, width)."""
    x = GRID.omega
    return sum(w * np.exp(-0.5 * ((x - c) / s) ** 2) / (s * np.sqrt(2 * np.pi)) for w, c, s in peaks)


CASES = {
    "gap": gaussians((0.4, -2.5, 0.5), (0.6, 3.0, 0.7)),
    "two peaks": gaussians((0.5, -1.0, 0.4), (0.5, 2.0, 0.8)),
    "quasiparticle": gaussians((0.35, 0.0, 0.15), (0.3, -3.0, 0.8), (0.35, 3.5, 0.9)),
}


def noisy(spectrum, error=1e-4, samples=16, seed=1, mesh=MESH):
    """Matsubara function with noise that neighbouring frequencies share, and its leave-one-out values."""
    rng = np.random.default_rng(seed)
    count = len(mesh.omega)
    exact = GRID.matsubara_kernel(mesh.omega) @ spectrum
    exact = exact[:count] + 1j * exact[count:]
    size = error * np.abs(exact)
    distance = np.abs(np.arange(count)[:, None] - np.arange(count))
    shape = np.linalg.cholesky(np.exp(-distance / 3.0))
    groups = (rng.normal(size=(samples, count)) + 1j * rng.normal(size=(samples, count))) @ shape.T
    groups = exact + size * np.sqrt(samples) * groups
    left_out = (groups.sum(axis=0) - groups) / (samples - 1)
    deviation = left_out - left_out.mean(axis=0)
    spread = lambda part: np.sqrt((samples - 1) / samples * np.sum(part**2, axis=0))
    mean = np.average(GRID.omega, weights=spectrum * GRID.weights)
    variance = np.average((GRID.omega - mean) ** 2, weights=spectrum * GRID.weights)
    return Matsubara(mesh.omega, groups.mean(axis=0), spread(deviation.real) + 1j * spread(deviation.imag), left_out,
                     GRID.integral(spectrum), mean, variance)


def moments(grid, spectrum, side):
    """(weight, mean) of the part of a spectrum on one side of 0, -1 or 1; half of the value at 0 counts."""
    share = np.where(grid.omega == 0, 0.5, side * grid.omega > 0) * grid.weights * spectrum
    return share.sum(), share @ grid.omega / share.sum()

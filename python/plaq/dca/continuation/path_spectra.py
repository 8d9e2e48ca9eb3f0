"""A(k, omega) of the lattice along a path through the zone, from Sigma and G of the cluster, with errors."""

from __future__ import annotations

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.propagation import scatter
from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.lattice_functions import lattice_spectrum
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.path import Path
from plaq.dca.physics.point import Point

Samples = np.ndarray | None


def along_path(cluster: Cluster, along: Path, grid: Grid, point: Point, periodisation: str,
               sigma: tuple[np.ndarray, Samples], green: tuple[np.ndarray, Samples] | None) -> dict[str, Estimate]:
    """Return A_k [k, omega] and with orbitals A_k_orbital [spin, k, orbital, omega], errors by jackknife.

    sigma, green : retarded functions [S, K, a, b, x] and their samples [sample, ...]; green is needed by the
    periodisation of the same name alone, else None. Errors are those of Sigma, G and mu.
    """
    lattice = cluster.lattice
    functions = [sigma] if green is None else [sigma, green]

    def spectrum(mu: float, sigma: np.ndarray, green: np.ndarray | None = None) -> np.ndarray:
        return np.array([lattice_spectrum(cluster, along.points, grid.omega, mu, sigma[s],
                                          None if green is None else green[s], periodisation, s)
                         for s in range(len(sigma))])

    mean, samples = spectrum(point.mu, *(f for f, _ in functions)), None
    count = next((len(of) for _, of in functions if of is not None), 0)
    if count:
        mu = point["mu"] if "mu" in point else None
        potentials = [point.mu] * count if mu is None or mu.jackknife is None else mu.jackknife
        every = ([f] * count if of is None else of for f, of in functions)
        samples = np.array([spectrum(*sample) for sample in zip(potentials, *every)])
    k, omega = Axis("k", along.points, "1/a"), Axis("omega", grid.omega, "t")
    whole = lambda f: f.mean(axis=-4).sum(axis=-2)
    of_samples = lambda part: None if samples is None else part(samples)
    words = f"of the lattice, periodisation {periodisation}"
    result = {"A_k": with_scatter("A_k", whole(mean), of_samples(whole), (k, omega),
                                  f"A(k, omega) {words}" if lattice.bands == 1 else
                                  f"sum of A_aa(k, omega) over orbitals a {words}, one spin")}
    if lattice.bands > 1:
        kept = (lambda f: f) if lattice.spins == 2 else (lambda f: f[..., 0, :, :, :])
        spin = [Axis("spin", np.array(("up", "down")))] if lattice.spins == 2 else []
        axes = (*spin, k, Axis("orbital", np.array(lattice.orbitals)), omega)
        result["A_k_orbital"] = with_scatter("A_k_orbital", kept(mean), of_samples(kept), axes,
                                             f"A_aa(k, omega) {words}")
    return result


def with_scatter(name: str, mean: np.ndarray, samples: Samples, axes: tuple[Axis, ...], convention: str) -> Estimate:
    """Return an estimate with the error of its samples, which are not kept."""
    error = np.zeros_like(mean) if samples is None else scatter(samples - samples.mean(axis=0))
    return Estimate(name, mean, error, None, axes, "1/t", convention)

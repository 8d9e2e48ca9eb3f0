"""Density at a given chemical potential and chemical potential at a given density, self-energy included."""

import numpy as np
import scipy

from plaq.dca.lattice.matsubara import frequency_cutoff
from plaq.errors import RunError
from plaq.trace.session import region


def density(mu, coarse, mesh, sigma):
    """Return n = 2 T/N_c sum_K,n Gbar_K(iw_n) e^(iw_n 0+), both spins, with z = iw + mu - Sigma_K(iw).

    With orbitals n is the number of electrons in a cell. coarse: prepared CoarseGraining, sigma: [K, w] on the mesh
    with its constant U n/2; or MatrixCoarseGraining and [S, K, a, b, w]. mesh: fermionic Mesh.
    """
    return float(mesh.equal_time(coarse.electrons(coarse.gbar(coarse.shifted(1j * mesh.omega + mu, sigma)))))


def compressibility(mu, coarse, mesh, sigma):
    """Return dn/dmu of the lattice at fixed Sigma."""
    step = 1e-3
    low, high = (density(mu + d, coarse, mesh, sigma) for d in (-step, step))
    return (high - low) / (2 * step)


def free_mu(lattice, T, target):
    """Return the mu of free electrons: sum over orbitals and spins, mean over k, of f(eps(k) - mu) = target, to 1e-9.

    With y = T ln(n/(2 b - n)), b orbitals, it lies between the ends of the bands shifted by y.
    """
    if lattice.states is not None:
        bands, weights = lattice.states.rule(T)
    else:
        bands, weights = _zone(lattice), None
    most = 2 * lattice.bands
    shift = T * np.log(target / (most - target))
    low, high = (float(end) + shift for end in (bands.min(), bands.max()))
    excess = lambda mu: most * float(np.average(scipy.special.expit((mu - bands) / T), weights=weights)) - target
    if excess(low) >= 0:
        return low
    return high if excess(high) <= 0 else scipy.optimize.brentq(excess, low, high, xtol=1e-9)


def _zone(lattice):
    """Return the energies of all bands on a grid of momenta."""
    grid = lattice.grid()
    return lattice.dispersion(grid) if lattice.one_band else np.stack(
        [lattice.energies(grid, spin) for spin in range(lattice.spins)])


def cutoff(parameters, lattice, T):
    """Return the cutoff of the meshes at one temperature.

    It holds the spectra at the mu that is given, or that a density needs. With U > 0 that mu lies between the one of
    free electrons and U above it, which `frequency_cutoff` has room for. It is outside the band only where T is large
    beside the band or n near 0 or 2. In a general model the place of U is taken by the largest sum of all interactions
    of one orbital, since an electron there is shifted by no more.
    """
    mu = parameters.dca.mu
    if mu is None:
        mu = free_mu(lattice, T, parameters.dca.density)
    u = strength(parameters.hamiltonian.interaction) if parameters.is_general else parameters.model.U
    return frequency_cutoff(lattice, u, mu)


def strength(interaction):
    """Return the largest sum of |value| over the terms of an Interaction that one orbital and spin is in."""
    felt = {}
    for p in interaction.pairs:
        for end in ((p.a, p.spin_a), (p.b, p.spin_b)):
            felt[end] = felt.get(end, 0.0) + abs(p.value)
    for e in interaction.exchanges:
        for end in ((e.a, 0), (e.c, 1)):
            felt[end] = felt.get(end, 0.0) + abs(e.value)
    return max(felt.values(), default=0.0)


class NoSuchDensity(RunError):
    """The lattice with this self-energy has the wanted density at no mu: Sigma is then noise."""


@region("chemical potential")
def find_mu(target, coarse, mesh, sigma, guess=0.0):
    """Return the mu with density(mu) = target, to 1e-12 in mu (Brent), at fixed Sigma, where n grows with mu.

    The bracket grows around the guess within [-wmax, wmax]: beyond it the mesh does not hold the density, and with
    the mesh that `cutoff` asks for no density in (0, 2) needs it.
    Raises NoSuchDensity when the target is not bracketed.
    """
    limit = mesh.wmax
    low = high = min(max(guess, -limit), limit)
    n_low = n_high = density(low, coarse, mesh, sigma)
    step = 0.125
    while n_low > target and low > -limit:
        low, high, n_high = max(low - step, -limit), low, n_low
        n_low = density(low, coarse, mesh, sigma)
        step *= 2
    while n_high < target and high < limit:
        low, high, n_low = high, min(high + step, limit), n_high
        n_high = density(high, coarse, mesh, sigma)
        step *= 2
    if not n_low <= target <= n_high:
        raise NoSuchDensity(f"no mu gives density {target:.8g}: with this self-energy the lattice has {n_low:.8g} at "
                            f"mu = {low:.6g} and {n_high:.8g} at mu = {high:.6g}")
    if low == high:
        return low
    excess = lambda mu: density(mu, coarse, mesh, sigma) - target
    return scipy.optimize.brentq(excess, low, high, xtol=1e-12, rtol=1e-14)

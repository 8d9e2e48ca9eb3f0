"""Density at a given chemical potential and chemical potential at a given density, self-energy included."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from plaq.dca.lattice.matsubara import frequency_cutoff
from plaq.errors import RunError
from plaq.trace.session import region


def density(mu, coarse, mesh, sigma):
    """Return n = 2 T/N_c sum_K,n Gbar_K(iw_n) e^(iw_n 0+), both spins, with z = iw + mu - Sigma_K(iw).

    coarse: prepared CoarseGraining; mesh: fermionic Mesh; sigma: [K, w] on the mesh, with its constant U n/2.
    """
    return 2.0 * float(mesh.equal_time(coarse.gbar(1j * mesh.omega + mu - sigma).mean(axis=0)))


def compressibility(mu, coarse, mesh, sigma):
    """Return dn/dmu of the lattice at fixed Sigma."""
    step = 1e-3
    low, high = (density(mu + d, coarse, mesh, sigma) for d in (-step, step))
    return (high - low) / (2 * step)


def free_mu(lattice, T, target):
    """Return the mu of free electrons: mean over k of 2 f(eps(k) - mu) = target, to 1e-9 in mu.

    With y = T ln(n/(2 - n)) it lies between the ends of the band shifted by y.
    """
    k = 2 * np.pi * np.arange(96) / 96
    bands = lattice.dispersion(np.stack(np.meshgrid(k, k), axis=-1))
    shift = T * np.log(target / (2 - target))
    low, high = (float(end) + shift for end in (bands.min(), bands.max()))
    excess = lambda mu: 2 * float(np.mean(expit((mu - bands) / T))) - target
    return low if excess(low) >= 0 else high if excess(high) <= 0 else brentq(excess, low, high, xtol=1e-9)


def cutoff(parameters, lattice, T):
    """Return the cutoff of the meshes at one temperature.

    It holds the spectra at the mu that is given, or that a density needs. With U > 0 that mu lies between the one of
    free electrons and U above it, which `frequency_cutoff` has room for. It is outside the band only where T is large
    beside the band or n near 0 or 2.
    """
    mu = parameters.dca.mu
    if mu is None:
        mu = free_mu(lattice, T, parameters.dca.density)
    return frequency_cutoff(lattice, parameters.model.U, mu)


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
    return brentq(lambda mu: density(mu, coarse, mesh, sigma) - target, low, high, xtol=1e-12, rtol=1e-14)

"""Density at a given chemical potential and the chemical potential at a given density, self-energy included."""

from scipy.optimize import brentq

from plaq.errors import RunError


def density(mu, coarse, mesh, sigma):
    """n = 2 T/N_c sum_K,n Gbar_K(iw_n) e^(iw_n 0+), both spins, with z = iw + mu - Sigma_K(iw).

    coarse: prepared CoarseGraining; mesh: fermionic Mesh; sigma: [K, w] on the mesh, its constant U n/2 included.
    """
    return 2.0 * float(mesh.equal_time(coarse.gbar(1j * mesh.omega + mu - sigma).mean(axis=0)))


def find_mu(target, coarse, mesh, sigma, guess=0.0):
    """The mu with density(mu) = target, to 1e-12 in mu (Brent), at fixed Sigma, where n grows with mu.

    The bracket grows around the guess, up to 2 wmax away. Raises RunError when the target is not bracketed.
    """
    low = high = guess
    n_low = n_high = density(guess, coarse, mesh, sigma)
    step = 0.125
    while n_low > target or n_high < target:
        if step > 2 * mesh.wmax:
            raise RunError(
                f"mu not bracketed: density is {n_low:.8g} at mu = {low:.6g} and {n_high:.8g} at mu = {high:.6g}, "
                f"but {target:.8g} is wanted"
            )
        if n_low > target:
            low, high, n_high = guess - step, low, n_low
            n_low = density(low, coarse, mesh, sigma)
        else:
            low, high, n_low = high, guess + step, n_high
            n_high = density(high, coarse, mesh, sigma)
        step *= 2
    if low == high:
        return guess
    return brentq(lambda mu: density(mu, coarse, mesh, sigma) - target, low, high, xtol=1e-12, rtol=1e-14)

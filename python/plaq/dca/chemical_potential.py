"""Density at a given chemical potential and chemical potential at a given density, self-energy included."""

from scipy.optimize import brentq

from plaq.errors import RunError
from plaq.trace.session import region


def density(mu, coarse, mesh, sigma):
    """n = 2 T/N_c sum_K,n Gbar_K(iw_n) e^(iw_n 0+), both spins, with z = iw + mu - Sigma_K(iw).

    coarse: prepared CoarseGraining; mesh: fermionic Mesh; sigma: [K, w] on the mesh, with its constant U n/2.
    """
    return 2.0 * float(mesh.equal_time(coarse.gbar(1j * mesh.omega + mu - sigma).mean(axis=0)))


@region("chemical potential")
def find_mu(target, coarse, mesh, sigma, guess=0.0):
    """The mu with density(mu) = target, to 1e-12 in mu (Brent), at fixed Sigma, where n grows with mu.

    The bracket grows around the guess within [-wmax, wmax]: beyond it the mesh does not hold the density, and no
    density in (0, 2) needs it (matsubara.frequency_cutoff) unless T is far above the band width.
    Raises RunError when the target is not bracketed.
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
        raise RunError(
            f"mu not bracketed: density is {n_low:.8g} at mu = {low:.6g} and {n_high:.8g} at mu = {high:.6g}, "
            f"but {target:.8g} is wanted"
        )
    if low == high:
        return low
    return brentq(lambda mu: density(mu, coarse, mesh, sigma) - target, low, high, xtol=1e-12, rtol=1e-14)

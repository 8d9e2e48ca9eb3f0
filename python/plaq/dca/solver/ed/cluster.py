"""Thermal averages of an isolated cluster by exact diagonalisation: the oracle of the QMC solvers."""

from functools import cached_property

import numpy as np
import scipy

from plaq.dca.solver.ed.fock import DN, UP, Spectrum, Terms
from plaq.errors import InputError

NEGLIGIBLE = 1e-15  # Boltzmann weights below this (relative to Z) are left out


class ExactCluster:
    """Grand-canonical averages of H = sum_ij,s h_ij c+_is c_js + H_int - mu N at temperature 1/beta.

    hopping: real symmetric [i, j], or one for each spin, with its sign and with the on-site energies on the diagonal;
    i = cell * orbitals + orbital; interaction: U of U sum_i n_iup n_idn, or `Terms`; fourier: exp(-i K.R) as [K, R]
    when the cluster is translation invariant (needed beyond 4 sites in practice, for functions of K and for
    two-particle functions). Results are exact to about 1e-12; densities and energies are per site, with orbitals per
    cell, and the energy excludes -mu N. Raises InputError.
    """

    def __init__(self, hopping, interaction, mu, beta, fourier=None, spectrum=None):
        if not beta > 0:
            raise InputError(f"beta = {beta}: must be positive")
        self.U = None if isinstance(interaction, Terms) else float(interaction)
        if spectrum is None:
            cells = len(hopping) if self.U is not None and fourier is None else 1
            terms = interaction if self.U is None else Terms.on_site(interaction, cells)
            spectrum = Spectrum(hopping, terms, fourier)
        self.spectrum = spectrum
        self.mu, self.beta, self.sites = float(mu), float(beta), self.spectrum.sites
        blocks = self.spectrum.blocks
        self.levels = [b.energy - self.mu * b.particles for b in blocks]  # eigenvalues of H, by block
        lowest = min(e[0] for e in self.levels)
        self.levels = [e - lowest for e in self.levels]
        shifted = sum(np.exp(-self.beta * e).sum() for e in self.levels)
        self.log_z = float(np.log(shifted) - self.beta * lowest)
        self.weights = [np.exp(-self.beta * e) / shifted for e in self.levels]

    def at(self, mu=None, beta=None):
        """Return the cluster at another chemical potential or temperature, without diagonalising again."""
        s = self.spectrum
        mu, beta = self.mu if mu is None else mu, self.beta if beta is None else beta
        return ExactCluster(s.hopping, s.terms if self.U is None else self.U, mu, beta, s.fourier, spectrum=s)

    def at_density(self, density):
        """Return the cluster at the chemical potential that gives `density`, to 1e-12 in mu.

        It lies between 0 and 2, with orbitals and `fourier` twice their number.
        """
        s = self.spectrum
        most = 2 * s.modes / s.sites
        if not 0 < density < most:
            raise InputError(f"density = {density}: must be between 0 and {most:g}")
        values = [abs(term[0]) for term in (*s.terms.pairs, *s.terms.exchanges)]
        reach = np.abs(s.hopping).sum(axis=-1).max() + 2 * sum(values) + 60 / self.beta
        reach += abs(np.log(density / (most - density))) / self.beta
        return self.at(mu=scipy.optimize.brentq(lambda mu: self.at(mu=mu).density - density, -reach, reach, xtol=1e-12))

    # --- thermodynamics

    def _average(self, values):
        return float(sum(w @ np.broadcast_to(v, w.shape) for w, v in zip(self.weights, values)))

    @cached_property
    def density(self):
        """Density n = <N>/Nc."""
        return self._average(float(b.particles) for b in self.spectrum.blocks) / self.sites

    @cached_property
    def double_occupancy(self):
        """D = sum_i <n_iup n_idn>/Nc."""
        return self._average(b.double_occupancy for b in self.spectrum.blocks) / self.sites

    @cached_property
    def potential_energy(self):
        """<H_int>/Nc."""
        if self.U is not None:
            return self.U * self.double_occupancy
        return self._average(b.interaction for b in self.spectrum.blocks) / self.sites

    @cached_property
    def total_energy(self):
        """<H + mu N>/Nc."""
        return self._average(b.energy for b in self.spectrum.blocks) / self.sites

    @property
    def kinetic_energy(self):
        """sum_ij,s h_ij <c+_is c_js>/Nc."""
        return self.total_energy - self.potential_energy

    # --- one-particle functions

    def _hops(self, spin):
        """Yield, for each pair of blocks that c_p joins, modes p, blocks m, n, and <m|c_p|n>. The sum is one spin's.

        Where spin up and down are equivalent it is half the sum over both, and by spin flip that half is the blocks
        N_up > N_dn with both spins and the blocks N_up = N_dn with one of them.
        """
        s = self.spectrum
        for n, block in enumerate(s.blocks):
            both = (UP, DN) if block.n_up > block.n_dn else (DN,) if block.n_up == block.n_dn else ()
            for own in both if s.flips else (spin,):
                targets = {}
                for p in range(s.modes):
                    m = s.target(p, own, n)
                    if m is not None and max(self.weights[m].max(), self.weights[n].max()) > NEGLIGIBLE:
                        targets.setdefault(m, []).append(p)
                for m, modes in targets.items():
                    yield modes, m, n, np.array([s.annihilate(p, own, n) for p in modes])

    def _site_matrix(self, f):
        """Return [i, j, ...] on sites from [p, p', ...] of modes: c_i = Nc^-1/2 sum_K e^{iK.R_i} c_K."""
        s = self.spectrum
        if s.group is None:
            return f
        back = np.kron(s.fourier.conj().T / np.sqrt(s.cells), np.eye(s.orbitals))
        return np.einsum("ia,ab...,jb->ij...", back, f, back.conj(), optimize=True)

    def green_iw(self, omega, spin=UP):
        """Return g_ij(i omega) = int_0^beta dtau e^{i omega tau} G_ij(tau) of a spin, complex [i, j, w]; omega real."""
        omega = np.asarray(omega, float)
        modes = self.spectrum.modes
        g = np.zeros((modes, modes, omega.size), complex)
        for orbitals, m, n, c in self._hops(spin):
            gap = self.levels[m][:, None] - self.levels[n]
            weight = self.weights[m][:, None] + self.weights[n]
            keep = weight > NEGLIGIBLE
            gap, c = gap[keep], c[:, keep]
            if len(c) > 1:
                g[np.ix_(orbitals, orbitals)] += _lehmann(gap, c, weight[keep], omega)
                continue
            pairs = np.einsum("ax,bx,x->abx", c, c.conj(), weight[keep])
            for w, frequency in enumerate(omega):
                lorentzian = 1 / (gap**2 + frequency**2)
                g[np.ix_(orbitals, orbitals, [w])] += (pairs @ (gap * lorentzian)
                                                       - 1j * frequency * (pairs @ lorentzian))[..., None]
        return self._site_matrix(g)

    def poles(self, spin=UP, tolerance=1e-9):
        """Return (omega [x], weight [K, x]): A(K, omega) = sum_x weight delta(omega - omega_x), of a spin.

        Poles closer than the tolerance are one. Needs a Fourier matrix, and one orbital.
        """
        places, weights = [], []
        for orbitals, m, n, c in self._hops(spin):
            weight = self.weights[m][:, None] + self.weights[n]
            keep = weight > NEGLIGIBLE
            places.append((self.levels[n] - self.levels[m][:, None])[keep])
            pairs = np.zeros((self.spectrum.modes, self.spectrum.modes, len(places[-1])), c.dtype)
            pairs[np.ix_(orbitals, orbitals)] = np.einsum("ax,bx,x->abx", c[:, keep], c[:, keep].conj(),
                                                             weight[keep])
            weights.append(self.to_momentum(self._site_matrix(pairs)).real)
        places, weights = np.concatenate(places), np.concatenate(weights, axis=1)
        order = np.argsort(places)
        places, weights = places[order], weights[:, order]
        first = np.flatnonzero(np.diff(places, prepend=-np.inf) > tolerance)
        return places[first], np.add.reduceat(weights, first, axis=1)

    def green_tau(self, tau, spin=UP):
        """Return g_ij(tau) = -<T c_i(tau) c+_j(0)> of a spin, real [i, j, tau], 0 <= tau <= beta."""
        tau = np.asarray(tau, float)
        if tau.size and (tau.min() < 0 or tau.max() > self.beta):
            raise InputError("tau: must lie between 0 and beta")
        offset = np.log(sum(np.exp(-self.beta * e).sum() for e in self.levels))
        modes = self.spectrum.modes
        g = np.zeros((modes, modes, tau.size), self.spectrum.dtype)
        for orbitals, m, n, c in self._hops(spin):
            left = np.exp(-np.outer(self.beta - tau, self.levels[m]) - offset)
            right = np.exp(-np.outer(tau, self.levels[n]))
            for a, ca in zip(orbitals, c):
                for b, cb in zip(orbitals, c):
                    g[a, b] -= np.einsum("tn,tn->t", left @ (ca * cb.conj()), right)
        return np.real(self._site_matrix(g))

    def self_energy(self, omega, spin=UP):
        """Return sigma_ij(i omega) = (i omega + mu) delta_ij - h_ij - (G^-1)_ij, complex [i, j, w]; includes U n/2."""
        omega = np.asarray(omega, float)
        inverse = np.linalg.inv(np.moveaxis(self.green_iw(omega, spin), -1, 0))
        free = (1j * omega[:, None, None] + self.mu) * np.eye(self.spectrum.modes) - self.spectrum.hopping[spin]
        return np.moveaxis(free - inverse, 0, -1)

    def to_momentum(self, f):
        """Return f(K) = 1/Nc sum_ij e^{-iK.(R_i - R_j)} f_ij, [K, ...] from [i, j, ...]; with orbitals [K, a, b, ...].
        """
        if self.spectrum.fourier is None:
            raise InputError("fourier: functions of K need the Fourier matrix of the cluster")
        phase, b = self.spectrum.fourier, self.spectrum.orbitals
        if b > 1:
            f = np.reshape(f, (len(phase), b, len(phase), b, *np.shape(f)[2:]))
            return np.einsum("ki,kj,iajb...->kab...", phase, phase.conj(), f, optimize=True) / self.sites
        return np.einsum("ki,kj,ij...->k...", phase, phase.conj(), f, optimize=True) / self.sites

    # --- spin and charge correlations

    @cached_property
    def _correlations(self):
        """Equal-time and static <x y+>, x and y densities of sites or momenta, for charge (+1) and spin (-1)."""
        s = self.spectrum
        found = {sign: np.zeros((2, s.modes, s.modes)) for sign in (+1, -1)}
        for n, block in enumerate(s.blocks):
            if block.n_up < block.n_dn:  # equal to its spin-flipped twin
                continue
            targets = {}
            for x in range(s.modes):
                m = s.lowered(x, n)
                if m is not None and max(self.weights[m].max(), self.weights[n].max()) > NEGLIGIBLE:
                    targets.setdefault(m, []).append(x)
            for m, labels in targets.items():
                up, dn = np.array([s.density(x, n) for x in labels]).swapaxes(0, 1)
                times = 1 + (block.n_up > block.n_dn)
                for sign, out in found.items():
                    rho = (up + sign * dn).reshape(len(labels), -1)
                    for total, kernel in zip(out, self.kernels(m, n)):
                        total[np.ix_(labels, labels)] += times * (rho * kernel.ravel()) @ rho.T
        return found

    def kernels(self, m, n):
        """Return w_m and (w_n - w_m)/(E_m - E_n): weights of <m|x|n><n|y+|m> at equal times and integrated over tau."""
        wm, wn = self.weights[m][:, None], self.weights[n]
        gap = self.levels[m][:, None] - self.levels[n]
        flat = np.abs(self.beta * gap) < 1e-5  # there beta (w_n + w_m)/2, right to (beta gap)^2/12
        static = np.where(flat, self.beta * (wm + wn) / 2, (wn - wm) / np.where(flat, 1, gap))
        return np.broadcast_to(wm, gap.shape), static

    def _correlation(self, sign, static):
        f = self._correlations[sign][int(static)]
        if self.spectrum.group is not None:  # n_i = 1/Nc sum_q e^{iq.R_i} rho_q
            f = self._site_matrix(f) / self.sites
        return np.real(f)

    @cached_property
    def site_density(self):
        """<n_i>, [i]: differs from site to site only where the cluster is not translation invariant."""
        return 2 * (1 + np.diagonal(self.green_tau([0.0])[..., 0]))

    def spin_correlation(self):
        """Return <S^z_i S^z_j>, [i, j], with S^z = (n_up - n_dn)/2."""
        return self._correlation(-1, False) / 4

    def charge_correlation(self):
        """Return <n_i n_j> - <n_i><n_j>, [i, j]."""
        return self._correlation(+1, False) - np.outer(self.site_density, self.site_density)

    def spin_susceptibility(self):
        """Return chi_s,ij = int_0^beta dtau <S^z_i(tau) S^z_j(0)>, [i, j]; chi_s(q) per site is to_momentum of it."""
        return self._correlation(-1, True) / 4

    def charge_susceptibility(self):
        """Return chi_c,ij = int_0^beta dtau (<n_i(tau) n_j(0)> - <n_i><n_j>), [i, j]."""
        return self._correlation(+1, True) - self.beta * np.outer(self.site_density, self.site_density)


def _lehmann(gap, c, weight, omega):
    """Return sum_x weight_x c_ax c*_bx / (i omega + gap_x), [a, b, w], in blocks of x that stay in the cache."""
    total = np.zeros((len(c), len(c), omega.size), complex)
    for start in range(0, gap.size, 4096):
        part = slice(start, start + 4096)
        pairs = np.einsum("ax,bx,x->abx", c[:, part], c[:, part].conj(), weight[part])
        total += pairs @ (1 / (1j * omega + gap[part, None]))
    return total

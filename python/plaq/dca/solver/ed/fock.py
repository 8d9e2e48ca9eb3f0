"""Eigenstates of an isolated cluster, in blocks of (N_up, N_dn) and, where it is known, momentum.

With a Fourier matrix the one-particle modes have cluster momenta, so each Fock state has a definite momentum, H0 is
diagonal in K and the interaction is a sum over q of products rho_q rho_-q. Matrices are real for one band, as for all
models whose h_ab(K) and V_ab(q) are. Without a Fourier matrix the modes are the sites.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from plaq.errors import InputError

UP, DN = 0, 1
MAX_SITES = 8


def fourier_matrix(momenta, sites):
    """Return exp(-i K.R) as an array [K, R], from momenta (Nc, d) and site positions (Nc, d)."""
    return np.exp(-1j * np.asarray(momenta, float) @ np.asarray(sites, float).T)


def particle_number(states, orbitals):
    return sum((states >> a) & 1 for a in range(orbitals))


def annihilators(orbitals):
    """Return jordan-Wigner matrices c_a (orbitals, 2^orbitals, 2^orbitals) of one spin; bit a of a state is n_a."""
    states = np.arange(2**orbitals)
    c = np.zeros((orbitals, states.size, states.size))
    for a in range(orbitals):
        occupied = states[(states >> a) & 1 == 1]
        before = occupied & ((1 << a) - 1)
        c[a, occupied ^ (1 << a), occupied] = (-1) ** particle_number(before, orbitals)
    return c


@dataclass
class Block:
    """Eigenstates of fixed particle numbers and momentum: energies without -mu N, vectors [Fock state, state]."""

    n_up: int
    n_dn: int
    momentum: int
    up: np.ndarray  # one-spin state of each Fock state of the block
    dn: np.ndarray
    energy: np.ndarray = None
    vectors: np.ndarray = None
    double_occupancy: np.ndarray = None  # <n| sum_i n_i,up n_i,dn |n>
    interaction: np.ndarray = None  # <n| H_int |n>

    @property
    def particles(self):
        return self.n_up + self.n_dn


class MomentumGroup:
    """The cluster momenta as an abelian group, read off the rows of exp(-i K.R)."""

    def __init__(self, fourier):
        rows = np.asarray(fourier, complex)
        size = len(rows)
        if rows.shape != (size, size) or not np.allclose(rows @ rows.conj().T, size * np.eye(size), atol=1e-8):
            raise InputError("fourier: expected a square matrix exp(-i K.R) with orthogonal rows")
        self.add = np.array([[self._row(rows, a * b) for b in rows] for a in rows])
        self.minus = np.array([self._row(rows, a.conj()) for a in rows])
        self.zero = self._row(rows, np.ones(size))

    @staticmethod
    def _row(rows, target):
        distance = np.abs(rows - target).max(axis=1)
        if distance.min() > 1e-6:
            raise InputError("fourier: the momenta do not form a group (a sum of two rows' momenta is missing)")
        return int(distance.argmin())


@dataclass(frozen=True)
class Terms:
    """Interaction in the modes of a cluster of cells with orbitals.

    pairs : (value, a, spin, d, b, spin'), value n[R, a, spin] n[R + d, b, spin'] summed over cells R, d the index of a
    cell; exchanges : (value, a, b, c, d), value c+[a, up] c[b, up] c+[c, dn] c[d, dn] of every cell.
    """

    pairs: tuple[tuple[float, int, int, int, int, int], ...] = ()
    exchanges: tuple[tuple[float, int, int, int, int], ...] = ()

    @classmethod
    def on_site(cls, U, orbitals):
        """Return U n_up n_dn of every orbital."""
        return cls(tuple((float(U), a, UP, 0, a, DN) for a in range(orbitals)))


class Spectrum:
    """All eigenstates of H = sum_ij,s h_ij c+_is c_js + H_int.

    hopping: real symmetric [i, j], or one for each spin [s, i, j], i = cell * orbitals + orbital, at most 8 of them
    (beyond 4 use `fourier`: the largest block of 8 sites shrinks from 4900 to about 612 states). terms: H_int.
    fourier: exp(-i K.R) as [K, R] of a translation-invariant cluster of cells, or None: one cell of all orbitals.
    modes: p = K * orbitals + orbital, without `fourier` the orbitals. Raises InputError.
    """

    def __init__(self, hopping, terms, fourier=None):
        h = np.array(hopping, float)
        h = np.array([h, h]) if h.ndim == 2 else h
        self.modes = h.shape[-1]
        if h.ndim != 3 or h.shape != (2, self.modes, self.modes) or not np.allclose(h, h.swapaxes(1, 2), atol=1e-12):
            raise InputError("hopping: expected a real symmetric matrix [site, site]")
        if not 1 <= self.modes <= MAX_SITES:
            raise InputError(f"hopping: {self.modes} sites; exact diagonalisation takes 1 to {MAX_SITES}")
        self.hopping, self.terms = h, terms
        self.flips = np.array_equal(*h)  # spin up and down are equivalent
        self.fourier = None if fourier is None else np.asarray(fourier, complex)
        self.c = annihilators(self.modes)
        self.group = None if fourier is None else MomentumGroup(self.fourier)
        self.cells = 1 if self.group is None else len(self.fourier)
        self.orbitals, rest = divmod(self.modes, self.cells)
        if rest:
            raise InputError(f"fourier: {self.cells} cells and {self.modes} orbitals")
        self.sites = self.modes if self.group is None else self.cells  # that averages are per
        self.orbital_energy = h if self.group is None else np.array([self._in_momenta(x) for x in h])
        self._make_interaction()
        self.blocks = self._make_blocks()
        self.index = {(b.n_up, b.n_dn, b.momentum): i for i, b in enumerate(self.blocks)}
        self.row = np.zeros((2**self.modes, 2**self.modes), int)  # of |up, dn> in its block
        for block in sorted(self.blocks, key=lambda b: b.n_up < b.n_dn):
            self.row[block.up, block.dn] = np.arange(block.up.size)
            self._diagonalise(block)

    def _in_momenta(self, h):
        """Return h in the basis of modes, diagonal in K; real where it can be."""
        to_modes = np.kron(self.fourier, np.eye(self.orbitals))
        in_k = to_modes @ h @ to_modes.conj().T / self.cells
        same = np.kron(np.eye(self.cells), np.ones((self.orbitals, self.orbitals)))
        if not np.allclose(in_k, in_k * same, atol=1e-8):
            raise InputError("fourier: the hopping matrix is not invariant under these translations")
        return _real(in_k * same)

    def _make_interaction(self):
        """Make `same` [s], the terms of equal spins in the Fock space of one spin, and `cross` [(w, X, Y)].

        The terms of unlike spins are sum_q w_q X_up Y_dn / N_c; w is one number for all q where the term is local.
        """
        cross, same = {}, np.zeros((2, self.cells, self.orbitals, self.orbitals), complex)
        for value, a, s, d, b, t in self.terms.pairs:
            wave = np.ones(self.cells) if d == 0 else self.fourier[:, d]  # exp(-i q.d)
            if s == t:
                same[s, :, a, b] += value * wave
            else:
                a, b, wave = (a, b, wave) if s == UP else (b, a, wave.conj())
                cross[a, a, b, b] = cross.get((a, a, b, b), 0) + value * wave
        for value, a, b, c, d in self.terms.exchanges:
            cross[a, b, d, c] = cross.get((a, b, d, c), 0) + value * np.ones(self.cells)
        self.cross = [(_real(w), [(self.rho[q, a, b], self.rho[q, d, c].T) for q in range(self.cells)])
                      for (a, b, d, c), w in cross.items()]
        self.same = np.array([_real(self._equal_spins(w)) for w in same])
        self.dtype = np.result_type(self.orbital_energy, self.same, *(w for w, _ in self.cross))

    def _equal_spins(self, w):
        """Return 1/N_c sum_q,a,b w[q, a, b] rho_q,aa rho_-q,bb in the Fock space of one spin."""
        total = np.zeros(self.c[0].shape, complex)
        for q, a, b in zip(*np.nonzero(w)):
            total += w[q, a, b] / self.cells * (self.rho[q, a, a] @ self.rho[q, b, b].T)
        return total

    def _add(self, k, p):
        """Return the momentum k plus that of mode p."""
        return 0 if self.group is None else self.group.add[k, p // self.orbitals]

    def _subtract(self, k, p):
        return 0 if self.group is None else self.group.add[k, self.group.minus[p // self.orbitals]]

    def _make_blocks(self):
        states = np.arange(2**self.modes)
        number = particle_number(states, self.modes)
        momentum = np.zeros(states.size, int)
        if self.group is not None:
            momentum[:] = self.group.zero
            for p in range(self.modes):
                occupied = (states >> p) & 1 == 1
                momentum[occupied] = self.group.add[momentum[occupied], p // self.orbitals]
        blocks = []
        sectors = [states[number == n] for n in range(self.modes + 1)]
        for n_up, ups in enumerate(sectors):
            for n_dn, dns in enumerate(sectors):
                up, dn = np.repeat(ups, dns.size), np.tile(dns, ups.size)
                total = momentum[up] if self.group is None else self.group.add[momentum[up], momentum[dn]]
                for k in np.unique(total):
                    blocks.append(Block(n_up, n_dn, int(k), up[total == k], dn[total == k]))
        return blocks

    @cached_property
    def one_body(self):
        """sum_ab h_ab c+_a c_b in the Fock space of one spin, [s, :, :]."""
        return np.array([np.einsum("ab,ami,bmj->ij", h, self.c, self.c, optimize=True) for h in self.orbital_energy])

    @cached_property
    def rho(self):
        """rho_q,ab = sum_K c+_K,a c_{K+q},b of one spin, [q, a, b, :, :], without momenta c+_a c_b.

        The transpose is rho_-q,ba.
        """
        b, c = self.orbitals, self.c
        partner = np.zeros((1, 1), int) if self.group is None else self.group.add
        return np.array([[[sum(c[k * b + i].T @ c[partner[k, q] * b + j] for k in range(self.cells))
                           for j in range(b)] for i in range(b)] for q in range(self.cells)])

    def _diagonalise(self, block):
        u, d = block.up, block.dn
        if self.flips and block.n_up < block.n_dn:  # |u,d> -> (-1)^(N_up N_dn) |d,u>, an overall sign
            twin = self.blocks[self.index[block.n_dn, block.n_up, block.momentum]]
            order = np.lexsort((twin.up, twin.dn))
            block.energy, block.double_occupancy = twin.energy, twin.double_occupancy
            block.interaction, block.vectors = twin.interaction, twin.vectors[order]
            return
        uu, dd = np.ix_(u, u), np.ix_(d, d)
        same_up, same_dn = u[:, None] == u, d[:, None] == d
        kinetic = self.one_body[UP][uu] * same_dn + self.one_body[DN][dd] * same_up
        interaction = self._cross(uu, dd)
        if self.same.any():
            interaction = interaction + (self.same[UP][uu] * same_dn + self.same[DN][dd] * same_up)
        block.energy, block.vectors = np.linalg.eigh(kinetic + interaction)
        double = sum(self.rho[q, a, a][uu] * self.rho[q, a, a].T[dd]
                     for a in range(self.orbitals) for q in range(self.cells)) / self.cells
        block.double_occupancy, block.interaction = (
            np.einsum("mn,mn->n", block.vectors.conj(), x @ block.vectors).real for x in (double, interaction))

    def _cross(self, uu, dd):
        """Return the terms of unlike spins between product states."""
        total = np.zeros((uu[0].size, dd[0].size))
        for w, products in self.cross:
            if np.all(w == w[0]):
                total = total + w[0] * (sum(x[uu] * y[dd] for x, y in products) / self.cells)
            else:
                total = total + sum(w[q] * x[uu] * y[dd] for q, (x, y) in enumerate(products)) / self.cells
        return total

    def target(self, orbital, spin, source):
        """Return index of the block that c_orbital,spin leads to from block `source`, or None."""
        b = self.blocks[source]
        return self.index.get((b.n_up - (spin == UP), b.n_dn - (spin == DN), self._subtract(b.momentum, orbital)))

    def source(self, orbital, spin, target):
        """Return index of the block that c_orbital,spin leads from to block `target`, or None."""
        b = self.blocks[target]
        return self.index.get((b.n_up + (spin == UP), b.n_dn + (spin == DN), self._add(b.momentum, orbital)))

    def lowered(self, x, source):
        """Return index of the block that rho_x leads to from block `source` (its momentum falls by q = x), or None."""
        b = self.blocks[source]
        return self.index.get((b.n_up, b.n_dn, self._subtract(b.momentum, x)))

    def annihilate(self, orbital, spin, source):
        """Return <m|c_orbital,spin|n> from block n = `source`. Up stands before down, so c_dn carries (-1)^N_up."""
        b, t = self.blocks[source], self.blocks[self.target(orbital, spin, source)]
        if spin == UP:
            filled = t.up | (1 << orbital)
            sign, row = self.c[orbital][t.up, filled], self.row[filled, t.dn]
        else:
            filled = t.dn | (1 << orbital)
            sign, row = (-1) ** b.n_up * self.c[orbital][t.dn, filled], self.row[t.up, filled]
        row = np.where(sign == 0, 0, row)  # the orbital is occupied after c: no such source state
        return t.vectors.conj().T @ (sign[:, None] * b.vectors[row])

    def density(self, x, source):
        """Return <m|rho_x,up|n> and <m|rho_x,dn|n> from block n = `source`, x = q * orbitals + orbital."""
        b, t = self.blocks[source], self.blocks[self.lowered(x, source)]
        q, a = divmod(x, self.orbitals)
        rho = self.rho[q, a, a]
        up = scipy.sparse.csr_array(rho[np.ix_(t.up, b.up)] * (t.dn[:, None] == b.dn))
        dn = scipy.sparse.csr_array(rho[np.ix_(t.dn, b.dn)] * (t.up[:, None] == b.up))
        return t.vectors.conj().T @ (up @ b.vectors), t.vectors.conj().T @ (dn @ b.vectors)


def _real(values):
    """Return an array as real numbers where its imaginary parts are rounding."""
    return np.real(values) if np.abs(np.imag(values)).max() < 1e-10 else values

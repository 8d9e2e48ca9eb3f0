"""Eigenstates of an isolated Hubbard cluster, in blocks of (N_up, N_dn) and, where it is known, momentum.

The trick that keeps everything real: with a Fourier matrix the one-particle orbitals are the cluster momenta, so
each Fock state has a definite momentum, H0 is diagonal and the interaction is U/Nc sum_q rho_q,up rho_-q,dn with
real matrices. Without one the orbitals are the sites and the group has one element.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

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


class Spectrum:
    """All eigenstates of H = sum_ij,s h_ij c+_is c_js + U sum_i n_iup n_idn.

    hopping: real symmetric (Nc, Nc), Nc <= 8 (beyond 4 sites use `fourier`: the largest block of 8 sites shrinks
    from 4900 to about 612 states). fourier: exp(-i K.R) as [K, R] of a translation-invariant cluster, or None.
    Raises InputError.
    """

    def __init__(self, hopping, U, fourier=None):
        h = np.array(hopping, float)
        self.sites = len(h)
        if h.ndim != 2 or h.shape != (self.sites, self.sites) or not np.allclose(h, h.T, atol=1e-12):
            raise InputError("hopping: expected a real symmetric matrix [site, site]")
        if not 1 <= self.sites <= MAX_SITES:
            raise InputError(f"hopping: {self.sites} sites; exact diagonalisation takes 1 to {MAX_SITES}")
        self.hopping, self.U = h, float(U)
        self.fourier = None if fourier is None else np.asarray(fourier, complex)
        self.c = annihilators(self.sites)
        if fourier is None:
            self.group, self.orbital_energy = None, h
        else:
            if self.fourier.shape != h.shape:
                raise InputError(f"fourier: expected shape {h.shape}, got {self.fourier.shape}")
            self.group = MomentumGroup(self.fourier)
            in_k = self.fourier @ h @ self.fourier.conj().T / self.sites
            self.orbital_energy = np.diag(np.diag(in_k).real)
            if not np.allclose(in_k, self.orbital_energy, atol=1e-8):
                raise InputError("fourier: the hopping matrix is not invariant under these translations")
        self.blocks = self._make_blocks()
        self.index = {(b.n_up, b.n_dn, b.momentum): i for i, b in enumerate(self.blocks)}
        self.row = np.zeros((2**self.sites, 2**self.sites), int)  # of |up, dn> in its block
        for block in sorted(self.blocks, key=lambda b: b.n_up < b.n_dn):
            self.row[block.up, block.dn] = np.arange(block.up.size)
            self._diagonalise(block)

    def _add(self, k, p):
        return 0 if self.group is None else self.group.add[k, p]

    def _subtract(self, k, p):
        return 0 if self.group is None else self.group.add[k, self.group.minus[p]]

    def _make_blocks(self):
        states = np.arange(2**self.sites)
        number = particle_number(states, self.sites)
        momentum = np.zeros(states.size, int)
        if self.group is not None:
            momentum[:] = self.group.zero
            for a in range(self.sites):
                occupied = (states >> a) & 1 == 1
                momentum[occupied] = self.group.add[momentum[occupied], a]
        blocks = []
        sectors = [states[number == n] for n in range(self.sites + 1)]
        for n_up, ups in enumerate(sectors):
            for n_dn, dns in enumerate(sectors):
                up, dn = np.repeat(ups, dns.size), np.tile(dns, ups.size)
                total = momentum[up] if self.group is None else self.group.add[momentum[up], momentum[dn]]
                for k in np.unique(total):
                    blocks.append(Block(n_up, n_dn, int(k), up[total == k], dn[total == k]))
        return blocks

    @cached_property
    def one_body(self):
        """sum_ab h_ab c+_a c_b in the Fock space of one spin."""
        return np.einsum("ab,ami,bmj->ij", self.orbital_energy, self.c, self.c, optimize=True)

    @cached_property
    def rho(self):
        """Density operators of one spin: rho_q = sum_K c+_K c_{K+q}, or n_i on sites. rho_-q is the transpose."""
        if self.group is None:
            return np.array([c.T @ c for c in self.c])
        return np.array([sum(self.c[k].T @ self.c[self.group.add[k, q]] for k in range(self.sites))
                         for q in range(self.sites)])

    def _diagonalise(self, block):
        u, d = block.up, block.dn
        if block.n_up < block.n_dn:  # the spin-flipped block: |u,d> -> (-1)^(N_up N_dn) |d,u>, an overall sign
            twin = self.blocks[self.index[block.n_dn, block.n_up, block.momentum]]
            order = np.lexsort((twin.up, twin.dn))
            block.energy, block.double_occupancy = twin.energy, twin.double_occupancy
            block.vectors = twin.vectors[order]
            return
        uu, dd = np.ix_(u, u), np.ix_(d, d)
        double = sum(r[uu] * r.T[dd] for r in self.rho) / (1 if self.group is None else self.sites)
        kinetic = self.one_body[uu] * (d[:, None] == d) + self.one_body[dd] * (u[:, None] == u)
        block.energy, block.vectors = np.linalg.eigh(kinetic + self.U * double)
        block.double_occupancy = np.einsum("mn,mn->n", block.vectors, double @ block.vectors)

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
        return t.vectors.T @ (sign[:, None] * b.vectors[row])

    def density(self, x, source):
        """Return <m|rho_x,up|n> and <m|rho_x,dn|n> from block n = `source`; x is a momentum q or a site."""
        b, t = self.blocks[source], self.blocks[self.lowered(x, source)]
        up = csr_array(self.rho[x][np.ix_(t.up, b.up)] * (t.dn[:, None] == b.dn))
        dn = csr_array(self.rho[x][np.ix_(t.dn, b.dn)] * (t.up[:, None] == b.up))
        return t.vectors.T @ (up @ b.vectors), t.vectors.T @ (dn @ b.vectors)

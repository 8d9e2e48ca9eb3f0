"""A Bravais lattice with orbitals in its cell: hopping table, bands and point group."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from plaq.dca.lattice.crystal import SYSTEMS, operations
from plaq.dca.lattice.operations import Bonds, Operation, find_operations
from plaq.errors import InputError

WAVES = 2**19  # values of cos(k.d) at a time
GRID = {1: 960, 2: 96, 3: 24}  # momenta along an axis on which band edges are looked for; all symmetric ones are there


class Lattice:
    """Hopping table {d: amplitude} in one, two or three dimensions: d in lattice vectors, energies in units of t.

    H_0 = sum_ij,s t_ab(R_i - R_j) c+_ias c_jbs, so h_ab(k) = sum_d t_ab(d) exp(-i k.d), with k in units of the
    inverse lattice vectors (2 pi periodic in each). An amplitude is a number for one orbital, a matrix [b, b], or two
    of them where up and down differ. t(-d) = t(d)^T makes h Hermitian; t(0) holds energies of orbitals and fields.

    orbitals: names; positions [b, D]: where they are in the cell, in lattice vectors; all in one place unless given.
    h has no phases of positions; averages over patches have them. spins: 1, or 2 where up and down differ.
    table: {d: [spins, b, b]}.
    one_band: one orbital and spins alike, so that `hopping` {d: number} and `dispersion` are there.
    point_group: integer matrices g [n, D, D], R -> g R, that leave the table invariant, identity first.
    system: the CrystalSystem that they belong to.
    Raises InputError (key model.hopping) for an empty table, displacements that are not integers, amplitudes that
    are not finite and real or of another shape, and t(-d) != t(d)^T.
    """

    states = None  # density of states in place of a band (plaq.dca.lattice.density_of_states)

    def __init__(self, table, orbitals=("1",), positions=None, dimension=None):
        self.orbitals = tuple(orbitals)
        self.bands = len(self.orbitals)
        self.table = _validated(table, self.bands, dimension)
        self.dimension = len(next(iter(self.table)))
        self.spins = len(next(iter(self.table.values())))
        self.positions = _placed(positions, self.bands, self.dimension)
        self.one_band = self.bands == 1 and self.spins == 1
        self._displacements = np.array(list(self.table), dtype=int)
        if self.one_band:
            self.hopping = {d: float(t[0, 0, 0]) for d, t in self.table.items()}
            self._amplitudes = np.array(list(self.hopping.values()))
        self.system, self.operations = max(
            ((system, self._symmetries(system)) for system in SYSTEMS[self.dimension]),
            key=lambda pair: len({op.matrix.tobytes() for op in pair[1]}))
        distinct = {op.matrix.tobytes(): op.matrix for op in self.operations}
        self.point_group = np.array(list(distinct.values()))

    @classmethod
    def square(cls, t=1.0, t_prime=0.0):
        """Return eps(k) = -2 t (cos kx + cos ky) - 4 t' cos kx cos ky."""
        table = {d: -t for d in ((1, 0), (-1, 0), (0, 1), (0, -1))}
        if t_prime != 0:
            table |= {d: -t_prime for d in itertools.product((1, -1), repeat=2)}
        return cls(table)

    def dispersion(self, k):
        """Return eps(k) of the one band for k[..., D]; shape [...]."""
        k = np.asarray(k, dtype=float)
        # Term by term: the same bits whatever the number of points and threads.
        eps = np.zeros(k.shape[:-1])
        for d, t in self.hopping.items():
            eps += t * np.cos(sum(component * k[..., axis] for axis, component in enumerate(d)))
        return eps

    def hamiltonian(self, k, spin=0):
        """Return h_ab(k) [..., b, b] for k [..., D]; spin: 0 up, 1 down."""
        return np.moveaxis(self.elements(k, spin), (0, 1), (-2, -1))

    def elements(self, k, spin=0):
        """Return h_ab(k) with the orbitals first: [b, b, ...]."""
        k = np.asarray(k, dtype=float)
        points, (d, t) = k.reshape(-1, self.dimension), self._half
        h = np.empty((self.bands, self.bands, len(points)), dtype=complex)
        count = max(1, WAVES // len(d))
        for start in range(0, len(points), count):
            phase = sum(d[:, axis, None] * points[None, start:start + count, axis] for axis in range(self.dimension))
            # einsum adds in one order, whatever the number of BLAS threads
            even, odd = (np.einsum("dab,dn->abn", t[spin % self.spins], wave)
                         for wave in (np.cos(phase), np.sin(phase)))
            h[..., start:start + count] = (even + even.swapaxes(0, 1)) + 1j * (odd.swapaxes(0, 1) - odd)
        return h.reshape(self.bands, self.bands, *k.shape[:-1])

    @functools.cached_property
    def _half(self):
        """One of d, -d [n, D] with its amplitudes [spins, n, b, b], half of t(0)."""
        chosen = [d for d in self.table if d >= tuple(-x for x in d)]
        t = np.array([self.table[d] * (1.0 if any(d) else 0.5) for d in chosen])
        return np.array(chosen), np.ascontiguousarray(t.swapaxes(0, 1))

    def powers(self):
        """Return h and its square, each as displacements d [n, D] and amplitudes t [S, n, a, b] of exp(-i k.d)."""
        d, t = self._displacements, np.array(list(self.table.values())).swapaxes(0, 1)
        reach = np.abs(d).max(axis=0)
        sizes, axes = 4 * reach + 1, tuple(range(1, 1 + self.dimension))
        on_grid = np.zeros((self.spins, *sizes, self.bands, self.bands))
        on_grid[(slice(None), *d.T)] = t
        h = np.fft.fftn(on_grid, axes=axes)
        square = np.fft.ifftn(h @ h, axes=axes).real.reshape(self.spins, -1, self.bands, self.bands)
        there = np.stack(np.unravel_index(np.arange(square.shape[1]), sizes), axis=-1)
        return (d, t), ((there + 2 * reach) % sizes - 2 * reach, square)

    def energies(self, k, spin=0):
        """Return the bands at k [..., D], ascending: [..., b]."""
        if self.bands == 1:
            return self.elements(k, spin)[0, 0].real[..., None]
        return np.linalg.eigvalsh(self.hamiltonian(k, spin))

    def grid(self):
        """Return momenta [n, ..., n, D] that hold all symmetric ones."""
        k = 2 * np.pi * np.arange(GRID[self.dimension]) / GRID[self.dimension]
        return np.stack(np.meshgrid(*[k] * self.dimension), axis=-1)

    @property
    def steepest(self):
        """Bound on |d h / d k_i| over directions, spins and the zone: max_i sum_d |t(d)| |d_i|, spectral norms."""
        if self.one_band:
            return float(np.max(np.abs(self._amplitudes) @ np.abs(self._displacements)))
        norms = np.array([[np.linalg.norm(t, 2) for t in matrices] for matrices in self.table.values()])
        return float(np.max(norms.T @ np.abs(self._displacements)))

    @functools.cached_property
    def extrema(self):
        """(lowest, highest) energy of all bands: best of a grid that holds the symmetric momenta, then refined.

        One band is refined by Newton steps, several by grids that shrink around the best.
        """
        grid = self.grid().reshape(-1, self.dimension)
        if not self.one_band:
            ends = [self._edges(grid, spin) for spin in range(self.spins)]
            return min(low for low, _ in ends), max(high for _, high in ends)
        eps = self.dispersion(grid)
        lowest = self._stationary_value(grid[eps.argmin()])
        highest = self._stationary_value(grid[eps.argmax()])
        return min(float(eps.min()), lowest), max(float(eps.max()), highest)

    @property
    def largest_energy(self):
        """Maximum of |eps(k)|."""
        return max(map(abs, self.extrema))

    def _edges(self, grid, spin):
        step = 2 * np.pi / GRID[self.dimension]
        bands = self.energies(grid, spin)
        near = np.array(list(itertools.product((-1, -0.5, 0, 0.5, 1), repeat=self.dimension)))
        ends = []
        for band, sign in ((0, 1), (-1, -1)):
            values = sign * bands[:, band]
            best, centre, reach = values.min(), grid[values.argmin()], 2 * step
            rounding = 1e-12 * max(np.abs(bands).max(), 1e-300)
            while reach > 1e-7:  # where a band with an extremum is flat to rounding
                around = centre + reach * near
                values = sign * self.energies(around, spin)[:, band]
                if values.min() > best - rounding:
                    reach /= 2
                if values.min() < best:
                    best, centre = values.min(), around[values.argmin()]
            ends.append(sign * float(best))
        return ends

    def _stationary_value(self, k):
        d = self._displacements
        t = np.where(d.any(axis=1), self._amplitudes, 0.0)
        # where it is does not depend on the unit, and 1/t may be too large
        t = np.ldexp(t, -np.frexp(np.abs(t).max())[1])
        for _ in range(4):
            phase = d @ k
            gradient = -(t * np.sin(phase)) @ d
            hessian = -np.einsum("d,di,dj->ij", t * np.cos(phase), d, d)
            k = k - np.linalg.pinv(hessian, rcond=1e-10) @ gradient
        return float(self.dispersion(k))

    def _symmetries(self, system):
        candidates = operations(system.name, self.dimension)
        if self.one_band:
            found = [Operation.of_cells(g) for g in candidates if self._is_invariant(g)]
        else:
            found = [op for g in candidates for op in find_operations(self.bonds, g)]
        return tuple(sorted(found, key=lambda op: not op.is_identity))

    @functools.cached_property
    def bonds(self) -> Bonds:
        """Bonds between orbitals by displacement."""
        return Bonds(self.table)

    def _is_invariant(self, g):
        return all(self.hopping.get(tuple(g @ d)) == t for d, t in self.hopping.items())


def _placed(positions, bands, dimension):
    if positions is None:
        return np.zeros((bands, dimension))
    placed = np.array(positions, dtype=float)
    if placed.shape != (bands, dimension) or not np.all(np.isfinite(placed)):
        raise InputError(f"model.positions: {positions} are not {bands} positions of {dimension} numbers, one for each "
                         "orbital")
    return placed


def _validated(table, bands, dimension):
    if not table:
        raise InputError("model.hopping is empty: it needs at least one displacement with its amplitude")
    dimension = dimension or len(next(iter(table)))
    noun = {1: "an integer", 2: "a pair of integers", 3: "three integers"}.get(dimension, "one to three integers")
    read = {}
    for d, amplitude in table.items():
        if not 1 <= dimension <= 3 or len(d) != dimension or any(component != int(component) for component in d):
            raise InputError(f"model.hopping: displacement {tuple(d)} is not {noun}")
        read[tuple(map(int, d))] = _matrices(tuple(d), amplitude, bands)
    spins = max(map(len, read.values()))
    read = {d: np.broadcast_to(t, (spins, bands, bands)) for d, t in read.items()}
    for d, t in read.items():
        reverse = tuple(-x for x in d)
        back = read.get(reverse)
        if back is None or not np.array_equal(back, t.swapaxes(1, 2)):
            raise InputError(_not_hermitian(d, t, reverse, back))
    return read


def _matrices(d, amplitude, bands):
    """Return an amplitude as [spins, b, b]."""
    wrong = InputError(f"model.hopping: amplitude {amplitude} at {d} is not a finite real number"
                       if bands == 1 else
                       f"model.hopping: amplitude {amplitude} at {d} is not a {bands}x{bands} matrix of finite real "
                       "numbers, nor two of them for up and down")
    try:
        t = np.array(amplitude)
    except ValueError:
        raise wrong from None
    if t.dtype.kind not in "iuf" or not np.all(np.isfinite(t)):
        raise wrong
    shapes = {(bands, bands): 1, (2, bands, bands): 2} | ({(): 1, (2,): 2} if bands == 1 else {})
    if t.shape not in shapes:
        raise wrong
    return t.astype(float).reshape(shapes[t.shape], bands, bands)


def _not_hermitian(d, t, reverse, back):
    if t.shape == (1, 1, 1):
        missing = "missing" if back is None else back[0, 0, 0]
        return f"model.hopping: t(-d) must equal t(d), but t{d} = {t[0, 0, 0]} and t{reverse} = {missing}"
    if back is None:
        return f"model.hopping: t(-d) must be the transpose of t(d), but t{reverse} is missing"
    spin, a, b = np.argwhere(back != t.swapaxes(1, 2))[0]
    return (f"model.hopping: t(-d) must be the transpose of t(d), but t{d}[{b},{a}] = {t[spin, b, a]} and "
            f"t{reverse}[{a},{b}] = {back[spin, a, b]}")

"""A single-band Bravais lattice: hopping table, dispersion and point group."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from plaq.errors import InputError


@dataclass(frozen=True)
class CrystalSystem:
    """A maximal point group in lattice coordinates, with the metric it leaves invariant.

    metric: g_ij = a_i.a_j of the lattice vectors, so that |R|^2 = R.metric.R.
    harmonics: name -> (l, kind): the field's name of the irrep of cos(l phi), sin(l phi) or both.
    """

    name: str
    metric: tuple
    harmonics: dict


SQUARE_HARMONICS = {
    "s": (0, "cos"),
    "d_x2y2": (2, "cos"),
    "d_xy": (2, "sin"),
    "g": (4, "sin"),
    "p": (1, "both"),
}
HEXAGONAL_HARMONICS = {
    "s": (0, "cos"),
    "d": (2, "both"),
    "p": (1, "both"),
    "f_cos": (3, "cos"),
    "f_sin": (3, "sin"),
    "i": (6, "sin"),
}
# Every integer matrix of finite order with entries in {-1, 0, 1} belongs to one of these; ties go to the first.
SYSTEMS = (
    CrystalSystem("square", ((1, 0), (0, 1)), SQUARE_HARMONICS),
    CrystalSystem("hexagonal, axes at 60 degrees", ((2, 1), (1, 2)), HEXAGONAL_HARMONICS),
    CrystalSystem("hexagonal, axes at 120 degrees", ((2, -1), (-1, 2)), HEXAGONAL_HARMONICS),
)


class Lattice:
    """Hopping table {(dx, dy): amplitude}: displacements in lattice vectors, energies in units of t.

    H_0 = sum_ij,s t(R_i - R_j) c+_is c_js, so eps(k) = sum_d t(d) exp(i k.d), with k in units of the inverse
    lattice vectors (2 pi periodic in both). t(-d) = t(d) makes eps real and even; t(0, 0) shifts the energy.

    point_group: integer matrices g [n, 2, 2], R -> g R, that leave the table invariant, identity first.
    system: the CrystalSystem that they belong to.
    Raises InputError (key model.hopping) for an empty table, displacements that are not pairs of integers,
    amplitudes that are not finite, and t(-d) != t(d).
    """

    def __init__(self, hopping):
        self.hopping = _validated(hopping)
        self._displacements = np.array(list(self.hopping), dtype=int)
        self._amplitudes = np.array(list(self.hopping.values()))
        self.system, self.point_group = max(
            ((system, self._symmetries(system)) for system in SYSTEMS), key=lambda pair: len(pair[1])
        )

    @classmethod
    def square(cls, t=1.0, t_prime=0.0):
        """Return eps(k) = -2 t (cos kx + cos ky) - 4 t' cos kx cos ky."""
        table = {d: -t for d in ((1, 0), (-1, 0), (0, 1), (0, -1))}
        if t_prime != 0:
            table |= {d: -t_prime for d in itertools.product((1, -1), repeat=2)}
        return cls(table)

    def dispersion(self, k):
        """Return eps(k) for k[..., 2]; shape [...]."""
        k = np.asarray(k, dtype=float)
        # Term by term: the same bits whatever the number of points and threads.
        eps = np.zeros(k.shape[:-1])
        for (dx, dy), t in self.hopping.items():
            eps += t * np.cos(dx * k[..., 0] + dy * k[..., 1])
        return eps

    @property
    def steepest(self):
        """Bound on |d eps / d k_i| over both directions and the zone: max_i sum_d |t(d) d_i|."""
        return float(np.max(np.abs(self._amplitudes) @ np.abs(self._displacements)))

    @property
    def extrema(self):
        """(lowest, highest) band energy: best of a grid that holds the symmetric momenta, then Newton steps."""
        k = 2 * np.pi * np.arange(96) / 96
        grid = np.stack(np.meshgrid(k, k), axis=-1).reshape(-1, 2)
        eps = self.dispersion(grid)
        lowest = self._stationary_value(grid[eps.argmin()])
        highest = self._stationary_value(grid[eps.argmax()])
        return min(float(eps.min()), lowest), max(float(eps.max()), highest)

    @property
    def largest_energy(self):
        """Maximum of |eps(k)|."""
        return max(map(abs, self.extrema))

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
        metric = np.array(system.metric)
        operations = []
        for entries in itertools.product((1, 0, -1), repeat=4):
            g = np.array(entries).reshape(2, 2)
            if np.array_equal(g.T @ metric @ g, metric) and self._is_invariant(g):
                operations.append(g)
        operations.sort(key=lambda g: not np.array_equal(g, np.eye(2)))
        return np.array(operations)

    def _is_invariant(self, g):
        return all(self.hopping.get(tuple(g @ d)) == t for d, t in self.hopping.items())


def _validated(hopping):
    if not hopping:
        raise InputError("model.hopping is empty: it needs at least one displacement with its amplitude")
    table = {}
    for d, amplitude in hopping.items():
        if len(d) != 2 or any(component != int(component) for component in d):
            raise InputError(f"model.hopping: displacement {d} is not a pair of integers")
        if isinstance(amplitude, complex) or not math.isfinite(amplitude):
            raise InputError(f"model.hopping: amplitude {amplitude} at {tuple(d)} is not a finite real number")
        table[int(d[0]), int(d[1])] = float(amplitude)
    for (x, y), amplitude in table.items():
        if table.get((-x, -y)) != amplitude:
            raise InputError(
                f"model.hopping: t(-d) must equal t(d), but t{(x, y)} = {amplitude} and t{(-x, -y)} = "
                f"{table.get((-x, -y), 'missing')}"
            )
    return table

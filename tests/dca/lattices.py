"""Lattices, and clusters drawn at random, of the tests of geometry."""

import numpy as np
from hypothesis import strategies as st

from plaq.dca.lattice.hopping import Lattice


def both_signs(table):
    """Return a hopping table with -d for every displacement d."""
    return table | {(-x, -y): t for (x, y), t in table.items()}


T_PRIME = Lattice.square(1, -0.3)
STRIPES = Lattice(both_signs({(1, 0): -1.0, (0, 1): -0.5}))
TRIANGLES = both_signs({(1, 0): -1.0, (0, 1): -1.0, (1, -1): -1.0})  # axes at 120 degrees
TRIANGULAR = Lattice(TRIANGLES)


def superlattices(largest):
    """Return a strategy of two integer vectors that enclose 1 to ``largest`` sites."""
    component = st.integers(-7, 7)
    return st.tuples(st.tuples(component, component), st.tuples(component, component)).filter(
        lambda v: 1 <= abs(v[0][0] * v[1][1] - v[0][1] * v[1][0]) <= largest)


def table_of(bands, *hops, energies=None):
    """Return a table from hops (d, a, b, t): t c+_{R+d,a} c_{R,b} and its conjugate."""
    dimension = len(hops[0][0])
    table = {(0,) * dimension: np.diag(np.zeros(bands) if energies is None else np.array(energies, dtype=float))}
    for d, a, b, t in hops:
        for displacement, i, j in ((d, a, b), (tuple(-x for x in d), b, a)):
            matrix = table.setdefault(displacement, np.zeros((bands, bands)))
            matrix[i, j] = t
    return table


NAMES = "ABCDEF"
HONEYCOMB = table_of(2, *(((x, y), 1, 0, -1.0) for x, y in ((0, 0), (1, 0), (0, 1))))
KAGOME = table_of(3, ((0, 0), 0, 1, -1.0), ((1, 0), 0, 1, -1.0), ((0, 0), 0, 2, -1.0), ((0, 1), 0, 2, -1.0),
                  ((0, 0), 1, 2, -1.0), ((-1, 1), 1, 2, -1.0))
# d in the corner, p_x and p_y half a vector along x and y: t_pd = 1, t_pp = 1/2, energies 0 and 3
THREE_BAND = table_of(3, ((0, 0), 0, 1, 1.0), ((1, 0), 0, 1, -1.0), ((0, 0), 0, 2, -1.0), ((0, 1), 0, 2, 1.0),
                      ((0, 0), 1, 2, -0.5), ((-1, 0), 1, 2, 0.5), ((0, 1), 1, 2, 0.5), ((-1, 1), 1, 2, -0.5),
                      energies=[0, 3, 3])
BILAYER = table_of(2, ((0, 0), 0, 1, -0.7), *((d, a, a, -1.0) for d in ((1, 0), (0, 1)) for a in (0, 1)))
SSH = table_of(2, ((0,), 0, 1, -1.0), ((1,), 0, 1, -0.5))
DIAMOND = table_of(2, *((d, 1, 0, -1.0) for d in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))))
CUBIC = table_of(1, *((d, 0, 0, -1.0) for d in ((1, 0, 0), (0, 1, 0), (0, 0, 1))))
CHAIN = table_of(1, ((1,), 0, 0, -1.0))
STAGGERED = HONEYCOMB | {(0, 0): np.array([[[0.3, -1], [-1, -0.3]], [[-0.3, -1], [-1, 0.3]]])}  # up, down


HALVES = [[0, 0], [1 / 2, 0], [0, 1 / 2]]
PLACES = {id(HONEYCOMB): [[0, 0], [-1 / 3, -1 / 3]], id(STAGGERED): [[0, 0], [-1 / 3, -1 / 3]], id(KAGOME): HALVES,
          id(THREE_BAND): HALVES, id(SSH): [[0], [1 / 2]], id(DIAMOND): [[0, 0, 0], [-1 / 4, -1 / 4, -1 / 4]]}


def orbital_lattice(table):
    """Return the lattice of a table of matrices, with the positions of its orbitals if it is one of these."""
    bands = np.shape(table[(0,) * len(next(iter(table)))])[-1]
    return Lattice(table, NAMES[:bands], PLACES.get(id(table)))


def square_vectors(lattice, length=2):
    """Return the vectors of the cluster of length**D cells."""
    return (length * np.eye(lattice.dimension, dtype=int)).tolist()

"""Lattices, and clusters drawn at random, of the tests of geometry."""

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

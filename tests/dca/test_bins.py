"""Sums over chains: one order, whoever brings which piece when."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaq.data.bins import Bins


def piece(number):
    """Numbers of very different size: every order of summation rounds differently."""
    random = np.random.default_rng(number)
    return random.standard_normal(50) * np.exp(4 * random.standard_normal(50))


def series(number):
    return np.full((3, 4), number, np.float32)


def filled(bins, chains, numbers):
    out = Bins(bins, chains)
    for number in numbers:
        out.add(*divmod(number, out.of_chain), piece(number), series(number))
    return out


def in_pairs(arrays):
    """Neighbours first, as the docstring says, but all levels at once."""
    while len(arrays) > 1:
        arrays = [np.sum(arrays[i:i + 2], axis=0) for i in range(0, len(arrays), 2)]
    return arrays[0]


@pytest.mark.parametrize("bins, chains", [(4, 4), (12, 4), (4, 12), (1, 1), (2, 26), (1, 7), (1, 64)])
def test_sums_of_groups(bins, chains):
    found = filled(bins, chains, range(max(bins, chains)))
    group = max(bins, chains) // bins
    expected = [in_pairs([piece(n) for n in range(b * group, (b + 1) * group)]) for b in range(bins)]
    assert found.sums().tobytes() == np.array(expected).tobytes()
    kept = [b * group for b in range(bins)]  # the first chain of each bin tells of autocorrelation
    np.testing.assert_array_equal(found.series(), [series(n) for n in kept])


@given(st.integers(1, 5), st.integers(1, 40), st.integers(1, 6), st.randoms(use_true_random=False))
def test_order_and_place_do_not_matter(bins, group, ranks, random):
    chains = bins * group
    expected = filled(bins, chains, range(chains))
    numbers = list(range(chains))
    random.shuffle(numbers)
    owners = [[n for n in numbers if random.randrange(ranks) == 0] for _ in range(ranks - 1)]
    taken = set()
    parts = []
    for owned in owners:
        parts.append(filled(bins, chains, [n for n in owned if n not in taken]))
        taken |= set(owned)
    whole = filled(bins, chains, [n for n in numbers if n not in taken])
    for part in parts:
        whole = whole.join(Bins.from_state(part.take_all().state()))
        assert part.pieces == 0
    assert whole.pieces == chains
    assert whole.sums().tobytes() == expected.sums().tobytes()
    assert whole.series().tobytes() == expected.series().tobytes()


def test_memory_is_that_of_the_bins():
    found = Bins(4, 4000)
    most = 0
    for chain in range(4000):
        found.add(chain, 0, piece(chain), series(chain))
        most = max(most, len(found.state()["blocks"]))
    assert most <= 4 + np.log2(1000) and len(found.state()["series"]) == 4


def test_sums_that_are_not_complete_are_refused():
    with pytest.raises(ValueError, match="only 5 of 6 pieces"):
        filled(2, 6, range(5)).sums()

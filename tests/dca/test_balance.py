"""Moves of chains between ranks, from the loads alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaq.batch.balance import Load, Move, plan

CHAIN, BIN = 1000.0, 100.0  # sweeps


def rank(waiting, running, speed=100.0, workers=1, left=None):
    return Load(waiting, running, workers, CHAIN * (waiting + running) if left is None else left, speed)


def moves(*loads, ahead=0.4):
    return plan(list(loads), ahead, BIN)[0]


def recalls(*loads):
    return plan(list(loads), 0.4, BIN)[1]


def test_nothing_moves_while_all_have_work():
    assert moves(rank(5, 1), rank(1, 1), rank(3, 1, speed=10.0)) == []
    assert moves(rank(5, 1)) == []


def test_an_idle_rank_takes_half_of_an_equal_ones_chains():
    assert moves(rank(7, 1), rank(0, 0)) == [Move(0, 1, 4)]
    assert moves(rank(0, 0), rank(1, 1)) == [Move(1, 0, 1)]
    assert moves(rank(0, 0), rank(0, 1)) == []  # what runs stays


def test_a_slow_rank_gives_until_both_would_be_done_together():
    (move,) = moves(rank(9, 1, speed=10.0), rank(0, 0, speed=100.0))
    assert move == Move(0, 1, 9)  # ten times as fast: nine there take as long as one here
    assert moves(rank(0, 0, speed=10.0), rank(2, 1, speed=100.0)) == []  # would be later than where it is


def test_the_latest_gives_first():
    assert moves(rank(2, 1), rank(4, 1), rank(0, 0)) == [Move(1, 2, 2)]
    assert dict.fromkeys(move.giver for move in moves(*[rank(3, 1)] * 2, *[rank(0, 0)] * 2)) == {0: None, 1: None}


def test_a_rank_that_ends_before_the_next_exchange_takes_ahead():
    assert moves(rank(8, 1), rank(0, 1, left=30.0)) != []  # 0.3 s left
    assert moves(rank(8, 1), rank(0, 1, left=50.0)) == []


def test_workers_count():
    assert moves(rank(8, 4, workers=4), rank(0, 0, workers=4)) == [Move(0, 1, 6)]
    assert moves(rank(1, 4, workers=4), rank(0, 3, workers=4)) == [Move(0, 1, 1)]


def test_a_speed_that_is_not_known_is_that_of_the_others():
    assert moves(rank(7, 1), rank(0, 0, speed=0.0)) == [Move(0, 1, 4)]
    assert moves(rank(7, 1, speed=0.0), rank(0, 0, speed=0.0)) == [Move(0, 1, 4)]


def test_chains_are_called_back_for_faster_workers_only():
    assert recalls(rank(0, 1, speed=10.0), rank(0, 0)) == [1, 0]
    assert recalls(rank(0, 1, speed=80.0), rank(0, 0)) == [0, 0]
    assert recalls(rank(0, 1, speed=10.0, left=BIN), rank(0, 0)) == [0, 0]  # its last bin
    assert recalls(rank(0, 2, speed=10.0, workers=2), rank(0, 1, speed=30.0), rank(0, 0)) == [1, 0, 0]
    assert recalls(rank(1, 1, speed=10.0), rank(0, 0)) == [0, 0]  # the one that waits goes first


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4), st.integers(0, 4), st.floats(0, 1e3),
                          st.floats(1e-3, 1)), min_size=1, max_size=12))
def test_ranks_give_only_chains_that_they_have_and_none_ends_later(given_loads):
    loads = [Load(w, r, r + idle, 50.0 * (w + r) * share, speed)
             for w, r, idle, speed, share in given_loads if r + idle]
    if not loads:
        return
    found, back = plan(loads, 0.4, BIN)
    assert plan(loads, 0.4, BIN) == (found, back)  # the same on every rank
    for number, load in enumerate(loads):
        gives = sum(m.chains for m in found if m.giver == number)
        takes = sum(m.chains for m in found if m.taker == number)
        assert gives <= load.waiting and not (gives and takes) and 0 <= back[number] <= load.running
    assert all(m.chains > 0 and m.giver != m.taker for m in found)
    if all(load.speed > 0 for load in loads):
        after = list(loads)
        for m in found:
            sweeps = m.chains * loads[m.giver].chain
            after[m.giver] = after[m.giver].with_chains(-m.chains, -sweeps)
            after[m.taker] = after[m.taker].with_chains(m.chains, sweeps)
        latest = max(load.seconds for load in loads)
        assert max(load.seconds for load in after) <= latest * (1 + 1e-9)


@pytest.mark.parametrize("ranks", [10_000])
def test_many_ranks_are_planned(ranks):
    found = moves(*[rank(9, 1, speed=10.0), rank(0, 0)] * (ranks // 2))
    assert sum(m.chains for m in found) == 9 * ranks // 2

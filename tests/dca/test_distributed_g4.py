"""Rows of two-particle functions, without any ranks: rows and places; and where they are taken."""

import numpy as np
import pytest

from plaq import comm
from plaq.data.bins import Bins
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.symmetry import PointGroup
from plaq.dca.parameters import Parameters
from plaq.dca.physics.two_particle import pair_orbits
from plaq.dca.planning import distribution
from plaq.dca.planning.cost import Machine, cost
from plaq.dca.solver import distributed_g4
from plaq.dca.solver.chains import Chains, fresh_chain
from plaq.dca.solver.distributed_g4 import DistributedG4, pair_functions
from plaq.errors import InputError

WINDOW = 3


class Ranks:
    """One of several ranks that are asked one after the other, rank 0 first; `said` is what it broadcasts.

    `others` are what the others say to an allreduce.
    """

    def __init__(self, rank, size, others=(), said=None):
        self.rank, self.size, self.others, self.said = rank, size, others, [] if said is None else said

    def bcast(self, value):
        if self.rank > 0:
            return self.said.pop(0)
        self.said.append(value)
        return value

    def allgather(self, value):
        return [value, *({} for _ in self.others)]

    def share(self, total):
        return range(total * self.rank // self.size, total * (self.rank + 1) // self.size)

    def allreduce(self, value, op):
        return {"min": min, "max": max}[op]([value, *self.others])


@pytest.fixture
def functions():
    cluster = Cluster(Lattice.square(), [[2, 0], [0, 2]])
    return pair_functions(WINDOW, 4, pair_orbits(PointGroup(cluster)), 2)


def whole_bin(functions, offset, seed):
    count = sum(f.rows * f.row_numbers for f in functions.values())
    return np.random.default_rng(seed).normal(size=offset + count)


def measured(sums):
    """One bin of each chain."""
    bins = Bins(len(sums), len(sums))
    for chain, content in enumerate(sums):
        bins.add(chain, 0, content.copy())
    return bins


def test_a_row_goes_to_all_pairs_of_its_block(functions):
    f = functions["pairing"]
    rows = np.random.default_rng(1).normal(size=(f.rows, f.columns))
    expected = rows.reshape(-1, WINDOW, 2 * WINDOW)[f.blocks].transpose(0, 2, 1, 3)
    np.testing.assert_array_equal(f.whole(rows), expected)
    pieces = np.full(f.shape, np.nan)
    for first in range(0, f.rows, 4):  # pieces that do not end with a block
        f.place(pieces, first, rows[first:first + 4])
    np.testing.assert_array_equal(pieces, expected)


def test_rows_of_a_channel_are_complex_and_ordered_by_pair(functions):
    f = functions["channel_1"]
    numbers = np.random.default_rng(2).normal(size=f.rows * f.row_numbers)
    expected = (numbers[::2] + 1j * numbers[1::2]).reshape(4, 4, 2 * WINDOW, 2 * WINDOW)  # [K, K', n, n']
    np.testing.assert_array_equal(f.whole(f.rows_of(numbers)), expected.transpose(0, 2, 1, 3))


@pytest.mark.parametrize("longest", [1, 700, 1 << 26])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_bins_come_back_from_a_file_of_whole_bins_on_any_number_of_ranks(functions, size, longest, monkeypatch):
    monkeypatch.setattr(distributed_g4, "LONGEST", longest)
    offset, wholes = 5, [whole_bin(functions, 5, seed) for seed in range(3)]
    places, file = [[distributed_g4.AVERAGE, 0, 0], [0, 0, 0], [1, 0, 0]], np.concatenate([w[offset:] for w in wholes])
    said = []
    for rank in range(size):
        bins = measured(wholes[1:]) if rank == 0 else Bins(2, 2)
        cut = DistributedG4(Ranks(rank, size, said=said if rank == 0 else list(said)), functions, 2, 2)
        cut.cut_from(bins, offset)
        assert all(np.array_equal(b, w[:offset]) for b, w in zip(bins.blocks.values(), wholes[1:]))
        restored, position = DistributedG4(Ranks(rank, size), functions, 2, 2), 0

        def read(count):
            nonlocal position
            position += count
            return file[position - count:position]

        restored.restore(places, read)
        assert position == len(file)
        for mine, same in zip(restored.bins.complete(), cut.bins.complete(), strict=True):
            np.testing.assert_array_equal(mine, same)
        begin = offset
        for f in functions.values():
            rows = f.rows_of(wholes[0][begin:begin + f.rows * f.row_numbers])
            begin += f.rows * f.row_numbers
            mine = cut.comm.share(f.rows)
            np.testing.assert_array_equal(restored.average[f.name][0], rows[mine.start:mine.stop])
            np.testing.assert_array_equal(cut.cut({f.name: [rows]})[f.name][0], rows[mine.start:mine.stop])
        if size == 1:
            restored.join_to(bins)
            assert all(np.array_equal(b, w) for b, w in zip(bins.complete(), wholes[1:], strict=True))


def test_blocks_of_a_file_that_later_became_one_count_once(functions):
    """More chains than bins: sums of two chains are saved apart, then together."""
    parts = [whole_bin(functions, 0, seed) for seed in range(2)]
    file = np.concatenate([*parts, parts[0] + parts[1]])
    position = 0

    def read(count):
        nonlocal position
        position += count
        return file[position - count:position]

    found = DistributedG4(Ranks(0, 1), functions, 1, 2)
    found.restore([[0, 0, 0], [0, 0, 1], [0, 1, 0]], read)
    np.testing.assert_array_equal(found.bins.complete(), [parts[0] + parts[1]])


def test_bins_that_some_rank_lacks_do_not_match(functions):
    states = [fresh_chain(c) | {"bins_done": 1} for c in range(2)]
    chains = Chains(measured([whole_bin(functions, 5, 1)] * 2), states)
    here = DistributedG4(Ranks(0, 2, [1]), functions, 2, 2)
    assert not here.match(chains.done())
    here.cut_from(chains.bins, 5)
    assert here.match(chains.done())
    here.comm.others = [0]
    assert not here.match(chains.done())


def case(how):
    return Parameters(model={"U": 4}, dca={"temperatures": [0.5], "density": 0.95},
                      two_particle={"frequencies": 32}, run={"two_particle": how, "workers": 1})


def test_auto_distributes_functions_that_do_not_fit_the_smallest_rank(monkeypatch):
    p = case("auto")
    cluster = Cluster(Lattice.square(), p.model.cluster)
    needed = cost(p, cluster, 0.5, Machine(), 2, 1).rank_bytes
    for share, others, expected in [(1.01, [1], False), (0.99, [1], True), (1.01, [0], True)]:
        monkeypatch.setattr(distribution, "memory", lambda: share * needed)
        assert distribution.is_distributed(p, cluster, 0.5, Ranks(0, 2, others)) is expected
    assert distribution.is_distributed(case("distributed"), cluster, 0.5, Ranks(0, 2))
    assert not distribution.is_distributed(case("local"), cluster, 0.5, Ranks(0, 2))
    assert not distribution.is_distributed(case("distributed"), cluster, 0.5, Ranks(0, 1))


def test_more_chains_than_tags_are_refused_in_shares_and_local_otherwise(monkeypatch):
    """The tag of a chain's messages is its number; tags end at 30 000."""
    many = {"chains": 64 * 469, "measurements": 10**6}
    assert many["chains"] > 30_001
    with pytest.raises(InputError, match='"distributed" allows at most 30001 chains: solver.chains = 30016'):
        case("auto").replace(run={"two_particle": "distributed"}, solver=many)
    monkeypatch.setattr(distribution, "memory", lambda: 0)
    p = case("auto").replace(solver=many)
    assert not distribution.is_distributed(p, Cluster(Lattice.square(), p.model.cluster), 0.5, Ranks(0, 2))


def test_memory_of_a_machine_is_shared_by_its_ranks(monkeypatch):
    from plaq import machine

    alone = machine.memory()
    assert 1e8 < alone < 1e14
    monkeypatch.setattr(comm, "node", lambda: comm.Node(0, [[0]] * 4))
    assert machine.memory() == alone / 4

"""Metis, Scotch and Zoltan beside plaq's balancers, where they are installed."""

import ctypes
import os
import re
import subprocess

import numpy as np
import pytest
from test_balance_loads import plume, write

from plaq.balance import partitioners, read, zoltan
from plaq.balance.replay import replay, usable
from plaq.errors import InputError


def installed(name):
    try:
        partitioners.library(name)
    except InputError as why:
        pytest.skip(str(why))


@pytest.fixture
def loads(tmp_path):
    return read(write(tmp_path / "l.jsonl", [plume(16, 4), plume(16, 4, phase=2)]))


def test_graphs_are_symmetric_without_loops(loads):
    phase = loads.phases[0]
    phase.ends = np.array([[0, 1], [1, 0], [2, 2], [5, 3]], np.uint64)
    phase.weights = np.array([1.0, 2.0, 7.0, 4.0])
    begin, neighbour, weights = partitioners.graph(phase)
    assert begin[:7].tolist() == [0, 1, 2, 2, 3, 3, 4] and begin[-1] == 4
    assert neighbour.tolist() == [1, 0, 5, 3] and weights.tolist() == [3, 3, 4, 4]


def test_weights_keep_their_proportion():
    weights = partitioners.as_integers(np.array([1e-9, 2e-9, 0]))
    assert abs(weights[1] / weights[0] - 2) < 1e-6 and weights[2] == 1 and weights.sum() < 2**31
    assert partitioners.as_integers(np.zeros(3)).tolist() == [1, 1, 1]


def test_parts_are_numbered_so_that_elements_stay(loads):
    phase, rng = loads.phases[0], np.random.default_rng(3)
    other = rng.permutation(4)[phase.rank_of].astype(np.int32)  # the same parts by other numbers
    assert np.array_equal(partitioners.keep_places(other, phase, phase.rank_of, 4), phase.rank_of)


@pytest.mark.parametrize("by", partitioners.LIBRARIES)
def test_partitioners_balance_with_a_small_cut(loads, by):
    installed(by)
    assert usable(loads, by)[0] == [by]
    result, spread = replay(loads, by, 4), replay(loads, "longest_first", 4)
    assert result.mean("predicted") < 0.15 < result.rows[0].before
    assert result.mean("cut") < 0.5 * spread.mean("cut")
    assert set(result.rank_of) <= set(range(4))


def test_cuts_of_points_are_compact(loads):
    installed("zoltan_rcb")
    phase = loads.phases[0]
    phase.loads = np.ones(len(phase.loads))
    part = partitioners.partition("zoltan_rcb", phase, 4, phase.rank_of)
    for p in range(4):  # a quarter of 16 x 16 equal elements each
        low, high = phase.points[part == p].min(axis=0), phase.points[part == p].max(axis=0)
        assert (part == p).sum() == 64 and np.array_equal(high - low, [7, 7, 0])


def test_partitioners_take_loads_of_zero(loads):
    installed("zoltan_hsfc")
    loads.phases[0].loads[:] = 0
    for by in zoltan.METHODS:
        assert set(partitioners.partition(by, loads.phases[0], 4, loads.phases[0].rank_of)) == {0, 1, 2, 3}


def test_zoltan_leaves_mpi_out_of_this_process(loads):
    """Its variables would make each program started later a rank, and plaq would take its world for this one's."""
    installed("zoltan_rcb")
    before = dict(os.environ)
    partitioners.partition("zoltan_rcb", loads.phases[0], 4, loads.phases[0].rank_of)
    started = ctypes.c_int()
    partitioners.library("zoltan_rcb").MPI_Initialized(ctypes.byref(started))
    assert not started.value and dict(os.environ) == before
    assert not re.search("^(OMPI|PMIX?)_", subprocess.run(["env"], capture_output=True, text=True).stdout, re.MULTILINE)


def test_zoltan_that_ends_is_one_error(loads):
    installed("zoltan_rcb")
    phase = loads.phases[0]
    zoltan.process(partitioners.LIBRARIES["zoltan_rcb"]).kill()
    with pytest.raises(InputError, match="--by: zoltan_rcb: Zoltan's process ended with code -9"):
        partitioners.partition("zoltan_rcb", phase, 4, phase.rank_of)
    assert len(set(partitioners.partition("zoltan_rcb", phase, 4, phase.rank_of))) == 4  # by another process


def test_a_library_that_is_not_there_is_named(loads, monkeypatch):
    def absent(name):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", absent)
    with pytest.raises(InputError, match="--by: metis is not installed: no libmetis.so.5, .* libmetis5$"):
        usable(loads, "metis")
    with pytest.raises(InputError, match="--by: zoltan_phg is not installed: .* libtrilinos-zoltan-dev$"):
        usable(loads, "zoltan_phg")
    assert not set(usable(loads)[0]) & set(partitioners.LIBRARIES)


def test_cuts_of_points_need_points(loads):
    installed("zoltan_rcb")
    loads.phases[0].points = np.zeros((0, 3))
    with pytest.raises(InputError, match="--by: zoltan_rcb needs points of elements"):
        usable(loads, "zoltan_rcb")


def test_partitioners_need_edges(loads):
    installed("metis")
    loads.phases[0].ends, loads.phases[0].weights = np.zeros((0, 2), np.uint64), np.zeros(0)
    with pytest.raises(InputError, match="--by: metis needs edges of elements"):
        usable(loads, "metis")

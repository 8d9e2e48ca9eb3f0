"""Chains over ranks: the same bits for any number of them, also when chains move. As a program, this file takes chains
on in its world and prints what came out: python test_chains.py MEASUREMENTS STOPS CHAINS BINS [CHAINS BINS]..."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from isolated import OPEN_PLAQUETTE, Isolated

from plaq import _core, comm
from plaq.comm.launch import launcher_command
from plaq.dca.solver import chains as module
from plaq.dca.solver.chains import Chains, in_columns, joined_columns, out_of_columns, run_chains

needs_mpi = pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
RUN = SimpleNamespace(threads="fiber", workers=1, bind="auto", chains_in_flight="auto",
                      device="none")


def taken_on(chains, bins, measurements, stops=0):
    """Bits of the sums, and how many chains ended on each rank. Stopped so often, kept, and dealt out again."""
    world = comm.world()
    case = Isolated(OPEN_PLAQUETTE, U=4.0, beta=2.0, mu=1.5, measurements=measurements, bins=bins, chains=chains,
                    warm_up=10)
    taken = Chains.fresh(world, chains, bins)
    looks = 0

    def stop(made, sweeps):
        nonlocal looks
        looks += 1
        return "abandon" if looks == 3 else None

    for _ in range(stops):
        looks = 0
        taken.gather_bins(world, run_chains(case.problem, taken, RUN, world, stop))
        taken = Chains.dealt(world, (whole := taken.gathered(world)) and Chains.from_plain(whole))
    assert run_chains(case.problem, taken, RUN, world, lambda *_: None)
    taken.gather_bins(world, True)
    assert taken.tally(world)["bins_done"] == max(bins, chains)
    states = out_of_columns(world.bcast(world.fold(in_columns(taken.states.values()), joined_columns)))
    states.sort(key=lambda s: s["number"])
    vertices = [[s[name].tobytes() for name in ("site", "spin", "tau")] for s in states]
    bits = hashlib.sha256(repr(vertices).encode() + taken.bins.sums().tobytes() + taken.bins.series().tobytes())
    everywhere = world.allgather((bits.hexdigest(), len(taken.states)))
    assert len({digest for digest, _ in everywhere}) == 1  # every rank has all sums
    return {"digest": everywhere[0][0], "chains": [count for _, count in everywhere]}


def on_ranks(ranks, measurements, stops, cases, slow=None):
    """Return the program's result for each case. A `slow` rank is stopped for nine tenths of the time."""
    tests = os.path.dirname(os.path.dirname(__file__))
    job = subprocess.Popen(
        [*launcher_command(ranks), sys.executable, __file__, *map(str, [measurements, stops, *sum(cases, ())])],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        env={**os.environ, "PLAQ_EXPECTED_RANKS": str(ranks), "PLAQ_TERMINAL": "",
             "PYTHONPATH": os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])})
    try:
        if slow is not None:
            pids = dict(map(int, job.stdout.readline().split()) for _ in range(ranks))
            while job.poll() is None:
                os.kill(pids[slow], signal.SIGSTOP)
                time.sleep(0.09)
                os.kill(pids[slow], signal.SIGCONT)
                time.sleep(0.01)
    except ProcessLookupError:
        pass  # the rank is done
    out, err = job.communicate(timeout=100)
    assert job.returncode == 0, err
    return json.loads(out.splitlines()[-1])


def test_columns_come_apart_again():
    states = [module.fresh_chain(3), module.fresh_chain(8)]
    states[1] |= {"warm": True, "sign": -1.0, "site": np.array([1, 2], np.int32), "spin": np.array([1, -1], np.int32),
                  "tau": np.array([0.25, 0.5]), "proposed": 7, "bins_done": 2, "drift": 1e-12}
    found = out_of_columns(joined_columns(in_columns(states[:1]), in_columns(states[1:])))
    assert [list(state) for state in found] == [list(state) for state in states]
    for a, b in zip(found, states):
        for name in a:
            assert type(a[name]) is type(b[name]) and np.array_equal(a[name], b[name]), name


@pytest.mark.parametrize("chains, bins", [(4, 8), (12, 4)])
def test_stops_do_not_change_a_bit(chains, bins):
    assert taken_on(chains, bins, 4800, stops=3) == taken_on(chains, bins, 4800)


def test_bins_of_many_short_chains_have_errors():
    """They are independent, though nothing is known of autocorrelation in chains of three measurements."""
    case = Isolated(OPEN_PLAQUETTE, U=2.0, beta=1.0, mu=0.5, measurements=3 * 640, bins=64, chains=640, warm_up=20)
    measured = case.measure()
    assert measured["energy"].supported
    for name, exact in (("energy", case.exact.total_energy), ("density", case.exact.density)):
        assert abs(measured[name].mean - exact) < 4 * measured[name].error, name


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 4, 7])
def test_ranks_and_stops_do_not_change_a_bit(ranks):
    cases = [(16, 32), (36, 4)]
    for (chains, bins), found in zip(cases, on_ranks(ranks, 1440, ranks % 3, cases), strict=True):
        assert found["digest"] == taken_on(chains, bins, 1440)["digest"] and sum(found["chains"]) == chains


@needs_mpi
@pytest.mark.parametrize("chains, bins", [(16, 16), (2, 32)])
def test_a_slow_rank_has_fewer_chains_in_the_end(chains, bins):
    """Chains that wait, or, where there is one for each rank, between two of its bins."""
    measurements = 40_000
    [found] = on_ranks(2, measurements, 0, [(chains, bins)], slow=1)
    assert found["chains"][0] > found["chains"][1]
    assert found["digest"] == taken_on(chains, bins, measurements)["digest"]


if __name__ == "__main__":
    os.write(1, f"{comm.world().rank} {os.getpid()}\n".encode())  # in one piece
    comm.world().barrier()
    measurements, stops, *cases = map(int, sys.argv[1:])
    results = [taken_on(*case, measurements, stops) for case in zip(cases[::2], cases[1::2])]
    if comm.world().rank == 0:
        print(json.dumps(results), flush=True)

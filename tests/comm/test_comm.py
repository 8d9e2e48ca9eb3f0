"""plaq.comm alone and on 1 to 4 ranks: as a program, this file makes all its checks in its world."""

import errno
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from plaq import _core
from plaq.comm import Communicator, library_version, thread_level, world
from plaq.comm.launch import launcher_command
from plaq.comm.packing import pack, unpack
from plaq.errors import InputError, RunError

needs_mpi = pytest.mark.skipif(not library_version(), reason="plaq is built without MPI")


def same(a, b) -> bool:
    """Equal in value, type and, for arrays, shape, at any depth."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def numbers(seed: int, shape=(5, 3)) -> np.ndarray:
    """Numbers of very different size: every order of summation rounds differently."""
    random = np.random.default_rng(seed)
    return random.standard_normal(shape) * np.exp(4 * random.standard_normal(shape))


def values(rank: int) -> list:
    """Objects to send, different on each rank."""
    a = numbers(rank, (4, 6))
    return [
        None,
        rank,
        "ω" * rank,
        b"\0" * 1000,
        {"a": a, "more": [a[:, ::2], a.T, a[1]]},
        np.zeros((0, 3)),
        np.array(1j * rank),
        np.array([True, False]),
        np.array(["x", "yz"]),
        np.arange(rank * 100_000),
    ]


def check_bcast(comm: Communicator):
    for root in range(comm.size):
        for mine, expected in zip(values(comm.rank), values(root)):
            assert same(comm.bcast(mine, root), expected)
    received = comm.bcast(np.zeros(3))
    received += comm.rank  # it is the rank's own
    assert np.all(received == comm.rank)
    with pytest.raises(ValueError, match="no rank"):
        comm.bcast(1, comm.size)


def check_gathers(comm: Communicator):
    expected = [values(rank) for rank in range(comm.size)]
    assert same(comm.allgather(values(comm.rank)), expected)
    for root in range(comm.size):
        assert same(comm.gather(values(comm.rank), root), expected if comm.rank == root else None)


def check_blocks(comm: Communicator):
    size, rank = comm.size, comm.rank
    own = lambda sender, receiver: values((3 * sender + receiver) % 5)
    for root in range(size):
        whole = [own(root, r) for r in range(size)] if rank == root else None
        assert same(comm.scatter(whole, root), own(root, rank))
    with pytest.raises(InputError, match="scatter: rank 0 has not one value for each"):
        comm.scatter([1] * (size + 1) if rank == 0 else None)
    assert same(comm.alltoall([own(rank, r) for r in range(size)]), [own(r, rank) for r in range(size)])
    with pytest.raises(InputError, match=f"alltoall: 0 values for {size} ranks"):
        comm.alltoall([])


def check_exchange(comm: Communicator):
    size, rank = comm.size, comm.rank
    left, right = (rank - 1) % size, (rank + 1) % size
    for sources in None, {left, right}:
        found = comm.exchange({left: ["l", rank], right: ["r", rank]}, sources)
        mine = {left: ["r", left], right: ["l", right]}
        if left == right:  # on two ranks, or one, the second value for a rank replaces the first
            mine = {left: ["r", left]}
        assert same(found, dict(sorted(mine.items())))
    divisors = lambda r: {other: numbers(r) for other in range(size) if r % (other + 1) == 0}
    expected = {r: numbers(r) for r in range(size) if rank in divisors(r)}
    assert same(comm.exchange(divisors(rank)), expected)
    assert same(comm.exchange(divisors(rank), list(expected)), expected)
    assert comm.exchange({}) == {} and comm.exchange({}, []) == {}
    with pytest.raises(ValueError, match="no rank"):
        comm.exchange({size: 1})


def check_reduce_scatter(comm: Communicator):
    size, rank = comm.size, comm.rank
    rows = [np.arange(14 * 3).reshape(14, 3) * (r + 1) for r in range(size)]
    for kind in np.int64, np.float32, np.complex128:
        whole = sum(rows).astype(kind)
        mine = comm.reduce_scatter(rows[rank].astype(kind))
        assert same(mine, whole[comm.share(14).start : comm.share(14).stop])
    counts = [14 - 2 * (size - 1)] + [2] * (size - 1)
    first = sum(counts[:rank])
    assert same(comm.reduce_scatter(rows[rank], counts, "max"), rows[-1][first : first + counts[rank]])
    assert comm.reduce_scatter(np.zeros((size, 0))).shape == (1, 0)
    for wrong in [13] + [0] * (size - 1), [15, -1][:size], [14] * (size + 1):
        with pytest.raises(InputError, match="reduce_scatter: counts"):
            comm.reduce_scatter(rows[rank], wrong)
    with pytest.raises(InputError, match="reduce_scatter: counts"):
        comm.reduce_scatter(1.0)
    with pytest.raises(InputError, match="'min' does not exist for complex64"):
        comm.reduce_scatter(np.zeros(size, np.complex64), op="min")
    if size > 1:
        with pytest.raises(InputError, match="reduce_scatter: other arguments differ between ranks"):
            comm.reduce_scatter(rows[rank], counts if rank else None)


def check_send(comm: Communicator):
    for peer in range(1, comm.size):
        if comm.rank == 0:
            comm.send(values(peer), peer)
            assert same(comm.receive(peer), values(0))
        elif comm.rank == peer:
            assert same(comm.receive(0), values(peer))
            comm.send(values(0), 0)


def check_fold(comm: Communicator):
    found = comm.fold([comm.rank], lambda a, b: a + b)
    assert found == (list(range(comm.size)) if comm.rank == 0 else None)


def check_table(comm: Communicator):
    rows = [numbers(rank, (2, 3)) for rank in range(comm.size)]
    assert same(comm.table(rows[comm.rank]), np.array(rows))
    assert same(comm.table(rows[comm.rank].T), np.array([row.T for row in rows]))
    assert comm.table(np.zeros(0)).shape == (comm.size, 0)
    if comm.size > 1:
        with pytest.raises(InputError, match=r"table: rank 1 has float64 of shape \(1,\)"):
            comm.table(np.zeros(min(comm.rank, 1)))
        with pytest.raises(InputError, match="call different collective operations: ordered_sum, table"):
            comm.ordered_sum({0: 1.0}) if comm.rank else comm.table(np.zeros(1))


def check_each_and_starmap(comm: Communicator):
    assert comm.each(lambda: 10 * comm.rank) == list(range(0, 10 * comm.size, 10))
    evaluated = []

    def power(base, exponent):
        evaluated.append(base)
        if base == 7:
            raise RunError("seven")
        return np.array(base**exponent)

    for count in 0, 1, comm.size, 5:
        evaluated.clear()
        assert list(comm.starmap(power, ((base, 2) for base in range(count)))) == [base**2 for base in range(count)]
        assert evaluated == list(range(count))[comm.rank :: comm.size]
    with pytest.raises(RunError, match="seven"):
        list(comm.starmap(power, ((base, 2) for base in range(8))))


def check_an_error_of_one_rank_is_that_of_all(comm: Communicator):
    last = comm.size - 1
    a_full_disk = OSError(errno.ENOSPC, "No space left on device", "checkpoint.h5")
    for raised, expected, words in [
        (InputError("input"), InputError, "input"),
        (RunError("run"), RunError, "run"),
        (MemoryError("40 GB"), RunError, "out of memory: 40 GB"),
        (a_full_disk, RunError, "No space left on device: 'checkpoint.h5'"),
        (None, InputError, "no such algorithm"),  # of the C++ library
    ]:
        def fail():
            if raised:
                raise raised
            _core.comm.Method("no such algorithm")

        on_last = lambda: comm.rank == last and fail()
        calls = {
            "on_root": lambda: comm.on_root(fail),
            "on_root, shared": lambda: comm.on_root(fail, share=True),
            "together": lambda: comm.together(on_last),
            "each": lambda: comm.each(on_last),
            "starmap": lambda: list(comm.starmap(lambda i: i == last and fail(), ((i,) for i in range(comm.size)))),
        }
        for name, call in calls.items():
            with pytest.raises(expected, match=words) as caught:
                call()
            assert caught.value.ranks == comm.size, name
            comm.barrier()  # all are there, and the group goes on
    assert comm.on_root(lambda: 7, share=True) == comm.together(lambda: 7) == 7
    assert comm.on_root(lambda: 7) == (None if comm.rank else 7)


def check_allreduce(comm: Communicator):
    ranks = np.arange(comm.size)
    for dtype in "int32", "int64", "uint64", "float32", "float64", "complex64", "complex128":
        mine = np.array([[comm.rank, 1], [2, 3]], dtype)
        before = mine.copy()
        total = comm.allreduce(mine)
        assert total.dtype == dtype and same(mine, before)
        assert np.array_equal(total, [[ranks.sum(), comm.size], [2 * comm.size, 3 * comm.size]])
        if not dtype.startswith("complex"):
            assert comm.allreduce(mine.T, "max")[0, 0] == comm.size - 1
            assert comm.allreduce(mine.T, "min")[0, 0] == 0
            assert same(comm.allreduce(mine.T, "max")[1:], mine.T[1:])
    assert same(comm.allreduce(0.5), 0.5 * comm.size)
    assert same(comm.allreduce(comm.rank == 0), 1)
    assert same(comm.allreduce(2.0 + 1j), comm.size * (2.0 + 1j))
    assert comm.allreduce(np.zeros((0, 2))).shape == (0, 2)


def check_allreduce_refuses_on_every_rank(comm: Communicator):
    last = comm.rank == comm.size - 1
    with pytest.raises(InputError, match="int8"):
        comm.allreduce(np.zeros(2, np.int8))
    with pytest.raises(InputError, match="'mean'"):
        comm.allreduce(1.0, "mean")
    with pytest.raises(InputError, match="'max' does not exist for complex128"):
        comm.allreduce(1j, "max")
    if comm.size > 1:
        with pytest.raises(InputError, match=rf"rank {comm.size - 1} has float64 of shape \(3,\)"):
            comm.allreduce(np.zeros(3 if last else 2))
        with pytest.raises(InputError, match=f"rank {comm.size - 1} has int64"):
            comm.allreduce(1 if last else 1.0)
        with pytest.raises(InputError, match="call different collective operations: allreduce, max, allreduce, sum"):
            comm.allreduce(1.0, "max" if last else "sum")


def check_ordered_sum(comm: Communicator):
    total = 7
    pieces = {i: numbers(i) for i in range(total)}
    expected = pieces[0].copy()
    for i in range(1, total):
        expected += pieces[i]
    assert not np.array_equal(expected, sum(pieces[i] for i in reversed(range(total))))
    for owned in comm.share(total), range(total - 1 - comm.rank, -1, -comm.size):
        assert same(comm.ordered_sum({i: pieces[i] for i in owned}), expected)
        turned = comm.ordered_sum({10 * i: (pieces[i] * 1j).T for i in owned})
        assert np.array_equal(turned, (expected * 1j).T)
    only_last = pieces if comm.rank == comm.size - 1 else {}
    assert same(comm.ordered_sum(only_last), expected)
    with pytest.raises(InputError, match="no rank has"):
        comm.ordered_sum({})
    if comm.size > 1:
        with pytest.raises(InputError, match="piece 3 is there twice"):
            comm.ordered_sum({3: pieces[3]})
        with pytest.raises(InputError, match="of shape"):
            comm.ordered_sum({comm.rank: np.zeros(comm.rank)})


def check_share(comm: Communicator):
    for total in 0, 1, 3, 64:
        shares = comm.allgather(comm.share(total))
        assert [i for share in shares for i in share] == list(range(total))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


def check_split(comm: Communicator):
    part = comm.split(comm.rank % 2, -comm.rank)
    members = part.allgather(comm.rank)
    assert members == [r for r in reversed(range(comm.size)) if r % 2 == comm.rank % 2]
    assert members[part.rank] == comm.rank
    assert comm.split_by_node().allgather(comm.rank) == list(range(comm.size))  # the tests run on one machine
    comm.barrier()


CHECKS = [check for name, check in sorted(globals().items()) if name.startswith("check_")]


@pytest.mark.parametrize("check", CHECKS)
def test_alone(check):
    assert world().size == 1 and thread_level() == ""
    check(world())


def on_ranks(ranks: int, *program: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        launcher_command(ranks) + [sys.executable, *program],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, "PLAQ_EXPECTED_RANKS": str(ranks), "PLAQ_TERMINAL": "", **environment},
        stdin=subprocess.DEVNULL,
    )


@needs_mpi
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_on_ranks(ranks):
    job = on_ranks(ranks, __file__)
    assert job.returncode == 0, job.stdout + job.stderr
    assert sorted(re.findall(r"\d/\d", job.stdout)) == [f"{rank}/{ranks}" for rank in range(ranks)]


json_like = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
any_array = st.sampled_from(["f4", "f8", "c16", "i8", "u1", "?"]).flatmap(
    lambda dtype: arrays(
        dtype,
        array_shapes(min_dims=0, max_dims=3, min_side=0),
        elements={"allow_nan": False} if dtype in ("f4", "f8", "c16") else None,
    )
)


@given(st.tuples(json_like, any_array, st.lists(any_array, max_size=3)))
def test_what_is_packed_comes_out_again(value):
    assert same(unpack(pack(value)), value)


@needs_mpi
def test_an_uncaught_exception_on_one_rank_ends_the_job():
    job = on_ranks(2, "-c", "from plaq.comm import world; c = world(); 1 / (1 - c.rank); c.barrier()")
    assert job.returncode == 1
    assert "rank 1 of 2 failed:" in job.stderr and "ZeroDivisionError" in job.stderr


@needs_mpi
def test_a_bad_tuning_table_ends_a_job_with_one_line(tmp_path):
    (tmp_path / "comm.tuning").write_text("broadcast 2 0 treee 2 0\n")
    (tmp_path / "input.toml").write_text("[dca]\ntemperatures = [1.0]\ndensity = 1.0\n")
    command = ("-m", "plaq", "dca", "run", str(tmp_path / "input.toml"), "--out", str(tmp_path / "run"))
    job = on_ranks(3, *command, PLAQ_COMM_TUNING=str(tmp_path / "comm.tuning"))
    said = [line for line in job.stderr.splitlines() if "plaq" in line]
    assert job.returncode == 2 and len(said) == 1, job.stderr
    assert "comm.tuning" in said[0] and "treee" in said[0] and not (tmp_path / "run").exists()


def world_with(**environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", "from plaq.comm import world; world()"],
        capture_output=True,
        text=True,
        timeout=100,
        env={**os.environ, **environment},
    )


@needs_mpi
def test_a_launcher_of_another_mpi_is_noticed():
    foreign = (
        {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4"}
        if "Open MPI" not in library_version()
        else {"PMI_RANK": "0", "PMI_SIZE": "4"}
    )
    job = world_with(**foreign, PLAQ_MPI=_core.comm.describe_mpi()["library"])
    assert job.returncode == 1
    assert f"with 4 ranks, but plaq runs on {_core.comm.describe_mpi()['in_words']}" in job.stderr


def test_the_promised_number_of_ranks_is_checked():
    assert world_with(PLAQ_EXPECTED_RANKS="1").returncode == 0
    job = world_with(PLAQ_EXPECTED_RANKS="3")
    assert job.returncode == 1 and "was to run on 3 ranks (PLAQ_EXPECTED_RANKS), but its world" in job.stderr
    assert "plaq.errors.InputError" in job.stderr


if __name__ == "__main__":
    for check in CHECKS:
        check(world())
    if os.environ.get("PLAQ_EXPECTED_RANKS"):
        assert thread_level() in ("serialized", "multiple")
    print(f"{world().rank}/{world().size}")

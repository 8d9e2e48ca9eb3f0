"""A group of ranks: messages of any Python object, reproducible sums, and errors that belong to every rank.

All calls are collective: every rank of the group makes them, in the same order.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import queue
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from plaq import _core
from plaq.comm import timeout
from plaq.comm.exchanges import Exchanges
from plaq.comm.packing import pack, unpack, unpack_each
from plaq.errors import InputError, RunError, as_plaq_error

_REDUCIBLE = ("int32", "int64", "uint64", "float32", "float64", "complex64", "complex128")
_REAL = {"complex64": "float32", "complex128": "float64"}
_abandoned: list[Any] = []  # arrays that MPI still works on


class _ThreadedCall:
    """A function that another thread carries out, as a call that may wait for other ranks."""

    def __init__(self, function: Callable[..., Any], arguments: tuple):
        self._call, self._over = (function, arguments), threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        function, arguments = self._call
        try:
            self._result = function(*arguments)
        except BaseException as error:
            self._error = error
        self._over.set()

    def wait(self, seconds: float) -> bool:
        return self._over.wait(seconds)

    def get(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._result


def _start_worker() -> queue.SimpleQueue[_ThreadedCall | None]:
    """Start a thread that carries out calls, one after the other, until None; return its queue.

    At exit it ends by itself, so that no object that it has used outlives the interpreter; a thread whose call never
    ends goes with the process.
    """
    calls: queue.SimpleQueue[_ThreadedCall | None] = queue.SimpleQueue()

    def work() -> None:
        while (call := calls.get()) is not None:
            call.run()
            del call

    def end() -> None:
        calls.put(None)
        thread.join(timeout=1.0)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    atexit.register(end)
    return calls


class Communicator(Exchanges):
    """A group of ranks. `plaq.comm.world` gives the first one, `split` smaller ones.

    Raises RunError with rank, call and peer for any error that MPI reports. Work of one rank that others wait for goes
    through `on_root`, `together` or `each`: its error is then raised on all ranks, and its ``ranks`` is their number.
    Any other error is known to this rank alone, and the job has to end with it.
    """

    def __init__(self, native: _core.comm.Communicator, members: Sequence[int]):
        self._native = native
        self._members = members  # their ranks in the world

    @property
    def native(self) -> _core.comm.Communicator:
        """Communicator of the C++ libraries; this object has to live as long as they use it."""
        return self._native

    @property
    def rank(self) -> int:
        """Number of this process in the group, from 0."""
        return self._native.rank

    @property
    def size(self) -> int:
        """Number of ranks in the group."""
        return self._native.size

    def _finish(self, call: Any, *used: Any, peer: int | None = None) -> Any:
        """Return the result of a call that may wait for others, or for one ``peer`` alone.

        ``used`` are the arrays that it works on. RunError that names a rank which keeps all waiting.
        """
        rank = self._members[self.rank]
        members = self._members if peer is None else [self._members[peer], rank]
        try:
            timeout.wait(call, rank, members, timeout.heartbeat)
        except BaseException:
            _abandoned.append((self, call, used))
            raise
        return call.get()

    @functools.cached_property
    def _together(self) -> _core.comm.Collectives:
        try:
            return self._finish(self._native.collectives())
        except InputError as error:  # rank 0's tuning table
            error.ranks = self.size
            raise

    def carry_out(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return ``function(*arguments)`` of C++, in which all ranks exchange messages.

        It runs in another thread, so that this one responds to signals, and to a rank that keeps all waiting. RunError
        that names that rank; exceptions of the function pass.
        """
        if self.size == 1:
            return function(*arguments)
        call = _ThreadedCall(function, arguments)
        self._calls.put(call)
        return self._finish(call)

    @functools.cached_property
    def _calls(self) -> queue.SimpleQueue[_ThreadedCall | None]:
        return _start_worker()

    def split(self, color: int, key: int = 0) -> Communicator:
        """Return the group of the ranks that give the same ``color`` >= 0, ordered by ``key``, then by their rank."""
        if color < 0:
            raise InputError(f"split: the color must not be negative, it is {color}")
        members_by_key = sorted((at, rank) for rank, (c, at) in enumerate(self.allgather((color, key))) if c == color)
        members = [self._members[rank] for _, rank in members_by_key]
        return Communicator(self._finish(self._native.split(color, key)), members)

    def split_by_node(self) -> Communicator:
        """Return the group of the ranks on this machine."""
        group = Communicator(self._finish(self._native.split_by_node()), [])
        group._members = [self._members[self.rank]] * group.size  # until these ranks have exchanged theirs
        group._members = group.allgather(self._members[self.rank])
        return group

    def messenger(self) -> _core.comm.Messenger:
        """Return the messenger between tasks of these ranks, for the C++ libraries."""
        return self._finish(self._native.messenger())

    def collectives(self) -> _core.comm.Collectives:
        """Return the collective operations of these ranks, for the C++ libraries."""
        return self._together

    def share(self, total: int, rank: int | None = None) -> range:
        """Return the indices of 0 ... total-1 that belong to a rank, this one if None.

        A share is a block of neighbours; blocks are as equal as possible.
        """
        return range(*self._native.share(total, self.rank if rank is None else rank))

    def barrier(self) -> None:
        """Wait until every rank has called it."""
        self._finish(self._together.barrier())

    def clock_offset(self) -> tuple[float, float]:
        """Return rank 0's monotonic clock minus this rank's, and the largest error of that, in seconds."""
        return self._finish(self._native.clock_offset())

    def bcast(self, value: Any = None, root: int = 0) -> Any:
        """Return ``root``'s value on every rank; the others' argument is ignored.

        Any object that pickles, of any size. Arrays inside it are sent as they are in memory.
        """
        if self.size == 1:
            self._need_rank(root)
            return value
        packed = pack(value) if self.rank == root else None
        length = np.array([0 if packed is None else packed.size], np.int64)
        self._need_rank(root)
        self._finish(self._together.broadcast(length.view(np.uint8), root), length)
        if packed is None:
            packed = np.empty(length[0], np.uint8)
        self._finish(self._together.broadcast(packed, root), packed)
        return value if self.rank == root else unpack(packed)

    def send(self, value: Any, peer: int) -> None:
        """Send a value, as in `bcast`, to the rank ``peer``, which calls `receive`; may wait until it does."""
        packed = pack(value)
        length = np.array([packed.size], np.int64).view(np.uint8)
        self._finish(self._native.send(length, peer), length, peer=peer)
        self._finish(self._native.send(packed, peer), packed, peer=peer)

    def receive(self, peer: int) -> Any:
        """Return the next value that the rank ``peer`` sends to this one."""
        length = np.empty(1, np.int64)
        self._finish(self._native.receive(length.view(np.uint8), peer), length, peer=peer)
        packed = np.empty(length[0], np.uint8)
        self._finish(self._native.receive(packed, peer), packed, peer=peer)
        return unpack(packed)

    def fold(self, value: Any, join: Callable[[Any, Any], Any]) -> Any:
        """Return all ranks' values joined on rank 0, None elsewhere. Values as in `bcast`.

        ``join(a, b)`` is called with the results of neighbouring groups of ranks, those of a first. A binary tree: no
        rank receives more than log2(size) times.
        """
        step = 1
        while step < self.size:
            if self.rank % (2 * step):
                self.send(value, self.rank - step)
                return None
            if self.rank + step < self.size:
                value = join(value, self.receive(self.rank + step))
            step *= 2
        return value

    def gather(self, value: Any, root: int = 0) -> list[Any] | None:
        """Return [value of rank 0, value of rank 1, ...] on ``root``, None elsewhere. Values as in `bcast`."""
        packed = pack(value)
        first = self._first_bytes(packed)
        everything = np.empty(first[-1] if self.rank == root else 0, np.uint8)
        self._finish(self._together.gather(packed, everything, first, root), packed, everything)
        return unpack_each(everything, first) if self.rank == root else None

    def allgather(self, value: Any) -> list[Any]:
        """Return [value of rank 0, value of rank 1, ...] on every rank. Values as in `bcast`."""
        packed = pack(value)
        first = self._first_bytes(packed)
        everything = np.empty(first[-1], np.uint8)
        self._finish(self._together.all_gather(packed, everything, first), packed, everything)
        return unpack_each(everything, first)

    def _first_bytes(self, packed: np.ndarray) -> list[int]:
        """Return the offsets of the ranks' blocks when they lie one after the other, and the end of the last one."""
        length, lengths = np.array([packed.size], np.int64), np.empty(self.size, np.int64)
        call = self._together.all_gather_into(length.view(np.uint8), lengths.view(np.uint8))
        self._finish(call, length, lengths)
        return [0, *np.cumsum(lengths).tolist()]

    def table(self, row: np.ndarray) -> np.ndarray:
        """Return [rank, ...]: the arrays [...] of all ranks, of one shape and type of numbers, on every rank.

        Faster than `allgather` on many ranks. Raises InputError, on every rank, if shape or type differ.
        """
        row = np.ascontiguousarray(row)
        kind = (row.shape, row.dtype.name)
        if not self._agree(("table", kind)):
            self._same_kind([kind], "table")
        result = np.empty((self.size, *row.shape), row.dtype)
        into = self._together.all_gather_into(row.reshape(-1).view(np.uint8), result.reshape(-1).view(np.uint8))
        self._finish(into, row, result)
        return result

    def on_root(self, call: Callable[[], Any], share: bool = False) -> Any:
        """Carry out call() on rank 0 while the others wait; an error there is raised on every rank.

        Its result is returned on rank 0, and on the others if ``share``; otherwise they get None.
        """
        result, error = _attempt(call) if self.rank == 0 else (None, None)
        error, shared = self.bcast((error, result if share else None))
        self._raise_first([error])
        return shared if share else result

    def together(self, call: Callable[[], Any]) -> Any:
        """Return call() of this rank; an error of one rank is raised on all.

        Collective calls inside it must be made even if a rank has failed, or not be there at all.
        """
        result, error = _attempt(call)
        self._raise_first(self.allgather(error))
        return result

    def each(self, call: Callable[[], Any]) -> list[Any]:
        """Return [call() of rank 0, call() of rank 1, ...] on every rank; the first error of one is raised on all."""
        outcomes = self.allgather(_attempt(call))
        self._raise_first(error for _, error in outcomes)
        return [value for value, _ in outcomes]

    def starmap(self, function: Callable, samples: Iterable[tuple]) -> Iterator[Any]:
        """Yield function(*sample) for every sample in order, on every rank.

        Rank i mod `size` evaluates the i-th, as many at a time as there are ranks. All ranks give as many samples; only
        the evaluator of a sample needs its content.
        """
        samples = iter(samples)
        while True:
            count, own_sample = 0, None
            for owner, sample in zip(range(self.size), samples):
                count, own_sample = count + 1, sample if owner == self.rank else own_sample
            if count == 0:
                return
            yield from self.each(lambda: None if own_sample is None else function(*own_sample))[:count]

    def allreduce(self, values: Any, op: str = "sum") -> Any:
        """Return ``op`` ("sum", "min" or "max") element by element over the ranks; the same bits on every rank.

        ``values`` is a number or an array [...] of int32, int64, uint64, float32, float64 or complex (sum only), of one
        shape and type on all ranks; bool counts as 0 and 1. Returns a new array [...], a number for a number. The order
        of a floating-point sum is MPI's and changes with the number of ranks; `ordered_sum` keeps one order.

        Raises InputError, on every rank, if shape, type or operation are not allowed or differ between ranks.
        """
        array = self._reducible(values, op, "allreduce")
        result = np.array(array, order="C")
        self._finish(self._together.all_reduce(_flat(result), getattr(_core.comm.Operation, op)), result)
        return result if array.shape else result.item()

    def reduce_scatter(self, values: Any, counts: Sequence[int] | None = None, op: str = "sum") -> np.ndarray:
        """Return this rank's rows of ``op`` over the ranks of ``values`` [row, ...], arrays as of `allreduce`.

        Rank 0 gets the first counts[0] rows, and so on; `share` of the rows by default. Sums of floating-point numbers
        as those of `allreduce`. Raises InputError, on every rank, if ``counts`` are not the same or not of all rows.
        """
        array = self._reducible(values, op, "reduce_scatter", counts)
        if counts is None:
            counts = [len(self.share(len(array), rank)) for rank in range(self.size)] if array.shape else []
        if len(counts) != self.size or min(counts) < 0 or sum(counts) != len(array):
            raise InputError(f"reduce_scatter: counts {list(counts)} of {self.size} ranks for {array.shape} values")
        array = np.ascontiguousarray(array)
        result = np.empty((counts[self.rank], *array.shape[1:]), array.dtype)
        width = _flat(array).size // max(len(array), 1)
        self._finish(self._together.reduce_scatter(_flat(array), [width * n for n in counts], _flat(result),
                                                   getattr(_core.comm.Operation, op)), array, result)
        return result

    def ordered_sum(self, pieces: Mapping[int, Any]) -> np.ndarray:
        r"""Return $\sum_i x_i$ over the pieces of all ranks, added one after the other in the order of their number i.

        The result [...] has the bits of one loop on one rank, for any number of ranks and whichever rank holds which
        piece; a rank may hold none. Neighbouring pieces on one rank (`share`) are fastest. ``pieces`` maps the number
        to an array [...] of a type that `allreduce` takes.

        Raises InputError, on every rank, if there is no piece, a number appears twice, or shapes or types differ.
        """
        arrays = {number: np.ascontiguousarray(piece).reshape(np.shape(piece)) for number, piece in pieces.items()}
        self._agree("ordered_sum")  # else another call is waiting for the ranks' kinds too, and for the same error
        shape, dtype = self._same_kind([(a.shape, a.dtype.name) for a in arrays.values()], "ordered_sum")
        result = np.empty(shape, dtype)
        flat = [_flat(a) for a in arrays.values()]
        self._finish(self._together.ordered_sum(list(arrays), flat, _flat(result)), flat, result)
        return result

    def abort(self, code: int = 1) -> NoReturn:
        """End all processes of the job at once with this exit code."""
        sys.stdout.flush()
        sys.stderr.flush()
        self._native.abort(code)

    def _reducible(self, values: Any, op: str, call: str, *more: object) -> np.ndarray:
        """Return the values as an array that `allreduce` and the like take; all ranks have its kind, and ``more``."""
        array = np.asarray(values)
        if array.dtype == bool:
            array = array.astype(np.int64)
        kind = array.shape, array.dtype.name
        if not self._agree((f"{call}, {op}", kind, *more)):
            self._same_kind([kind], f"{call}, {op}")
            raise InputError(f"{call}: other arguments differ between ranks")
        if kind[1] not in _REDUCIBLE:
            raise InputError(_not_reducible(call, kind[1]))
        if op not in ("sum", "min", "max") or (op != "sum" and kind[1] in _REAL):
            raise InputError(f"{call}: the operation {op!r} does not exist for {kind[1]}")
        return array

    def _raise_first(self, errors: Iterable[InputError | RunError | None]) -> None:
        """Raise the first of the errors, which all ranks have."""
        for error in errors:
            if error is not None:
                error.ranks = self.size
                raise error

    def _need_rank(self, root: int) -> None:
        if not 0 <= root < self.size:
            raise InputError(f"there is no rank {root} among {self.size}")

    def _same_kind(self, kinds_here: list[tuple], call: str) -> tuple:
        """Return the one (shape, type) of all arrays on all ranks."""
        kinds = self.allgather((call, kinds_here))
        calls = {other for other, _ in kinds}
        if len(calls) > 1:
            raise InputError(f"ranks call different collective operations: {', '.join(sorted(calls))}")
        first = next((kind for _, kinds_of_rank in kinds for kind in kinds_of_rank), None)
        if first is None:
            raise InputError(f"{call}: no rank has an array")
        for rank, (_, kinds_of_rank) in enumerate(kinds):
            for kind in kinds_of_rank:
                if kind != first:
                    raise InputError(
                        f"{call}: rank {rank} has {kind[1]} of shape {kind[0]}, another rank {first[1]} "
                        f"of shape {first[0]}"
                    )
        if first[1] not in _REDUCIBLE:
            raise InputError(_not_reducible(call, first[1]))
        return first

    def _agree(self, key: object) -> bool:
        """Return whether all ranks give the same key: by its hash, in one short reduction on any number of ranks."""
        number = int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=7).digest(), "little")
        extremes = np.array([number, -number], np.int64)
        self._finish(self._together.all_reduce(extremes, _core.comm.Operation.max), extremes)
        return bool(extremes[0] == -extremes[1])


def _attempt(call: Callable[[], Any]) -> tuple[Any, InputError | RunError | None]:
    """Return (result of call(), None), or (None, its error). Mistakes in the program are raised."""
    try:
        return call(), None
    except Exception as raised:
        error = as_plaq_error(raised)
        if error is None:
            raise
        return None, error


def _not_reducible(call: str, dtype: str) -> str:
    return f"{call}: numbers may be {', '.join(_REDUCIBLE)} or bool, not {dtype}"


def _flat(array: np.ndarray) -> np.ndarray:
    """Return a view [n] of real numbers: a complex number is two of them for a sum."""
    return array.reshape(-1).view(_REAL.get(array.dtype.name, array.dtype))

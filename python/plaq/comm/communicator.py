"""A group of ranks: messages of any Python object, sums that do not depend on the number of ranks, and errors that
belong to every rank. All calls are collective: every rank of the group makes them, in the same order."""

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
from plaq.comm.packing import pack, unpack, unpack_each
from plaq.errors import InputError, RunError, as_plaq_error

_REDUCIBLE = ("int32", "int64", "uint64", "float32", "float64", "complex64", "complex128")
_REAL = {"complex64": "float32", "complex128": "float64"}
_given_up: list[Any] = []  # what MPI still works on


class _InThread:
    """A function that another thread carries out, as a call that may wait for other ranks."""

    def __init__(self, function: Callable[..., Any], arguments: tuple):
        self._what, self._over = (function, arguments), threading.Event()
        self._found: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        function, arguments = self._what
        try:
            self._found = function(*arguments)
        except BaseException as error:
            self._error = error
        self._over.set()

    def wait(self, seconds: float) -> bool:
        return self._over.wait(seconds)

    def get(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._found


def _hand() -> queue.SimpleQueue[_InThread | None]:
    """What a thread takes calls from, one after the other, until None. At exit it ends by itself, so that nothing
    which it has seen outlives the interpreter; one whose call never ends goes with the process."""
    calls: queue.SimpleQueue[_InThread | None] = queue.SimpleQueue()

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


class Communicator:
    """A group of ranks. `plaq.comm.world` gives the first one, `split` smaller ones.

    Raises RunError with rank, call and peer for any error that MPI reports. What a rank does alone while others will
    wait for it goes through `on_root`, `together` or `each`: its error is then raised on all ranks, and its
    ``ranks`` is their number. Any other error is known to this rank alone, and the job has to end with it.
    """

    def __init__(self, native: _core.comm.Communicator, members: Sequence[int]):
        self._native = native
        self._members = members  # their ranks in the world

    @property
    def native(self) -> _core.comm.Communicator:
        """What the C++ libraries take; it has to live as long as they use it."""
        return self._native

    @property
    def rank(self) -> int:
        """This process's number in the group, from 0."""
        return self._native.rank

    @property
    def size(self) -> int:
        """Number of ranks in the group."""
        return self._native.size

    def _finish(self, call: Any, *used: Any, peer: int | None = None) -> Any:
        """The result of a call that may wait for others, or for one ``peer`` alone; ``used`` are the arrays that it
        works on. RunError that names a rank which keeps all waiting."""
        here = self._members[self.rank]
        waiting = self._members if peer is None else [self._members[peer], here]
        try:
            timeout.wait(call, here, waiting, timeout.heartbeat)
        except BaseException:
            _given_up.append((self, call, used))
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
        """``function(*arguments)`` of C++, in which all ranks send each other messages: in another thread, so that
        this one looks after signals, and after a rank that keeps all waiting. RunError that names it;
        what the function throws comes out."""
        if self.size == 1:
            return function(*arguments)
        call = _InThread(function, arguments)
        self._calls.put(call)
        return self._finish(call)

    @functools.cached_property
    def _calls(self) -> queue.SimpleQueue[_InThread | None]:
        return _hand()

    def split(self, color: int, key: int = 0) -> Communicator:
        """The group of the ranks that give the same ``color`` >= 0, ordered by ``key``, then by rank here."""
        if color < 0:
            raise InputError(f"split: the color must not be negative, it is {color}")
        everyone = sorted((at, rank) for rank, (c, at) in enumerate(self.allgather((color, key))) if c == color)
        members = [self._members[rank] for _, rank in everyone]
        return Communicator(self._finish(self._native.split(color, key)), members)

    def split_by_node(self) -> Communicator:
        """The group of the ranks on this machine."""
        found = Communicator(self._finish(self._native.split_by_node()), [])
        found._members = [self._members[self.rank]] * found.size  # until the ranks there have told each other
        found._members = found.allgather(self._members[self.rank])
        return found

    def messenger(self) -> _core.comm.Messenger:
        """Messages between tasks of these ranks, for what runs in C++."""
        return self._finish(self._native.messenger())

    def collectives(self) -> _core.comm.Collectives:
        """Collective operations of these ranks, for what runs in C++."""
        return self._together

    def share(self, total: int, rank: int | None = None) -> range:
        """Which of 0 ... total-1 belong to a rank, this one if None: a block of neighbours,
        blocks as equal as can be."""
        return range(*self._native.share(total, self.rank if rank is None else rank))

    def barrier(self) -> None:
        """Wait until every rank is here."""
        self._finish(self._together.barrier())

    def clock_offset(self) -> tuple[float, float]:
        """What to add to this rank's monotonic clock to get rank 0's, and the most it is off by, in seconds."""
        return self._finish(self._native.clock_offset())

    def bcast(self, value: Any = None, root: int = 0) -> Any:
        """``root``'s value on every rank; the others' argument is ignored.

        Any object that pickles, of any size. Arrays inside it travel as they are in memory.
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
        """The next value that the rank ``peer`` sends to this one."""
        length = np.empty(1, np.int64)
        self._finish(self._native.receive(length.view(np.uint8), peer), length, peer=peer)
        packed = np.empty(length[0], np.uint8)
        self._finish(self._native.receive(packed, peer), packed, peer=peer)
        return unpack(packed)

    def fold(self, value: Any, join: Callable[[Any, Any], Any]) -> Any:
        """All ranks' values joined on rank 0, None elsewhere. Values as in `bcast`.

        ``join(a, b)`` is called with what neighbouring groups of ranks have, those of a first. A binary tree: no rank
        has to receive more than log2(size) times.
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
        """[value of rank 0, value of rank 1, ...] on ``root``, None elsewhere. Values as in `bcast`."""
        packed = pack(value)
        first = self._first_bytes(packed)
        everything = np.empty(first[-1] if self.rank == root else 0, np.uint8)
        self._finish(self._together.gather(packed, everything, first, root), packed, everything)
        return unpack_each(everything, first) if self.rank == root else None

    def allgather(self, value: Any) -> list[Any]:
        """[value of rank 0, value of rank 1, ...] on every rank. Values as in `bcast`."""
        packed = pack(value)
        first = self._first_bytes(packed)
        everything = np.empty(first[-1], np.uint8)
        self._finish(self._together.all_gather(packed, everything, first), packed, everything)
        return unpack_each(everything, first)

    def _first_bytes(self, packed: np.ndarray) -> list[int]:
        """Where the ranks' blocks begin when they lie one after the other, and where the last one ends."""
        mine, lengths = np.array([packed.size], np.int64), np.empty(self.size, np.int64)
        call = self._together.all_gather_into(mine.view(np.uint8), lengths.view(np.uint8))
        self._finish(call, mine, lengths)
        return [0, *np.cumsum(lengths).tolist()]

    def table(self, row: np.ndarray) -> np.ndarray:
        """[rank, ...]: the arrays [...] of all ranks, of one shape and type of numbers, on every rank.

        Quicker than `allgather` where there are many ranks. Raises InputError, on every rank,
        if shape or type differ.
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
        """call() on rank 0 while the others wait; an error there is raised on every rank.

        What it returns is returned on rank 0, and on the others when ``share``; otherwise they get None.
        """
        mine, error = _attempted(call) if self.rank == 0 else (None, None)
        error, shared = self.bcast((error, mine if share else None))
        self._raise_first([error])
        return shared if share else mine

    def together(self, call: Callable[[], Any]) -> Any:
        """call() of this rank; an error of one rank is raised on all. What the ranks do inside they do all the same
        when one of them has failed, or not at all."""
        mine, error = _attempted(call)
        self._raise_first(self.allgather(error))
        return mine

    def each(self, call: Callable[[], Any]) -> list[Any]:
        """[call() of rank 0, call() of rank 1, ...] on every rank; the first error of one is raised on all."""
        found = self.allgather(_attempted(call))
        self._raise_first(error for _, error in found)
        return [value for value, _ in found]

    def starmap(self, function: Callable, samples: Iterable[tuple]) -> Iterator[Any]:
        """function(*sample) for every sample in order, on every rank; rank i mod `size` evaluates the i-th, as
        many at a time as there are ranks. All ranks give as many samples; only its evaluator needs to have one."""
        samples = iter(samples)
        while True:
            count, mine = 0, None
            for owner, sample in zip(range(self.size), samples):
                count, mine = count + 1, sample if owner == self.rank else mine
            if count == 0:
                return
            yield from self.each(lambda: None if mine is None else function(*mine))[:count]

    def allreduce(self, values: Any, op: str = "sum") -> Any:
        """Element by element ``op`` ("sum", "min" or "max") over the ranks; the same bits on every rank.

        ``values`` is a number or an array [...] of int32, int64, uint64, float32, float64 or complex (sum only),
        of one shape and type on all ranks; bool counts as 0 and 1. Returns a new array [...], a number for a
        number. The order of a floating-point sum is MPI's and changes with the number of ranks; `ordered_sum`
        keeps one order.

        Raises InputError, on every rank, if shape, type or operation are not allowed or differ between ranks.
        """
        array = np.asarray(values)
        if array.dtype == bool:
            array = array.astype(np.int64)
        shape, dtype = kind = array.shape, array.dtype.name
        if not self._agree((f"allreduce, {op}", kind)):
            self._same_kind([kind], f"allreduce, {op}")
        if dtype not in _REDUCIBLE:
            raise InputError(_not_reducible("allreduce", dtype))
        if op not in ("sum", "min", "max") or (op != "sum" and dtype in _REAL):
            raise InputError(f"allreduce: the operation {op!r} does not exist for {dtype}")
        result = np.array(array, order="C")
        self._finish(self._together.all_reduce(_flat(result), getattr(_core.comm.Operation, op)), result)
        return result if shape else result.item()

    def ordered_sum(self, pieces: Mapping[int, Any]) -> np.ndarray:
        r"""$\sum_i x_i$ over the pieces of all ranks, added one after the other in the order of their number i.

        The result [...] has the bits of one loop on one rank, for any number of ranks and whichever rank holds
        which piece; a rank may hold none. Neighbouring pieces on one rank (`share`) are quickest. ``pieces`` maps
        the number to an array [...] of a type that `allreduce` takes.

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

    def _raise_first(self, errors: Iterable[InputError | RunError | None]) -> None:
        """Of those that all ranks have."""
        for error in errors:
            if error is not None:
                error.ranks = self.size
                raise error

    def _need_rank(self, root: int) -> None:
        if not 0 <= root < self.size:
            raise InputError(f"there is no rank {root} among {self.size}")

    def _same_kind(self, mine: list[tuple], call: str) -> tuple:
        """The one (shape, type) of all arrays on all ranks."""
        kinds = self.allgather((call, mine))
        calls = {other for other, _ in kinds}
        if len(calls) > 1:
            raise InputError(f"the ranks do not make the same call: {', '.join(sorted(calls))}")
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
        """Whether all ranks give the same; by its hash, so that it costs one short reduction on any number of
        ranks."""
        number = int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=7).digest(), "little")
        extremes = np.array([number, -number], np.int64)
        self._finish(self._together.all_reduce(extremes, _core.comm.Operation.max), extremes)
        return bool(extremes[0] == -extremes[1])


def _attempted(call: Callable[[], Any]) -> tuple[Any, InputError | RunError | None]:
    """(what call() returns, None), or (None, what went wrong). A mistake in the program is nobody else's business."""
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
    """A view [n] of real numbers: a complex number is two of them for a sum."""
    return array.reshape(-1).view(_REAL.get(array.dtype.name, array.dtype))

"""Two-particle functions whose rows ranks share: each rank has its rows of all bins of all chains.

A function's rows are the products at one (block, n) for all n', where a block is an orbit of pairs (K, K') in the
pairing channel and one pair in any other. Rank r of p has rows r/p to (r + 1)/p of each function, as in the C++ class
that measures them (src/plaq/dca). Linear operations on a bin are done row by row on the rank of the row. An operation
that needs all rows of one jackknife sample is done on the rank that is given that sample. Both give the bits of a
single rank.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plaq import _core
from plaq.data.bins import Bins
from plaq.data.estimate import Axis, Estimate

LONGEST = 1 << 26  # bytes that rank 0 takes from the others at a time
AVERAGE = -1  # in place of a bin's number: a bin of the iterations before


@dataclass(frozen=True)
class PairFunction:
    """One two-particle function as rows in a bin: for each block of pairs and each n, its values at all n'.

    blocks : ``[K, K']``, number of the pair's block; frequencies : n of a block; columns : n' of a row;
    dtype : float or complex.
    """

    name: str
    blocks: np.ndarray
    frequencies: int
    columns: int
    dtype: type

    @property
    def rows(self) -> int:
        return (1 + int(self.blocks.max())) * self.frequencies

    @property
    def row_numbers(self) -> int:
        """Real numbers in a row."""
        return self.columns * np.dtype(self.dtype).itemsize // 8

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of the whole function, [K, n, K', n']."""
        return len(self.blocks), self.frequencies, len(self.blocks), self.columns

    def rows_of(self, numbers: np.ndarray) -> np.ndarray:
        """Return [row, n'] from real numbers, without a copy."""
        return numbers.view(self.dtype).reshape(-1, self.columns)

    def place(self, out: Any, first: int, rows: np.ndarray) -> None:
        """Write rows first, first + 1, ... to their places in ``out[K, n, K', n']``, an array or an HDF5 dataset."""
        n, end = self.frequencies, first + len(rows)
        for block in range(first // n, -(-end // n)):
            inside = slice(max(block * n, first), min((block + 1) * n, end))
            for k, k_prime in zip(*np.nonzero(self.blocks == block)):
                out[k, inside.start - block * n : inside.stop - block * n, k_prime] = rows[
                    inside.start - first : inside.stop - first]

    def whole(self, rows: np.ndarray) -> np.ndarray:
        """Return [K, n, K', n'] from all rows."""
        out = np.empty(self.shape, rows.dtype)
        self.place(out, 0, rows)
        return out

    def cuts(self) -> Iterator[tuple[int, int]]:
        """Yield (first, end) of pieces of its rows, none above LONGEST bytes unless one row is."""
        step = max(1, LONGEST // (8 * self.row_numbers))
        return ((first, min(first + step, self.rows)) for first in range(0, self.rows, step))


def pair_functions(window: int, sites: int, orbit: np.ndarray | None, channels: int) -> dict[str, PairFunction]:
    """Return the functions that a problem measures, by name, in the order of a bin.

    orbit : block of each pair in the pairing channel, None if it is not measured; channels : number of the others.
    """
    pairs = np.arange(sites * sites).reshape(sites, sites)
    layout = _core.dca.two_particle_layout(sites, window, 0 if orbit is None else 1 + int(orbit.max()), channels)
    return {name: PairFunction(name, orbit if a.axes[0] == "orbit" else pairs, *a.shape[-2:], a.dtype)
            for name, a in layout.items()}


def gathered(comm: Any, function: PairFunction, rows: np.ndarray) -> Iterator[tuple[int, np.ndarray | None]]:
    """Yield (number of the first, rows) of consecutive blocks of all rows on rank 0, from each rank's rows [row, n'].

    On the other ranks, which have to iterate too, there is None instead. Collective.
    """
    start = comm.share(function.rows).start
    for first, end in function.cuts():
        pieces = comm.gather(rows[max(first - start, 0) : max(end - start, 0)])
        yield first, None if pieces is None else np.concatenate(pieces)


class DistributedG4:
    """Rows of one rank in every bin of one iteration, and in the bins of the average of earlier iterations.

    comm : the ranks; functions : of `pair_functions`; bins, chains : their numbers; label : a name of the iteration.
    ``bins`` are the sums in this rank's rows, function after function; ``average`` {function: [bin][row, n']} those of
    earlier iterations. ``saved`` lists the blocks that are in a checkpoint's file, in order: keys of ``bins``, or
    [AVERAGE, 0, bin].
    """

    def __init__(self, comm: Any, functions: dict[str, PairFunction], bins: int, chains: int, label: str = ""):
        self.comm, self.functions, self.label = comm, functions, label
        self.bins = Bins(bins, chains)
        self._done = [0] * chains  # bins of each chain
        self.average: dict[str, list[np.ndarray]] = {}
        self.saved: list[list[int]] = []
        self._share = {f.name: comm.share(f.rows) for f in functions.values()}
        self._slots, self._in_whole = {}, {}  # where this rank's rows lie here, and in the whole
        self._size = whole = 0
        for f in functions.values():
            share, begin = self._share[f.name], self._size
            self._size += len(share) * f.row_numbers
            self._slots[f.name] = slice(begin, self._size)
            self._in_whole[f.name] = slice(whole + share.start * f.row_numbers, whole + share.stop * f.row_numbers)
            whole += f.rows * f.row_numbers

    def exchange(self, problem: Any, rank_of: list[int]) -> Any:
        """Return the C++ exchange for one call of run_chains in which rank rank_of[c] runs chain c. Collective."""
        return _core.dca.DistributedG4(self.comm.messenger(), problem, rank_of)

    def take(self, exchange: Any) -> None:
        """Keep the bins that the exchange has completed."""
        for chain, fresh in enumerate(exchange.take_bins()):
            for sums in fresh:
                self.bins.add(chain, self._done[chain], sums)
                self._done[chain] += 1

    def match(self, done: dict[int, int]) -> bool:
        """Return whether every rank has its rows of each bin of the chains, and no more. Collective.

        It may be false after a failure. ``done``: {chain: number of its bins} of the chains on this rank.
        """
        everywhere = {number: count for done in self.comm.allgather(done) for number, count in done.items()}
        complete = all(count == everywhere[chain] for chain, count in enumerate(self._done))
        return bool(self.comm.allreduce(int(complete), "min"))

    def averages(self, name: str, measurements: int) -> list[np.ndarray]:
        """Return [bin][row, n'] of one function, averages over so many measurements."""
        f, slot = self.functions[name], self._slots[name]
        return [f.rows_of(sums[slot] / measurements) for sums in self.bins.complete()]

    def starmap(self, function: Callable, samples: Iterable[tuple]) -> Iterator[Any]:
        """Apply ``function``, as `Communicator.starmap`, to samples whose last array is this rank's rows.

        ``function`` gets all rows.
        """
        def whole():
            for i, (*common, rows) in enumerate(samples):
                pieces = self.comm.gather(rows, i % self.comm.size)
                yield None if pieces is None else (*common, np.concatenate(pieces))

        return self.comm.starmap(function, whole())

    # Checkpoints: bins in a file hold their functions whole, whoever wrote them ------------------------------------

    def unsaved(self) -> Iterator[np.ndarray | None]:
        """Yield the numbers of all bins that are not saved yet, in blocks: on rank 0, None on the others. Collective.

        The other ranks send their rows. Afterwards these bins count as saved.
        """
        averaged = len(next(iter(self.average.values()), ()))
        places = [(AVERAGE, 0, b) for b in range(averaged)] + list(self.bins.blocks)
        saved = set(map(tuple, self.saved))
        fresh = [place for place in places if place not in saved]
        for place in fresh:
            for f in self.functions.values():
                at = place[0] == AVERAGE
                rows = self.average[f.name][place[2]] if at else f.rows_of(self.bins.blocks[place][self._slots[f.name]])
                for _, block in gathered(self.comm, f, rows):
                    yield block
        self.saved = self.saved + [list(place) for place in fresh]

    def restore(self, places: list[list[int]], read: Callable[[int], np.ndarray]) -> None:
        """Take this rank's rows of the bins that `unsaved` gave; read(n) gives the next n numbers on every rank."""
        for place in places:
            averaged, numbers = place[0] == AVERAGE, np.empty(self._size)
            for f in self.functions.values():
                share, rows = self._share[f.name], f.rows_of(numbers[self._slots[f.name]])
                for first, end in f.cuts():
                    block = f.rows_of(read((end - first) * f.row_numbers))
                    begin, stop = max(first, share.start), min(end, share.stop)
                    if begin < stop:
                        rows[begin - share.start : stop - share.start] = block[begin - first : stop - first]
                if averaged:
                    self.average.setdefault(f.name, []).append(rows)
            if not averaged:
                self.bins.put(tuple(place), numbers)
        self._done = self.bins.done()
        self.saved = places

    def cut(self, functions: dict[str, Iterable[np.ndarray]]) -> dict[str, list[np.ndarray]]:
        """Return this rank's rows of functions [bin][row, n'] that have all rows, or these rows already."""
        parts = {}
        for name, bins in functions.items():
            share = self._share[name]
            inside = slice(share.start, share.stop)
            parts[name] = [rows[inside].copy() if len(rows) == self.functions[name].rows else rows for rows in bins]
        return parts

    def cut_from(self, bins: Bins, offset: int) -> None:
        """Take this rank's rows out of the sums that rank 0 has, in which the functions begin at ``offset``."""
        for key in self.comm.bcast(list(bins.blocks)):
            sums = self.comm.bcast(bins.blocks[key][offset:] if self.comm.rank == 0 else None)
            self.bins.put(key, np.concatenate([sums[inside] for inside in self._in_whole.values()]))
            if self.comm.rank == 0:
                bins.put(key, bins.blocks[key][:offset].copy())
        self._done = self.bins.done()

    def join_to(self, bins: Bins) -> None:
        """Move the rows back into the sums of their bins; for one rank, which has all rows."""
        for key, sums in list(bins.blocks.items()):
            bins.put(key, np.concatenate([sums, self.bins.blocks[key]]))


@dataclass
class DistributedEstimate:
    """Estimate of a two-particle function, of which each rank has the rows of ``mean`` and ``error``, [row, n'].

    Axes, unit, convention and note describe the whole, [K, n, K', n'].
    """

    name: str
    comm: Any
    function: PairFunction
    mean: np.ndarray
    error: np.ndarray
    axes: tuple[Axis, ...]
    unit: str = ""
    convention: str = ""
    note: str = ""
    _blocks: Iterator | None = field(default=None, init=False, repr=False)

    @property
    def nbytes(self) -> int:
        """Bytes of the whole, mean and error."""
        return 2 * 8 * self.function.rows * self.function.row_numbers

    def blocks(self) -> Iterator[tuple[str, int, np.ndarray | None]]:
        """Return an iterator over ("mean" or "error", first row, rows) of the whole on rank 0; rows are None elsewhere.

        Collective: all ranks iterate over all of it, once; every call returns the same iterator.
        """
        if self._blocks is None:
            self._blocks = self._gathered()
        return self._blocks

    def _gathered(self) -> Iterator[tuple[str, int, np.ndarray | None]]:
        for part in ("mean", "error"):
            for first, rows in gathered(self.comm, self.function, getattr(self, part)):
                yield part, first, rows

    def collected(self) -> Estimate:
        """Return the whole on every rank. Collective."""
        rows = (np.concatenate(self.comm.allgather(part)) for part in (self.mean, self.error))
        mean, error = map(self.function.whole, rows)
        return Estimate(self.name, mean, error, None, self.axes, self.unit, self.convention, note=self.note)

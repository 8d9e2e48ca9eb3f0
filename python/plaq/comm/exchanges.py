"""Calls of a communicator with a value of its own for each rank, or for some."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from plaq import _core
from plaq.comm.packing import pack, unpack, unpack_each
from plaq.errors import InputError


class Exchanges:
    """Part of `plaq.comm.Communicator`. Values are any objects that pickle, as in its `bcast`."""

    rank: int
    size: int
    _together: _core.comm.Collectives
    _finish: Callable[..., Any]
    _need_rank: Callable[[int], None]

    def scatter(self, values: Sequence[Any] | None = None, root: int = 0) -> Any:
        """Return values[rank] of ``root`` on every rank; the others' argument is ignored.

        Raises InputError, on every rank, if root has not one value for each rank.
        """
        self._need_rank(root)
        first = np.full(self.size + 1, -1, np.int64)
        packed = np.empty(0, np.uint8)
        if self.rank == root and values is not None and len(values) == self.size:
            packed, first[:] = _packed(values)
        self._finish(self._together.broadcast(first.view(np.uint8), root), first)
        if first[0] < 0:
            raise InputError(f"scatter: rank {root} has not one value for each of the {self.size} ranks")
        own = np.empty(first[self.rank + 1] - first[self.rank], np.uint8)
        self._finish(self._together.scatter(packed, own, first.tolist(), root), packed, own)
        return values[root] if self.rank == root else unpack(own)

    def alltoall(self, values: Sequence[Any]) -> list[Any]:
        """Return [value of rank 0 for this one, value of rank 1 for this one, ...]; values[r] is for rank r.

        Raises InputError if there is not one value for each rank: a mistake that only this rank knows of.
        """
        if len(values) != self.size:
            raise InputError(f"alltoall: {len(values)} values for {self.size} ranks")
        packed, first = _packed(values)
        lengths, coming = np.diff(first), np.empty(self.size, np.int64)
        each = [8] * self.size
        into = self._together.all_to_all(lengths.view(np.uint8), each, coming.view(np.uint8), each)
        self._finish(into, lengths, coming)
        received = np.empty(coming.sum(), np.uint8)
        into = self._together.all_to_all(packed, lengths.tolist(), received, coming.tolist())
        self._finish(into, packed, received)
        return unpack_each(received, [0, *np.cumsum(coming).tolist()])

    def exchange(self, values: Mapping[int, Any], sources: Collection[int] | None = None) -> dict[int, Any]:
        """Send values[r] to each rank r, and return {rank: its value for this one}, by rank.

        ``sources`` are the ranks that have a value for this one, such as its neighbours: those of the receivers of
        ``values`` of all ranks. Without them (on all ranks) they are found, in log2(size) rounds. A rank that has none
        calls with {}.
        """
        ranks = sorted(values)
        for rank in ranks if sources is None else [*ranks, *sources]:
            self._need_rank(rank)
        packed, first = _packed([values[rank] for rank in ranks])
        to = list(zip(ranks, np.diff(first).tolist()))
        if sources is None:
            content, arrivals = self._finish(self._together.exchange_any(packed, to), packed)
            received = np.frombuffer(content, np.uint8).copy()  # arrays in it can be changed
        else:
            known = sorted(set(sources))
            lengths, coming = np.diff(first), np.empty(len(known), np.int64)
            into = self._together.exchange(
                lengths.view(np.uint8), [(rank, 8) for rank in ranks], coming.view(np.uint8), [(r, 8) for r in known]
            )
            self._finish(into, lengths, coming)
            arrivals = list(zip(known, coming.tolist()))
            received = np.empty(coming.sum(), np.uint8)
            self._finish(self._together.exchange(packed, to, received, arrivals), packed, received)
        offsets = [0, *np.cumsum([length for _, length in arrivals], dtype=np.int64).tolist()]
        return dict(zip([rank for rank, _ in arrivals], unpack_each(received, offsets)))


def _packed(values: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the values as bytes, one after the other, and where each begins, with the end of the last one."""
    parts = [pack(value) for value in values]
    first = np.cumsum([0, *(part.size for part in parts)], dtype=np.int64)
    return np.concatenate([np.empty(0, np.uint8), *parts]), first

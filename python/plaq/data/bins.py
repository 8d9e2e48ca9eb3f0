"""Bins of an iteration, summed over chains in one order, whichever rank measured them and when.

With more bins than chains, each chain fills its own. With more chains than bins, a bin is the sum over a group of
chains with neighbouring numbers: memory and messages then grow with the bins and not with the chains.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Bins:
    """Sums of the measurements of chains, some of them still partial.

    The sum over one bin of one chain is a piece; there are max(bins, chains) of them, in the order of chains and of the
    bins within one, and a bin is the sum of ``group`` consecutive ones. Floating-point sums depend on their order, so
    it is fixed: in a group, block (0, j) is piece j and block (m, j) the sum of blocks (m-1, 2j) and (m-1, 2j+1), or
    the first alone where the group ends. The pieces that are present are kept as the fewest such ``blocks``, {(bin, m,
    j): sums}, at most 2 log2(group) of them for consecutive pieces.
    """

    def __init__(self, bins: int, chains: int):
        self.bins, self.chains = bins, chains
        self.group = max(bins, chains) // bins
        self.of_chain = max(bins, chains) // chains
        self.blocks: dict[tuple[int, int, int], np.ndarray] = {}
        self._series: dict[int, np.ndarray] = {}  # of the first chain of each bin

    def add(self, chain: int, number: int, sums: np.ndarray, series: np.ndarray | None = None) -> None:
        """Add the sums [entry] of bin ``number`` of ``chain``, and its time series [time, column] if it has one."""
        at, piece = divmod(chain * self.of_chain + number, self.group)
        if piece == 0 and series is not None:
            self._series[at] = series
        self._insert(at, 0, piece, sums)

    def _insert(self, at: int, m: int, j: int, sums: np.ndarray) -> None:
        while (count := self._count(m)) > 1:
            if j ^ 1 < count:
                neighbour = self.blocks.pop((at, m, j ^ 1), None)
                if neighbour is None:
                    break
                sums = sums + neighbour  # of two numbers, so that the order does not matter
            m, j = m + 1, j // 2
        self.blocks[at, m, j] = sums

    def put(self, key: tuple[int, int, int], sums: np.ndarray) -> None:
        """Put back a block of `blocks`, in place of all smaller ones that it includes."""
        at, m, j = key
        for inside in [k for k in self.blocks if k[0] == at and k[1] <= m and k[2] >> (m - k[1]) == j]:
            del self.blocks[inside]
        self.blocks[key] = sums

    def _count(self, m: int) -> int:
        """Return the number of blocks of level m in a bin."""
        return -(-self.group // 2**m)

    def join(self, other: Bins) -> Bins:
        """Take in the pieces of another rank, which are none of these; return self."""
        for (at, m, j), sums in other.blocks.items():
            self._insert(at, m, j, sums)
        self._series |= other._series
        return self

    def take_all(self) -> Bins:
        """Move all pieces into a new object, for another rank; none is left here."""
        out = Bins(self.bins, self.chains)
        out.blocks, self.blocks = self.blocks, {}
        out._series, self._series = self._series, {}
        return out

    @property
    def pieces(self) -> int:
        """Number of pieces that are present."""
        return sum(len(self._inside(key)) for key in self.blocks)

    def _inside(self, key: tuple[int, int, int]) -> range:
        """Return the numbers of the pieces in a block."""
        at, m, j = key
        return range(at * self.group + j * 2**m, at * self.group + min(self.group, (j + 1) * 2**m))

    def done(self) -> list[int]:
        """Return the number of bins of each chain that are present."""
        counts = [0] * self.chains
        for key in self.blocks:
            for piece in self._inside(key):
                counts[piece // self.of_chain] += 1
        return counts

    def complete(self) -> list[np.ndarray]:
        """Return [bin][entry], when all pieces are present."""
        if self.pieces < self.bins * self.group:
            raise ValueError(f"only {self.pieces} of {self.bins * self.group} pieces of the bins are present")
        return [self.blocks[key] for key in sorted(self.blocks)]

    def sums(self) -> np.ndarray:
        """Return `complete` as one array [bin, entry]."""
        return np.array(self.complete())

    def series(self) -> np.ndarray:
        """Return [bin, time, column] of the first chain of every bin, cut to the length of the shortest."""
        length = min(map(len, self._series.values()))
        return np.array([self._series[at][:length] for at in sorted(self._series)])

    def state(self) -> dict[str, Any]:
        """Return plain data for checkpoints."""
        return {"bins": self.bins, "chains": self.chains,
                "keys": np.array(sorted(self.blocks), np.int32).reshape(-1, 3),
                "blocks": [self.blocks[key] for key in sorted(self.blocks)],
                "series_of": sorted(self._series), "series": [self._series[at] for at in sorted(self._series)]}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Bins:
        """Return the inverse of `state`."""
        out = cls(state["bins"], state["chains"])
        out.blocks = {tuple(map(int, key)): sums for key, sums in zip(state["keys"], state["blocks"])}
        out._series = dict(zip(state["series_of"], state["series"]))
        return out

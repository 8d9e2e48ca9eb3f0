"""The lattice, cut into boxes for ranks, with the workers of a rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plaq import _core
from plaq.comm import world
from plaq.comm.communicator import Communicator
from plaq.data.display import block, facts, head
from plaq.errors import InputError


class Lattice:
    """Periodic lattice of even ``extents`` (T, X, Y, Z) on the ranks of ``comm`` (by default all of the job).

    grid : ranks in each direction, by default those with the smallest surface between them. Every rank has a box
        of the same even extents.
    lanes : sites that a vector register holds, by default as many as it can; 1 is the scalar layout. No result
        depends on it, nor on ``grid``, ``backend`` and ``pool`` (an ``_core.task.Options``;
        by default one worker).

    Collective. InputError if the extents cannot be cut so.
    """

    def __init__(self, extents: Sequence[int], grid: Sequence[int] | None = None, *, comm: Communicator | None = None,
                 lanes: int = 0, backend: str = _core.task.backends()[0], pool=None):
        self.comm = comm or world()
        if len(extents) != 4 or (grid is not None and len(grid) != 4):
            raise InputError("a lattice has four extents (T, X, Y, Z), and a grid of ranks too")
        grid = list(grid) if grid is not None else _core.lqcd.choose_grid(self.comm.size, list(extents))
        if int(np.prod(grid)) != self.comm.size:
            raise InputError(f"a grid of {' x '.join(map(str, grid))} ranks is not for {self.comm.size} ranks")
        self.layout = _core.lqcd.Layout(list(extents), grid, self.comm.rank, lanes)
        if pool is None:
            pool = _core.task.Options()
            pool.workers = 1
        self.context = _core.lqcd.Context(self.comm.messenger(), self.comm.collectives(), backend, pool)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return ``function(*arguments)`` of C++, which all ranks call.

        RunError if a rank does not answer in time (run.timeout)."""
        return self.comm.carry_out(function, *arguments)

    @property
    def extents(self) -> tuple[int, ...]:
        """(T, X, Y, Z) of the whole lattice."""
        return tuple(self.layout.extents)

    @property
    def grid(self) -> tuple[int, ...]:
        """Ranks in each direction."""
        return tuple(self.layout.grid)

    @property
    def local(self) -> tuple[int, ...]:
        """Extents of this rank's box."""
        return tuple(self.layout.local)

    @property
    def box(self) -> tuple[slice, ...]:
        """This rank's part of an array [t, x, y, z]."""
        return tuple(slice(o, o + n) for o, n in zip(self.layout.origin, self.local))

    @property
    def volume(self) -> int:
        """Sites of the whole lattice."""
        return int(np.prod(self.extents))

    def __repr__(self) -> str:
        return f"<plaq lqcd lattice {self.in_words()}>"

    def in_words(self) -> str:
        """Return extents, and ranks if there are several: ``16 x 8 x 8 x 8 (t, x, y, z)``."""
        ranks = f" on {' x '.join(map(str, self.grid))} ranks" if self.comm.size > 1 else ""
        return f"{' x '.join(map(str, self.extents))} (t, x, y, z){ranks}"

    def _repr_html_(self) -> str:
        words = lambda extents: " x ".join(map(str, extents))
        return block(head("plaq lqcd lattice"), facts([
            ("extents (t, x, y, z)", words(self.extents)), ("sites", self.volume), ("ranks", words(self.grid)),
            ("sites of a rank", words(self.local)), ("sites in a register", self.sites().shape[1])]))

    def sites(self) -> np.ndarray:
        """Return [group, lane, 4]: coordinates in this rank's box of the numbers in a field's ``array``."""
        return self.layout.sites()

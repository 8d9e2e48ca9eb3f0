"""Recorded loads through balancers: what each would have made of them."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields

import numpy as np

from plaq import _core
from plaq.balance.loads import Loads, Phase
from plaq.errors import InputError


@dataclass
class Row:
    """A phase, balanced. I = max/mean - 1 over the ranks."""

    phase: int
    by: str
    before: float  #: I of the phase, with elements where the phases before left them
    predicted: float  #: I of the same loads where the balancer puts them
    floor: float  #: what I is at least, because of the largest element
    moved: float  #: share of the elements
    moved_bytes: float
    cut: float  #: share of the bytes sent that leave a rank afterwards; 0 where nobody knows what was sent
    seconds: float  #: of the balancer


@dataclass
class Replayed:
    """What a balancer made of all phases."""

    by: str
    rows: list[Row]
    first: np.ndarray  #: (ranks) loads of the last phase, had nothing ever moved
    last: np.ndarray  #: (ranks) loads of the last phase, as balanced
    where: np.ndarray  #: (elements of the last phase) ranks

    def mean(self, name: str) -> float:
        return float(np.mean([getattr(row, name) for row in self.rows]))

    def sum(self, name: str) -> float:
        return float(np.sum([getattr(row, name) for row in self.rows]))


MOST_TALKING = 20_000  # ranks; a balancer in which they talk is replayed rank by rank, in up to 600 rounds


def usable(loads: Loads, asked: str = "", ranks: int = 1) -> tuple[list[str], list[str], list[str]]:
    """Names of the balancers that were asked for, as in "refine,hilbert_cut", or of all that these loads suffice
    for; of those that they do not suffice for; and of those that take too long on so many ranks unless they are
    asked for. InputError for one that there is not, or that was asked for and lacks something."""
    lacks, talking = {}, []
    for name, needs_positions, needs_points, talks in _core.collection.balancers():
        talking += [name] if talks and ranks > MOST_TALKING else []
        has = lambda what: all(len(getattr(phase, what)) for phase in loads.phases)
        lacks[name] = [what for what, needs in (("positions", needs_positions), ("points", needs_points))
                       if needs and not has(what)]
    if not asked:
        return ([name for name in lacks if not lacks[name] and name not in talking],
                [name for name in lacks if lacks[name]], talking)
    names = [name.strip() for name in asked.split(",")]
    for name in names:
        if name not in lacks:
            raise InputError(f"--by: there is no balancer {name[:40]!r}; there are {', '.join(lacks)}")
        if lacks[name]:
            raise InputError(f"--by: {name} needs {' and '.join(lacks[name])} of elements, "
                             f"which {loads.name} has not")
    return names, [], []


def started(phase: Phase, loads: Loads, ranks: int) -> np.ndarray:
    """Where elements begin: where they were, or in equal parts along the curve on another number of ranks."""
    if ranks == loads.ranks:
        return phase.where.copy()
    n = len(phase.keys)
    order = np.argsort(phase.positions if len(phase.positions) else phase.keys, kind="stable")
    where = np.empty(n, np.int32)
    where[order] = np.arange(n) * ranks // n
    return where


def situation(phase: Phase, where: np.ndarray, ranks: int, most_bytes: float, ranks_per_node: int):
    return _core.collection.Situation(
        ranks, phase.loads, where, phase.sizes, phase.ends, phase.weights, phase.positions, phase.points, most_bytes,
        ranks_per_node,
    )


def replay(
    loads: Loads, by: str, ranks: int, most_bytes: float = np.inf, ranks_per_node: int = 1,
    told: Callable[[Row], None] = lambda row: None,
) -> Replayed:
    """Every phase balanced by ``by``, elements beginning each where the one before put them, on ``ranks`` ranks of
    at most ``most_bytes``. ``told`` hears of each."""
    rows: list[Row] = []
    before: dict[int, int] = {}
    for number, phase in enumerate(loads.phases):
        home = started(phase, loads, ranks)
        where = np.array([before.get(key, rank) for key, rank in zip(phase.keys.tolist(), home.tolist())], np.int32)
        now = situation(phase, where, ranks, most_bytes, ranks_per_node)
        began = time.perf_counter()
        to = np.array(now.plan(by), np.int32)
        seconds = time.perf_counter() - began
        was, came = now.judge(where), now.judge(to)
        sent = float(phase.weights.sum())
        rows.append(Row(number, by, was.imbalance, came.imbalance, came.floor, came.moved / len(to), came.moved_bytes,
                        came.cut / sent if sent else 0.0, seconds))
        told(rows[-1])
        before = dict(zip(phase.keys.tolist(), to.tolist()))
        last = now
    return Replayed(by, rows, np.array(last.loads_of_ranks(home)), np.array(last.loads_of_ranks(to)), to)


def as_csv(all_of_them: list[Replayed]) -> str:
    """A line for each balancer and phase."""
    text = io.StringIO()
    table = csv.DictWriter(text, [one.name for one in fields(Row)], lineterminator="\n")
    table.writeheader()
    for one in all_of_them:
        table.writerows(asdict(row) for row in one.rows)
    return text.getvalue()

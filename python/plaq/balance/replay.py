"""Replay of recorded loads through balancers."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields

import numpy as np

from plaq import _core
from plaq.balance import partitioners
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
    cut: float  #: share of the bytes sent that leave a rank afterwards; 0 if the bytes sent are not known
    seconds: float  #: of processor time of the balancer


@dataclass
class Replayed:
    """Result of a balancer for all phases."""

    by: str
    rows: list[Row]
    first: np.ndarray  #: (ranks) loads of the last phase, without any migration
    last: np.ndarray  #: (ranks) loads of the last phase, as balanced
    rank_of: np.ndarray  #: rank of each element of the last phase

    def mean(self, name: str) -> float:
        return float(np.mean([getattr(row, name) for row in self.rows]))

    def sum(self, name: str) -> float:
        return float(np.sum([getattr(row, name) for row in self.rows]))


MOST_NEGOTIATING = 20_000  # ranks; a balancer in which they negotiate is replayed rank by rank, in up to 600 rounds


def usable(loads: Loads, names: str = "", ranks: int = 1) -> tuple[list[str], list[str], list[str]]:
    """Return the names of balancers to replay, those that lack data, and those that are too slow.

    Balancers are those of ``names``, as in "refine,hilbert_cut", or all for which these loads suffice. Without
    ``names``, those that take too long on so many ranks are left out, and partitioners. InputError for an unknown
    balancer, for a named one that lacks data, and for a partitioner that is not installed.
    """
    lacks, negotiating = {}, []
    has = lambda data: all(len(getattr(phase, data)) for phase in loads.phases)
    for name, needs_positions, needs_points, negotiates in _core.collection.balancers():
        negotiating += [name] if negotiates and ranks > MOST_NEGOTIATING else []
        lacks[name] = [data for data, needs in (("positions", needs_positions), ("points", needs_points))
                       if needs and not has(data)]
    if not names:
        return ([name for name in lacks if not lacks[name] and name not in negotiating],
                [name for name in lacks if lacks[name]], negotiating)
    chosen = [name.strip() for name in names.split(",")]
    for name, data in partitioners.NEEDS.items():
        if name in chosen:
            partitioners.library(name)
        lacks[name] = [] if has("weights" if data == "edges" else data) else [data]
    for name in chosen:
        if name not in lacks:
            raise InputError(f"--by: unknown balancer {name[:40]!r}; allowed: {', '.join(lacks)}")
        if lacks[name]:
            raise InputError(f"--by: {name} needs {' and '.join(lacks[name])} of elements; "
                             f"{loads.name} does not have them")
    return chosen, [], []


def initial_ranks(phase: Phase, loads: Loads, ranks: int) -> np.ndarray:
    """Return the initial ranks of elements: recorded, or in equal parts along the curve on another number of ranks."""
    if ranks == loads.ranks:
        return phase.rank_of.copy()
    n = len(phase.keys)
    order = np.argsort(phase.positions if len(phase.positions) else phase.keys, kind="stable")
    rank_of = np.empty(n, np.int32)
    rank_of[order] = np.arange(n) * ranks // n
    return rank_of


def load_distribution(phase: Phase, rank_of: np.ndarray, ranks: int, most_bytes: float, ranks_per_node: int):
    return _core.collection.LoadDistribution(
        ranks, phase.loads, rank_of, phase.sizes, phase.ends, phase.weights, phase.positions, phase.points, most_bytes,
        ranks_per_node,
    )


def replay(
    loads: Loads, by: str, ranks: int, most_bytes: float = np.inf, ranks_per_node: int = 1,
    report: Callable[[Row], None] = lambda row: None,
) -> Replayed:
    """Balance every phase by ``by`` on ``ranks`` ranks of at most ``most_bytes``; elements start where they were last.

    ``report`` is called with each row.
    """
    rows: list[Row] = []
    before: dict[int, int] = {}
    for number, phase in enumerate(loads.phases):
        home = initial_ranks(phase, loads, ranks)
        rank_of = np.array([before.get(key, rank) for key, rank in zip(phase.keys.tolist(), home.tolist())], np.int32)
        now = load_distribution(phase, rank_of, ranks, most_bytes, ranks_per_node)
        began = time.process_time()
        to = (partitioners.plan(by, phase, rank_of, ranks) if by in partitioners.LIBRARIES
              else np.array(now.plan(by), np.int32))
        seconds = time.process_time() - began
        old, new = now.evaluate(rank_of), now.evaluate(to)
        sent = float(phase.weights.sum())
        rows.append(Row(number, by, old.imbalance, new.imbalance, new.floor, new.moved / len(to), new.moved_bytes,
                        new.cut / sent if sent else 0.0, seconds))
        report(rows[-1])
        before = dict(zip(phase.keys.tolist(), to.tolist()))
        last = now
    return Replayed(by, rows, np.array(last.loads_of_ranks(home)), np.array(last.loads_of_ranks(to)), to)


def as_csv(replayed: list[Replayed]) -> str:
    """Return a line for each balancer and phase."""
    text = io.StringIO()
    table = csv.DictWriter(text, [field.name for field in fields(Row)], lineterminator="\n")
    table.writeheader()
    for result in replayed:
        table.writerows(asdict(row) for row in result.rows)
    return text.getvalue()

"""Weak scaling of the plate to 10^4 ranks: recorded loads, and the price of messages on a modelled machine.

One rank records the loads of a plate on 400 x 400 patches. Blocks of its patches are the patches of smaller runs, so
that every run has the same shape and 16 patches a rank. The mean load of a rank is set to STEP. A rank's step is its
load and what its messages cost its processor and its port; a bulk-synchronous program also waits twice for a message,
and one that balances adds its share of a balancing: the plan, and the patches that move. All prices are of
`plaq comm simulate`.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import plate

from plaq import _core
from plaq.balance.loads import Loads, Phase
from plaq.balance.replay import replay, usable
from plaq.comm.model import MACHINES, compare, machine
from plaq.errors import InputError

MACHINE = "infiniband"
SIDE = 400  # patches
SIDES = (8, 20, 40, 100, 200, 400)  # of 4, 25, ... 10^4 ranks
STEP = 10e-3  # seconds of the mean rank: 16 patches of 256 cells with some 100 particles each
EVERY = 20  # steps between balancings; particles cross a patch in some 50
CELLS, GUARDS, FIELDS = 16, 2, 6 + 3  # of a patch's side; E and B, and J, travel in a step
PARTICLE, CROSSING = 88, 0.02  # bytes of a particle in a message; part of a patch's that leaves over a side in a step
PATCH = 8 * (11 * (CELLS + 2 * GUARDS) ** 2) + 76 * 100 * CELLS**2  # bytes that move
EDGE = 8 * FIELDS * GUARDS * CELLS + PARTICLE * CROSSING * 100 * CELLS**2
METHODS = {"static": None, "Zoltan RCB": "zoltan_rcb", "Zoltan HSFC": "zoltan_hsfc", "Zoltan PHG": "zoltan_phg",
           "plaq hilbert_refine": "hilbert_refine", "plaq gossip": "gossip", "plaq diffusion": "diffusion"}


def coarse(loads: np.ndarray, points: np.ndarray, side: int) -> Phase:
    """Return a phase of side x side patches that have the loads of blocks of the recorded ones, in blocks of ranks."""
    fine = np.zeros((SIDE, SIDE))
    fine[points[:, 1].astype(int), points[:, 0].astype(int)] = loads
    k = SIDE // side
    blocks = fine.reshape(side, k, side, k).sum(axis=(1, 3))
    y, x = np.mgrid[:side, :side]
    at = np.stack([x.ravel(), y.ravel()], 1).astype(np.int32)
    ranks_x = side // 4
    number = np.arange(side * side).reshape(side, side)
    ends = np.concatenate([np.stack([a.ravel(), b.ravel()], 1) for a, b in (
        (number[:, 1:], number[:, :-1]), (number[1:], number[:-1]),
        (number[1:, 1:], number[:-1, :-1]), (number[1:, :-1], number[:-1, 1:]))])
    faces = 2 * side * (side - 1)
    return Phase(
        keys=number.ravel().astype(np.uint64), loads=blocks.ravel() * STEP * ranks_x**2 / blocks.sum(),
        rank_of=(at[:, 0] // 4 + ranks_x * (at[:, 1] // 4)).astype(np.int32), sizes=np.full(side * side, float(PATCH)),
        positions=_core.collection.hilbert_positions(at, np.array([side, side], np.int32)),
        points=np.column_stack([at, 0 * at[:, 0]]).astype(float), ends=ends.astype(np.uint64),
        weights=np.r_[np.full(faces, float(EDGE)), np.full(len(ends) - faces, 8.0 * FIELDS * GUARDS**2)])


def price(phase: Phase, rank_of: np.ndarray, ranks: int, together: bool) -> tuple[np.ndarray, float]:
    """Return the seconds of messages for each rank in a step, and those that a bulk-synchronous program waits for.

    `together`: messages to one rank are one.
    """
    table = MACHINES[MACHINE]
    a, b = rank_of[phase.ends].T
    apart = a != b
    pairs = np.concatenate([a[apart] * np.int64(ranks) + b[apart], b[apart] * np.int64(ranks) + a[apart]])
    sent = np.bincount(pairs // ranks, np.tile(phase.weights[apart], 2), ranks)
    count = np.bincount((np.unique(pairs) if together else pairs) // ranks, minlength=ranks)
    per_byte, latency = table["levels"][1]["per_byte"], table["levels"][-1]["latency"]
    return 2 * (2 * table["overhead"] * count) + sent * per_byte, 2 * latency


def balancing(by: str, phase: Phase, rank_of: np.ndarray, ranks: int, seconds: float) -> float:
    """Return the seconds of a balancing: its plan, its collectives, and the moves of the busiest rank."""
    on = machine(MACHINE)
    collective = lambda operation, nbytes: compare(on, operation, ranks, nbytes)[0][1]
    moves = np.flatnonzero(rank_of != phase.rank_of)
    moved = np.bincount(rank_of[moves], phase.sizes[moves], ranks) + np.bincount(
        phase.rank_of[moves], phase.sizes[moves], ranks)
    travel = moved.max() * MACHINES[MACHINE]["levels"][1]["per_byte"]
    each = 16 * len(phase.keys) // ranks
    if by.startswith("zoltan"):  # in parallel; a bisection of the ranks needs some 10 medians
        return seconds / ranks + 10 * math.ceil(math.log2(ranks)) * collective("all_reduce", 24) + travel
    if by in ("gossip", "diffusion"):  # all ranks took turns
        return seconds / ranks + 40 * collective("all_reduce", 24) + travel
    return collective("gather", each) + seconds + collective("scatter", each) + travel


def installed(recorded: Loads) -> dict[str, str | None]:
    """Return the methods that are here; prints a line for each other one."""
    out = dict(METHODS)
    for name, by in METHODS.items():
        try:
            usable(recorded, by or "none")
        except InputError as why:
            print(f"{name} is left out: {why}")
            del out[name]
    return out


def measure(out: Path) -> list[dict]:
    """Return a row for each number of ranks and method."""
    recorded = plate.record_large(out, SIDE, 12, per_cell=60)
    loads, points = plate.median_loads(recorded), recorded.phases[-1].points
    methods = installed(recorded)
    rows = []
    for side in SIDES:
        phase, ranks = coarse(loads, points, side), (side // 4) ** 2
        for name, by in methods.items():
            if by == "diffusion" and ranks > 1000:  # minutes
                continue
            one = replay(Loads("plate", "s", ranks, [phase]), by or "none", ranks)
            of_rank = np.bincount(one.rank_of, phase.loads, ranks)
            bulk = not name.startswith("plaq")
            messages, waits = price(phase, one.rank_of, ranks, bulk)
            share = balancing(by, phase, one.rank_of, ranks, one.rows[0].seconds) / EVERY if by else 0.0
            step = (of_rank + messages).max() + waits * bulk + share
            rows.append({"ranks": ranks, "method": name, "imbalance": one.rows[0].predicted,
                         "load": 1e3 * of_rank.max(), "messages": 1e3 * (messages.max() + waits * bulk),
                         "balancing": 1e3 * share, "step": 1e3 * step, "optimum": 1e3 * STEP})
    return rows


def table(rows: list[dict]) -> str:
    """Return milliseconds of a step."""
    head = list(rows[0])
    return "\n".join(["scale\n", "| " + " | ".join(head) + " |", "|" + "---|" * len(head),
                      *("| " + " | ".join([str(row["ranks"]), row["method"], *(
                          f"{float(row[key]):.3f}" for key in head[2:])]) + " |" for row in rows)]) + "\n"


def draw(panel, rows: list[dict]) -> None:
    """Draw the step of each method by the number of ranks."""
    for k, name in enumerate(("static", "Zoltan RCB", "plaq hilbert_refine", "plaq gossip")):
        mine = [row for row in rows if row["method"] == name]
        panel.plot([int(row["ranks"]) for row in mine], [float(row["step"]) for row in mine], marker=".",
                   color=f"C{k}", label=name)
    panel.axhline(float(rows[0]["optimum"]), color="k", ls=":", label="optimum")
    panel.set(title="weak scaling: replayed, modelled machine", xlabel="ranks", ylabel="ms of a step")

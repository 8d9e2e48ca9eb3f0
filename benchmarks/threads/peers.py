"""The thread back ends and their peers on small workloads, one binary per library and one process per case."""

from __future__ import annotations

import statistics
import subprocess
from collections import defaultdict
from pathlib import Path

from tables import Table, shown

ENGINES = ["plaq_fiber", "plaq_os", "plaq_hpx", "hpx", "boost_fiber", "tbb", "std"]
SLOW = {"plaq_os": 0.02, "std": 0.02}  # a kernel thread per task: fewer tasks
SCALE = 0.3  # how many tasks; 1 takes about a second per case
CASES = {  # name of the case: what a number is
    "spawn_join": "spawn + join, batch of 1000",
    "future": "async(...).get()",
    "yield": "yield",
    "ping_pong": "mutex + condition variable, turn",
    "channel": "queue of one place, push + pop",
}
GRAINS = [0.2, 0.5, 1, 2, 3, 5, 10, 20]  # us
WORK = [2, 20, 200]  # us
TARGETS = [  # (case, workers, at most this part of HPX)
    ("spawn_join", 1, 0.5), ("spawn_join", 2, 0.5), ("yield", 1, 0.5), ("yield", 2, 0.5), ("ping_pong", 2, 0.3),
]


def binary(build: Path, engine: str) -> Path:
    return build / "benchmarks" / "threads" / f"threads_{engine}"


def take(build: Path, engine: str, case: str, workers: int, argument: float = 0.0, scale: float = 1.0) -> list:
    """What one run of a binary said: [engine, case, workers, argument, name, value] each; nothing where the library
    cannot do it."""
    command = [binary(build, engine), case, str(workers), str(argument), str(scale)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return []
    if ran.returncode:
        return []
    pairs = (line.split() for line in ran.stdout.splitlines())
    return [[engine, case, workers, argument, name, float(value)] for name, value in pairs]


def measure(build: Path) -> list:
    """One round: every case of every library that was built, one after the other."""
    engines = [engine for engine in ENGINES if binary(build, engine).exists()]
    found = []
    for workers in (1, 2):
        for case in CASES:
            for engine in engines:
                found += take(build, engine, case, workers, 0.0, SCALE * SLOW.get(engine, 1.0))
    for us in WORK:
        for engine in engines:
            found += take(build, engine, "producers", 2, us, SCALE * 0.5)
    for us in GRAINS:
        for engine in engines:
            if engine != "std":
                found += take(build, engine, "loop", 2, us, SCALE)
    for engine in engines:
        found += take(build, engine, "memory", 1, 3000 if engine in SLOW else 100_000)
    return found


class Peers:
    """All rounds of `measure`. `peers(engine, case, workers, argument, name)` is the median, None where nothing was
    measured; `range_of` the least and the largest."""

    def __init__(self, rounds: list[list]):
        self._values = defaultdict(list)
        for *key, value in (row for found in rounds for row in found):
            self._values[tuple(key)].append(value)
        seen = {key[0] for key in self._values}
        self.engines = [engine for engine in ENGINES if engine in seen]

    def __call__(self, *key) -> float | None:
        return statistics.median(self._values[key]) if key in self._values else None

    def range_of(self, *key) -> tuple[float, float]:
        return min(self._values[key]), max(self._values[key])

    def curve(self, engine: str) -> list[tuple[float, float]]:
        """(us of a piece, efficiency of the loop)."""
        points = [(us, self(engine, "loop", 2, us, "efficiency")) for us in GRAINS]
        return [point for point in points if point[1] is not None]


def crossing(points: list[tuple[float, float]], wanted: float) -> float | None:
    """The grain from which efficiency stays at or above `wanted`, interpolated in the grain; None if never."""
    grain = None
    for (low, e_low), (high, e_high) in zip(points, points[1:]):
        if e_low < wanted <= e_high:
            grain = low + (high - low) * (wanted - e_low) / (e_high - e_low)
        elif e_high < wanted:
            grain = None
    return points[0][0] if grain is None and min(e for _, e in points) >= wanted else grain


def tables(peers: Peers) -> list[Table]:
    engines = peers.engines
    loops = [engine for engine in engines if peers.curve(engine)]
    return [
        Table("Small things, ns", ["", "workers", *engines], [
            [text, str(w), *(shown(peers(e, case, w, 0.0, "ns")) for e in engines)]
            for case, text in CASES.items() for w in (1, 2)
        ]),
        Table("Eight producers, eight consumers, two workers: time over ideal (voluntary context switches)",
              ["work", *engines], [
                  [f"{us} µs", *(f"{shown(peers(e, 'producers', 2, us, 'over_ideal'))} "
                                 f"({shown(peers(e, 'producers', 2, us, 'switches'), '{:.0f}')})" for e in engines)]
                  for us in WORK]),
        Table("Efficiency of a loop of 1024 pieces on two workers", ["piece", *loops], [
            [f"{us} µs", *(shown(peers(e, "loop", 2, us, "efficiency"), "{:.2f}") for e in loops)] for us in GRAINS
        ]),
        Table("Smallest piece with that efficiency", ["efficiency", *loops], [
            [f"{wanted:.0%}", *(shown(crossing(peers.curve(e), wanted), "{:.2g} µs") for e in loops)]
            for wanted in (0.5, 0.9)
        ]),
        Table("Memory per waiting task, bytes (100 000 tasks; a kernel thread per task: 3000)", engines, [
            [shown(peers(e, "memory", 1, 3000 if e in SLOW else 100_000, "bytes"), "{:.0f}") for e in engines]
        ]),
        targets(peers),
    ]


def targets(peers: Peers) -> Table:
    rows = []
    if "hpx" in peers.engines:
        for case, workers, limit in TARGETS:
            ratio = peers("plaq_fiber", case, workers, 0.0, "ns") / peers("hpx", case, workers, 0.0, "ns")
            rows.append([f"{CASES[case]}, {workers} worker(s), over HPX's", f"{ratio:.2f}", f"≤ {limit}"])
    for us in WORK:
        rows.append([f"producers and consumers, {us} µs, over ideal",
                     shown(peers("plaq_fiber", "producers", 2, us, "over_ideal"), "{:.2f}"), "≤ 1.1"])
    rows.append(["90 % efficient grain", shown(crossing(peers.curve("plaq_fiber"), 0.9), "{:.2g} µs"), "≤ 3 µs"])
    return Table("Targets of the back end fiber", ["", "found", "wanted"], rows)

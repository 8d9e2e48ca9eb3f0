"""Recorded loads, and the file that a collection writes them to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plaq.errors import InputError

VERSION = 1
FIRST = b'{"plaq loads"'  # first bytes of a file of plaq
MOST_RANKS = 1_000_000


@dataclass
class Phase:
    """Loads of elements between two balancings. Arrays of the same length, or empty if not known."""

    keys: np.ndarray  #: (n) the same element has the same key in every phase
    loads: np.ndarray  #: (n) >= 0
    rank_of: np.ndarray  #: (n) the rank of each
    sizes: np.ndarray = field(default_factory=lambda: np.zeros(0))  #: (n) bytes
    #: (n) along a curve through the mesh
    positions: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint64))
    points: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  #: (n, 3) on the mesh
    #: (m, 2) numbers of elements that exchange messages
    ends: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.uint64))
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))  #: (m) bytes that they exchanged


@dataclass
class Loads:
    """All phases of a recording."""

    name: str
    unit: str  #: of loads, "s" or "work"
    ranks: int
    phases: list[Phase]
    notes: list[str] = field(default_factory=list)  #: what the reader left out


def number_of(text: str) -> float:
    raise ValueError(f"{text} is not a number")


def parse_json(text: bytes) -> Any:
    """Parse JSON without the NaN and Infinity that Python adds to it."""
    return json.loads(text, parse_constant=number_of)


def read_own(path: Path, content: bytes) -> Loads:
    lines = content.split(b"\n")
    notes = []
    if lines.pop():
        notes.append(f"{path}: the last line is not complete and is left out")
        if len(lines) < 1:
            raise InputError(f"{path}: ends in its first line")
    head = parse_json(lines[0])
    if head.get("plaq loads") != VERSION:
        raise InputError(f"{path}: is of version {head.get('plaq loads')!r}; this plaq reads version {VERSION}")
    name, unit = head.get("name"), head.get("unit")
    if not isinstance(name, str) or unit not in ("s", "work"):
        raise InputError(f"{path}: line 1: has no name, or a unit that is neither s nor work")
    phases, ranks = [], 0
    for number, line in enumerate(lines[1:], 2):
        source = f"{path}: line {number}"
        try:
            fields = parse_json(line)
        except ValueError as error:
            raise InputError(f"{source}: {error}") from None
        if not isinstance(fields, dict):
            raise InputError(f"{source}: is not a record of a balancing")
        of_phase = fields.get("ranks")
        if type(of_phase) is not int or not 1 <= of_phase <= MOST_RANKS:
            raise InputError(f"{source}: ranks is {str(of_phase)[:40]!r}; it must be from 1 to {MOST_RANKS}")
        if ranks and of_phase != ranks:
            raise InputError(f"{source}: has {of_phase} ranks, but the lines before have {ranks}")
        ranks = of_phase
        phases.append(check_phase(phase_of(fields, source), ranks, source))
    if not phases:
        raise InputError(f"{path}: contains no record of a balancing")
    return Loads(name, unit, ranks, phases, notes)


def phase_of(fields: dict, source: str) -> Phase:
    def array(name: str, kind: str, shape: tuple[int, ...]) -> np.ndarray:
        values = fields.get(name, [])
        try:
            dtype = {"u": np.uint64, "i": np.int32, "f": np.float64}[kind]
            out = np.asarray(values, dtype) if values else np.zeros((0, *shape[1:]), dtype)
            if kind != "f" and not np.array_equal(out, np.asarray(values)) and values:
                raise ValueError("not all are integers")
        except (ValueError, TypeError, OverflowError) as error:
            raise InputError(f"{source}: {name}: {error}") from None
        if out.ndim != len(shape) or out.shape[1:] != shape[1:]:
            raise InputError(f"{source}: {name} has the shape {out.shape}")
        return out

    edges = array("edges", "f", (0, 3))
    if edges.size and not (np.all(edges[:, :2] >= 0) and np.all(edges[:, :2] % 1 == 0)):
        raise InputError(f"{source}: edges: not all ends are indices of elements")
    return Phase(
        keys=array("keys", "u", (0,)), loads=array("loads", "f", (0,)), rank_of=array("where", "i", (0,)),
        sizes=array("bytes", "f", (0,)), positions=array("positions", "u", (0,)), points=array("points", "f", (0, 3)),
        ends=np.ascontiguousarray(edges[:, :2]).astype(np.uint64), weights=np.ascontiguousarray(edges[:, 2]),
    )


def check_phase(phase: Phase, ranks: int, source: str) -> Phase:
    """Return the phase if balancers can work with it, else raise InputError."""
    n = len(phase.keys)
    arrays = {"loads": phase.loads, "where": phase.rank_of}
    refuse = lambda why: InputError(f"{source}: {why}")
    if n == 0:
        raise refuse("it has no elements")
    for name, values in arrays.items():
        if len(values) != n:
            raise refuse(f"there are {n} keys and {len(values)} of {name}")
    for name in ("sizes", "positions", "points"):
        if len(getattr(phase, name)) not in (0, n):
            raise refuse(f"there are {n} keys and {len(getattr(phase, name))} {name}")
    if len(np.unique(phase.keys)) != n:
        raise refuse("a key is repeated")
    for name in ("loads", "sizes", "weights"):
        values = getattr(phase, name)
        if not np.all((values >= 0) & (values < 1e300)):
            raise refuse(f"{name} has {values[~((values >= 0) & (values < 1e300))][0]}; all must be 0 or more")
        if not values.sum() < 1e300:
            raise refuse(f"{name} add up to {values.sum():g}; the sum must be less than 1e300")
    if not np.all(np.isfinite(phase.points)):
        raise refuse("a point has a coordinate that is not finite")
    if not np.all((phase.rank_of >= 0) & (phase.rank_of < ranks)):
        raise refuse(f"the rank of an element is not from 0 to {ranks - 1}")
    if phase.ends.size and phase.ends.max() >= n:
        raise refuse(f"an edge ends at {phase.ends.max()}, but there are only {n} elements")
    return phase

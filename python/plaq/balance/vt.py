"""The files of vt, which LBAF reads: one for each rank, NAME.RANK.json, with tasks and communications of each phase.

The schema is that of scripts/LBDatafile_schema.py of vt, https://github.com/DARMA-tasking/vt.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from plaq import _core
from plaq.balance.loads import MOST_RANKS, Loads, Phase, checked, parsed
from plaq.errors import InputError


def read_vt(path: Path) -> Loads:
    """The phases that all ranks have. Entities that cannot move are left out, with a note."""
    named = re.fullmatch(r"(.+)\.(\d+)\.json", path.name)
    if not named:
        raise InputError(f"{path}: is neither a file of plaq's loads nor named NAME.RANK.json, as vt names its files")
    files: dict[int, Path] = {}
    for beside in path.parent.iterdir():
        found = re.fullmatch(re.escape(named[1]) + r"\.(\d+)\.json", beside.name)
        if found:
            files[int(found[1])] = beside
    ranks = len(files)
    missing = next((rank for rank in range(ranks) if rank not in files), None)
    if missing is not None or ranks > MOST_RANKS:
        raise InputError(f"{path.parent / f'{named[1]}.{missing}.json'}: there is no such file, but one of rank "
                         f"{max(files)}")

    of_ranks = [phases_of(files[rank]) for rank in range(ranks)]
    numbers = sorted(set.intersection(*(set(phases) for phases in of_ranks)))
    if not numbers:
        raise InputError(f"{path}: there is no phase that all {ranks} ranks have")
    notes: list[str] = []
    phases = [one_phase([phases[number] for phases in of_ranks], files, number, notes) for number in numbers]
    return Loads(named[1], "s", ranks, phases, notes)


def phases_of(file: Path) -> dict[int, dict]:
    content = parsed_file(file)
    found: dict[int, dict] = {}
    for phase in listed(content, "phases", str(file)):
        number = whole(phase, "id", f"{file}: a phase")
        if number in found:
            raise InputError(f"{file}: phase {number} comes twice")
        found[number] = phase
    return found


def parsed_file(file: Path) -> dict:
    try:
        content = parsed(file.read_bytes())
    except ValueError as error:
        raise InputError(f"{file}: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise InputError(f"{file}: is no file of loads")
    kind = content.get("type", (content.get("metadata") or {}).get("type", "LBDatafile"))
    if kind != "LBDatafile":
        raise InputError(f"{file}: is of type {str(kind)[:40]!r}; loads are in an LBDatafile")
    return content


def listed(of: dict, name: str, where: str, wanted: bool = True) -> list:
    found = of.get(name, None if wanted else [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise InputError(f"{where}: {name} is no list of objects")
    return found


def whole(of: Any, name: str, where: str) -> int:
    value = of.get(name) if isinstance(of, dict) else None
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise InputError(f"{where}: {name} is {str(value)[:40]!r}, and no whole number")
    return value


def real(of: dict, name: str, where: str) -> float:
    value = of.get(name)
    if type(value) not in (int, float) or not 0 <= value < 1e300:
        raise InputError(f"{where}: {name} is {str(value)[:40]!r}; it is 0 or more")
    return float(value)


def key_of(entity: Any, where: str) -> int:
    if not isinstance(entity, dict):
        raise InputError(f"{where}: has no entity")
    return whole(entity, "id" if "id" in entity else "seq_id", where)


def one_phase(of_ranks: list[dict], files: dict[int, Path], number: int, notes: list[str]) -> Phase:
    keys, loads, where, sizes, index = [], [], [], [], []
    held = held_load = 0.0
    for rank, phase in enumerate(of_ranks):
        place = f"{files[rank]}: phase {number}"
        for task in listed(phase, "tasks", place):
            entity = task.get("entity")
            key = key_of(entity, place)
            load = real(task, "time", f"{place}: entity {key}")
            if not entity.get("migratable", True):
                held += 1
                held_load += load
                continue
            keys.append(key)
            loads.append(load)
            where.append(rank)
            user = task.get("user_defined") or {}
            sizes.append(real(user, "task_serialized_bytes", f"{place}: entity {key}")
                         if "task_serialized_bytes" in user else 0)
            index.append(index_of(entity, f"{place}: entity {key}"))
    if held:
        share = 100 * held_load / max(held_load + sum(loads), 1e-300)
        notes.append(f"phase {number}: {held:.0f} entities that cannot move, {share:.3g} % of the load, are left out")
    name = {key: i for i, key in enumerate(keys)}
    ends, weights = [], []
    for rank, phase in enumerate(of_ranks):
        place = f"{files[rank]}: phase {number}: a communication"
        for sent in listed(phase, "communications", place, wanted=False):
            a, b = key_of(sent.get("from"), place), key_of(sent.get("to"), place)
            weight = real(sent, "bytes", place)
            if a in name and b in name and a != b:
                ends.append((name[a], name[b]))
                weights.append(weight)
    points, positions = places(index, np.array(keys, np.uint64))
    phase = Phase(np.array(keys, np.uint64), np.array(loads, float), np.array(where, np.int32),
                  np.array(sizes, float),
                  positions, points, np.array(ends, np.uint64).reshape(-1, 2), np.array(weights, float))
    return checked(phase, len(of_ranks), f"{files[0]}: phase {number}")


def index_of(entity: dict, where: str) -> tuple[int, ...]:
    index = entity.get("index", [])
    if not isinstance(index, list) or not all(type(x) is int and 0 <= x < 1 << 20 for x in index):
        raise InputError(f"{where}: index is {str(index)[:40]!r}; it is a list of coordinates from 0 to "
                         f"{(1 << 20) - 1}")
    return tuple(index)


def places(index: list[tuple[int, ...]], keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points, and positions along the Hilbert curve; where not all elements lie on one mesh, positions are by key."""
    dimensions = {len(one) for one in index}
    if len(dimensions) != 1 or not dimensions <= {1, 2, 3}:
        return np.zeros((0, 3)), np.argsort(np.argsort(keys, kind="stable"), kind="stable").astype(np.uint64)
    points = np.array(index, np.int32)
    positions = _core.collection.hilbert_positions(points, points.max(axis=0).astype(np.int32) + 1)
    out = np.zeros((len(points), 3))
    out[:, : points.shape[1]] = points
    return out, positions

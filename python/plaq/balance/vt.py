"""Load files of vt, as LBAF reads them: one for each rank, NAME.RANK.json, with tasks and communications per phase.

The schema is that of scripts/LBDatafile_schema.py of vt, https://github.com/DARMA-tasking/vt.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from plaq import _core
from plaq.balance.loads import MOST_RANKS, Loads, Phase, check_phase, parse_json
from plaq.errors import InputError


def read_vt(path: Path) -> Loads:
    """Return the phases that all ranks have. Entities that cannot migrate are left out, with a note."""
    match = re.fullmatch(r"(.+)\.(\d+)\.json", path.name)
    if not match:
        raise InputError(f"{path}: is neither a file of plaq's loads nor named NAME.RANK.json, as vt names its files")
    files: dict[int, Path] = {}
    for beside in path.parent.iterdir():
        numbered = re.fullmatch(re.escape(match[1]) + r"\.(\d+)\.json", beside.name)
        if numbered:
            files[int(numbered[1])] = beside
    ranks = len(files)
    missing = next((rank for rank in range(ranks) if rank not in files), None)
    if missing is not None or ranks > MOST_RANKS:
        raise InputError(f"{path.parent / f'{match[1]}.{missing}.json'}: there is no such file, "
                         f"although there is one of rank {max(files)}")

    of_ranks = [phases_of(files[rank]) for rank in range(ranks)]
    numbers = sorted(set.intersection(*(set(phases) for phases in of_ranks)))
    if not numbers:
        raise InputError(f"{path}: there is no phase that all {ranks} ranks have")
    notes: list[str] = []
    phases = [merge_phase([phases[number] for phases in of_ranks], files, number, notes) for number in numbers]
    return Loads(match[1], "s", ranks, phases, notes)


def phases_of(file: Path) -> dict[int, dict]:
    content = parsed_file(file)
    phases: dict[int, dict] = {}
    for phase in objects_of(content, "phases", str(file)):
        number = whole_number(phase, "id", f"{file}: a phase")
        if number in phases:
            raise InputError(f"{file}: phase {number} is repeated")
        phases[number] = phase
    return phases


def parsed_file(file: Path) -> dict:
    try:
        content = parse_json(file.read_bytes())
    except ValueError as error:
        raise InputError(f"{file}: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise InputError(f"{file}: is not a file of loads")
    kind = content.get("type", (content.get("metadata") or {}).get("type", "LBDatafile"))
    if kind != "LBDatafile":
        raise InputError(f"{file}: is of type {str(kind)[:40]!r}; loads are in an LBDatafile")
    return content


def objects_of(table: dict, name: str, source: str, required: bool = True) -> list:
    objects = table.get(name, None if required else [])
    if not isinstance(objects, list) or not all(isinstance(item, dict) for item in objects):
        raise InputError(f"{source}: {name} is not a list of objects")
    return objects


def whole_number(table: Any, name: str, source: str) -> int:
    value = table.get(name) if isinstance(table, dict) else None
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise InputError(f"{source}: {name} is {str(value)[:40]!r}, not an integer")
    return value


def real(table: dict, name: str, source: str) -> float:
    value = table.get(name)
    if type(value) not in (int, float) or not 0 <= value < 1e300:
        raise InputError(f"{source}: {name} is {str(value)[:40]!r}; it must be 0 or more")
    return float(value)


def key_of(entity: Any, source: str) -> int:
    if not isinstance(entity, dict):
        raise InputError(f"{source}: has no entity")
    return whole_number(entity, "id" if "id" in entity else "seq_id", source)


def merge_phase(of_ranks: list[dict], files: dict[int, Path], number: int, notes: list[str]) -> Phase:
    keys, loads, rank_of, sizes, index = [], [], [], [], []
    fixed = fixed_load = 0.0
    for rank, phase in enumerate(of_ranks):
        source = f"{files[rank]}: phase {number}"
        for task in objects_of(phase, "tasks", source):
            entity = task.get("entity")
            key = key_of(entity, source)
            load = real(task, "time", f"{source}: entity {key}")
            if not entity.get("migratable", True):
                fixed += 1
                fixed_load += load
                continue
            keys.append(key)
            loads.append(load)
            rank_of.append(rank)
            user = task.get("user_defined") or {}
            sizes.append(real(user, "task_serialized_bytes", f"{source}: entity {key}")
                         if "task_serialized_bytes" in user else 0)
            index.append(index_of(entity, f"{source}: entity {key}"))
    if fixed:
        share = 100 * fixed_load / max(fixed_load + sum(loads), 1e-300)
        notes.append(f"phase {number}: {fixed:.0f} entities that cannot migrate, {share:.3g} % of the load, are left "
                     "out")
    name = {key: i for i, key in enumerate(keys)}
    ends, weights = [], []
    for rank, phase in enumerate(of_ranks):
        source = f"{files[rank]}: phase {number}: a communication"
        for sent in objects_of(phase, "communications", source, required=False):
            a, b = key_of(sent.get("from"), source), key_of(sent.get("to"), source)
            weight = real(sent, "bytes", source)
            if a in name and b in name and a != b:
                ends.append((name[a], name[b]))
                weights.append(weight)
    points, positions = mesh_positions(index, np.array(keys, np.uint64))
    phase = Phase(np.array(keys, np.uint64), np.array(loads, float), np.array(rank_of, np.int32),
                  np.array(sizes, float),
                  positions, points, np.array(ends, np.uint64).reshape(-1, 2), np.array(weights, float))
    return check_phase(phase, len(of_ranks), f"{files[0]}: phase {number}")


def index_of(entity: dict, source: str) -> tuple[int, ...]:
    index = entity.get("index", [])
    if not isinstance(index, list) or not all(type(x) is int and 0 <= x < 1 << 20 for x in index):
        raise InputError(f"{source}: index is {str(index)[:40]!r}; it must be a list of coordinates from 0 to "
                         f"{(1 << 20) - 1}")
    return tuple(index)


def mesh_positions(index: list[tuple[int, ...]], keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points, and positions along the Hilbert curve.

    If not all elements lie on one mesh, there are no points and positions are by key.
    """
    dimensions = {len(point) for point in index}
    if len(dimensions) != 1 or not dimensions <= {1, 2, 3}:
        return np.zeros((0, 3)), np.argsort(np.argsort(keys, kind="stable"), kind="stable").astype(np.uint64)
    points = np.array(index, np.int32)
    positions = _core.collection.hilbert_positions(points, points.max(axis=0).astype(np.int32) + 1)
    out = np.zeros((len(points), 3))
    out[:, : points.shape[1]] = points
    return out, positions

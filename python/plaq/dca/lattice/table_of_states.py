"""File of a density of states: two columns, energy and density. Pure Python, as inputs are checked with it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from plaq.dca.lattice.interaction import Torus
from plaq.errors import InputError

BETHE = "bethe"
NORM = 0.01  # by which the integral may differ from 1
MOST_ROWS = 100_000


def read_states(path: str) -> list[list[float]]:
    """Return [energy, density] rows of a text file; lines that begin with # and empty lines are left out.

    InputError in a line where it cannot be read or is no density of states.
    """
    where = f"model.density_of_states = {path}"
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f'{where}: is neither "{BETHE}" nor a file that can be read: {error}') from None
    rows = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        try:
            energy, density = map(float, words)
        except ValueError:
            raise InputError(f"{where}: line {number} is not two numbers, energy and density: {line.strip()[:60]}"
                             ) from None
        rows.append([energy, density])
    if message := fault(rows):
        raise InputError(f"{where}: {message}")
    return rows


def fault(rows) -> str:
    """Return why rows are no density of states; empty where they are one."""
    if not 2 <= len(rows) <= MOST_ROWS:
        return f"{len(rows)} rows of energy and density: from 2 to {MOST_ROWS} are allowed"
    for number, (energy, density) in enumerate(rows, 1):
        if not (math.isfinite(energy) and math.isfinite(density)) or density < 0 or abs(energy) > 1000:
            return f"row {number}, {energy:g} {density:g}: the density must be ≥ 0, the energy in [-1000, 1000]"
    for number, ((a, _), (b, _)) in enumerate(zip(rows, rows[1:]), 2):
        if not b > a:
            return f"row {number}: the energy {b:g} must be above the one before, {a:g}"
    norm = sum((b - a) * (p + q) / 2 for (a, p), (b, q) in zip(rows, rows[1:]))
    return "" if abs(norm - 1) <= NORM else f"its integral is {norm:.4g}: it must be 1, the states of one spin"


def check_states(model: Any, dca: Any, pairs: Any, beyond_one_band: str, refuse) -> None:
    """Refuse what a density of states does not go with."""
    states = model.density_of_states
    if states is None:
        return
    if not isinstance(states, str) and (message := fault(states)):
        refuse(f"model.density_of_states: {message}")
    if len(model.cluster) != 2 or abs(Torus(model.cluster).size) != 1:
        refuse("model.density_of_states is for a cluster of one site: give model.cluster = [[1, 0], [0, 1]]")
    others = [key for key in ("lattice", "hopping", "hopping_file", "amplitudes") if getattr(model, key) is not None]
    if others or model.t_prime != 0:
        refuse(f"model.density_of_states takes the place of a band: leave out model.{(others or ['t_prime'])[0]}")
    if states != BETHE and model.t != 1:
        refuse(f"model.t = {model.t} has no meaning where model.density_of_states is a table: leave it out")
    if beyond_one_band:
        refuse(f"model.density_of_states is for one band with U ≥ 0, and this model has {beyond_one_band}")
    if pairs.momenta is not None:
        refuse("two_particle.momenta needs a band: model.density_of_states has response at q = 0 only")
    if dca.isolated:
        refuse("dca.isolated = true has no bath, so no model.density_of_states")

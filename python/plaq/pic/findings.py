"""The results of a run from what was recorded: histories of the whole plasma, and what they say in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.pic.recorder import Recorder
from plaq.pic.results import Results, field_energy, kinetic_energy
from plaq.pic.setup import Setup

# What the core's columns are, by their names behind the species'. W = n_0 (c/ω_p)^D is the unit of weights.
MEANINGS = {
    "electric": ("W m_e c²", "V/2 Σ E², one component"), "magnetic": ("W m_e c²", "V/2 Σ B², one component"),
    "number": ("", "macro-particles"), "weight": ("W", "Σ w"),
    "kinetic": ("W m_e c²", "Σ w m (γ - 1), half a step before"),
    "p": ("W m_e c", "Σ w m u, half a step before"), "left": ("", "macro-particles that left by a side, in the step"),
    "emitted": ("", "macro-particles that came in, in the step"),
    "left_weight": ("W", "weight that left by a side, in the step"),
    "emitted_weight": ("W", "weight that came in, in the step"),
    "absorbed": ("", "macro-particles that conductors in the box took, in the step"),
    "absorbed_weight": ("W", "weight that conductors in the box took, in the step"),
    "gauss": ("e n_0", "max |div E - rho - background|"),
}
HALF_STEP = ("kinetic", "px", "py", "pz")


def findings(setup: Setup, columns: Sequence[str], rows: np.ndarray, recorders: Sequence[Recorder],
             seconds: Mapping[str, float], ran: Mapping[str, Any]) -> Results:
    """Of all rows [step, column]."""
    times = rows[:, list(columns).index("time")]
    recorded = {}
    for i, column in enumerate(columns):
        if column == "time" or not np.isfinite(rows[:, i]).any():
            continue
        unit, convention = meaning(column)
        shift = -0.5 * setup.dt if column.rpartition(".")[2] in HALF_STEP else 0.0
        recorded[column] = Recorded(column, rows[:, i], (Axis("time", times + shift, "1/ω_p"),), unit, convention)
    recorded |= {recorder.name: recorder.recorded() for recorder in recorders if recorder.values}
    return Results({}, sentences(setup, recorded), dict(seconds), recorded, {"dt": setup.dt, **ran})


def meaning(column: str) -> tuple[str, str]:
    """(unit, formula) of a column."""
    name = column.rpartition(".")[2]
    for start in sorted(MEANINGS, key=len, reverse=True):
        if name.startswith(start):
            return MEANINGS[start]
    raise KeyError(column)


def sentences(setup: Setup, recorded: Mapping[str, Recorded]) -> list[str]:
    """The first one is the answer."""
    steps = len(recorded["electric_x"].values)
    end = setup.dt * steps
    numbers = {name: recorded[f"{name}.number"].values[-1] for name in setup.p.species}
    crowd = ", ".join(f"{int(n)} {name}" for name, n in numbers.items())
    found = [f"t = {end:.6g} /ω_p after {steps} steps" + (f": {crowd}" if crowd else "")]
    if "gauss" in recorded:
        found.append(f"Gauss's law holds to {np.nanmax(recorded['gauss'].values):.2g} e n_0 in every cell and step")
    closed = not setup.p.laser and all(word != "absorbing" for side in (0, 1) for word in setup.sides("", side))
    for name in setup.p.species:
        left = sum(recorded[f"{name}.left_{d}{end}"].values.sum() for d in "xyz" for end in ("low", "high"))
        emitted, absorbed = (recorded[f"{name}.{what}"].values.sum() for what in ("emitted", "absorbed"))
        if left or emitted or absorbed:
            found.append(f"{name}: " + (f"{int(emitted)} macro-particles came in, " if emitted else "")
                         + f"{int(left)} left" + (f", {int(absorbed)} on conductors" if absorbed else ""))
            closed = False
    total = (field_energy(recorded) + kinetic_energy(recorded))[:-1]
    if closed and len(total) > 1 and total[0] > 0:
        largest = float(np.abs(total / total[0] - 1).max())
        found.insert(1, f"Energy at the end is {total[-1] / total[0]:.6g} of that after the first step; "
                     f"it differs from it by up to {largest:.2g}")
    return found

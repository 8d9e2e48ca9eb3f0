"""Results of a run from its records: histories of the whole plasma, and sentences about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.pic.diagnostics.mean import Mean
from plaq.pic.diagnostics.recorder import Recorder
from plaq.pic.inputs.setup import Setup
from plaq.pic.results.results import Results, field_energy, kinetic_energy, times_of

# Unit and formula of the core's columns, by their names without the species. W = n_0 (c/ω_p)^D is the unit of weights.
MEANINGS = {
    "electric": ("W m_e c²", "V/2 Σ E², one component"), "magnetic": ("W m_e c²", "V/2 Σ B², one component"),
    "number": ("", "macro-particles"), "weight": ("W", "Σ w"),
    "kinetic": ("W m_e c²", "Σ w m (γ - 1), half a step before"),
    "p": ("W m_e c", "Σ w m u, half a step before"), "left": ("", "macro-particles that left by a side, in the step"),
    "emitted": ("", "macro-particles that came in, in the step"),
    "left_weight": ("W", "weight that left by a side, in the step"),
    "emitted_weight": ("W", "weight that came in, in the step"),
    "left_energy": ("W m_e c²", "Σ w m (γ - 1) that sides took, in the step"),
    "absorbed_energy": ("W m_e c²", "Σ w m (γ - 1) that conductors and dielectrics in the box took, in the step"),
    "emitted_energy": ("W m_e c²", "Σ w m (γ - 1) of particles from plates and sides, in the step"),
    "count_energy": ("W m_e c²", "kinetic energy that particles have less after a process in a gas, in the step"),
    "absorbed": ("", "macro-particles that conductors and dielectrics in the box absorbed, in the step"),
    "absorbed_weight": ("W", "weight that conductors and dielectrics in the box absorbed, in the step"),
    "count_vanished": ("", "macro-particles of a species that reactions used up, in the step"),
    "count": ("", "macro-particles that a process in a gas met, or reactions; that merging removed or splitting "
                  "added; in the step"),
    "count_lost": ("W", "weight that merging lost by rounding, in the step"),
    "count_weight": ("W", "weight that a process in a gas or a reaction met, in the step"),
    "potential": ("m_e c²/e", "of the electrode of a circuit"),
    "charge": ("e W", "of the electrode of a circuit"), "current": ("e W ω_p", "of a circuit"),
    "gauss": ("e n_0", "max |div E - rho - background|"),
}
HALF_STEP = ("kinetic", "px", "py", "pz", "pr", "pt")


def assemble_results(setup: Setup, columns: Sequence[str], rows: np.ndarray, recorders: Sequence[Recorder],
             seconds: Mapping[str, float], history: Mapping[str, Any]) -> Results:
    """Return the results from all rows [step, column] and the recorders."""
    times = rows[:, list(columns).index("time")]
    recorded = {}
    for i, column in enumerate(columns):
        if column == "time" or not np.isfinite(rows[:, i]).any():
            continue
        unit, convention = meaning(column)
        shift = -0.5 * setup.dt if column.rpartition(".")[2] in HALF_STEP else 0.0
        recorded[column] = Recorded(column, rows[:, i], (Axis("time", times + shift, "1/ω_p"),), unit, convention)
    recorded |= {recorder.name: recorder.recorded() for recorder in recorders if recorder.values}
    history = {"dt": setup.dt * setup.p.output.history,
               "charges": {name: species.charge for name, species in setup.p.species.items()},
               "scatterings": {name: section.species for name, section in setup.p.scattering.items()},
               "windows": {recorder.name: recorder.span() for recorder in recorders
                           if isinstance(recorder, Mean) and recorder.values}, **history}
    return Results({}, sentences(setup, recorded), dict(seconds), recorded, history)


def meaning(column: str) -> tuple[str, str]:
    """Return (unit, formula) of a column."""
    name = column.partition(".")[2] or column
    for start in sorted(MEANINGS, key=len, reverse=True):
        if name.startswith(start):
            return MEANINGS[start]
    raise KeyError(column)


def sentences(setup: Setup, recorded: Mapping[str, Recorded]) -> list[str]:
    """Return sentences about the run; the first one is the answer."""
    end = float(times_of(recorded)[-1])
    steps = round(end / setup.dt)
    numbers = {name: recorded[f"{name}.number"].values[-1] for name in setup.p.species}
    counts = ", ".join(f"{int(n)} {name}" for name, n in numbers.items())
    answers = [f"t = {end:.6g} /ω_p after {steps} steps" + (f": {counts}" if counts else "")]
    if "gauss" in recorded:
        answers.append(f"Gauss's law holds to {np.nanmax(recorded['gauss'].values):.2g} e n_0 in every cell and step")
    closed = not setup.p.laser and all(word != "absorbing" for side in (0, 1) for word in setup.sides("", side))
    for name in setup.p.species:
        left = sum(recorded[f"{name}.left_{d}{end}"].values.sum() for d in setup.axes for end in ("low", "high"))
        emitted, absorbed = (recorded[f"{name}.{quantity}"].values.sum() for quantity in ("emitted", "absorbed"))
        if left or emitted or absorbed:
            answers.append(f"{name}: " + (f"{int(emitted)} macro-particles came in, " if emitted else "")
                         + f"{int(left)} left" + (f", {int(absorbed)} on conductors" if absorbed else ""))
            closed = False
    total = (field_energy(recorded) + kinetic_energy(recorded))[:-1]
    if closed and len(total) > 1 and total[0] > 0:
        largest = float(np.abs(total / total[0] - 1).max())
        answers.insert(1, f"Energy at the end is {total[-1] / total[0]:.6g} of that after the first step; "
                     f"it differs from it by up to {largest:.2g}")
    return answers

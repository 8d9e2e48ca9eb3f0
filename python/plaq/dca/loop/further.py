"""More measurements for a finished run: each temperature resumes with further final iterations.

All final iterations of a temperature count together (plaq.dca.solver.iteration_average), so a finished temperature can
resume: from its averaged bins, Σ and configurations, which are kept beside the checkpoint. Its first iterations had
fewer measurements, so the bits differ from those of a run that asked for more at once. The same extensions give the
same bits.
"""

from __future__ import annotations

from dataclasses import replace

from plaq.dca.loop.state import RunState, TemperatureState
from plaq.dca.parameters import Parameters
from plaq.errors import InputError
from plaq.run.output import RunOutput


def begin(state: RunState, before: Parameters, parameters: Parameters, output: RunOutput) -> RunState:
    """Return the state of a finished run of ``before`` as the start of ``parameters``, which ask for more measurements.

    ``redo`` lists the temperatures that resume, by index. InputError when the run is not finished, or has not kept
    all that they need.
    """
    temperatures = before.dca.temperatures
    if state.redo or len(state.points) < len(temperatures):
        raise InputError(f"{output.folder.path}: a run resumes with more measurements when it is finished: "
                         f"first run it to its end with solver.measurements = {before.solver.measurements} and "
                         f"two_particle.measurements = {before.two_particle.measurements}")
    redo = [i for i, T in enumerate(temperatures) if parameters.measurements(T)[1] > before.measurements(T)[1]]
    for i in redo:
        read(state.kept.get(str(i), ""), temperatures[i], parameters, output)
    return replace(state, redo=redo, index=redo[0] if redo else len(temperatures),
                   grown=[*state.grown, list(before.asked())], asked=list(parameters.asked()))


def read(label: str, T: float, parameters: Parameters, output: RunOutput) -> TemperatureState:
    """Return the kept state of a temperature; InputError when it was not kept or cannot be read."""
    remedy = "another run can start from this one with --from"
    kept = output.load_kept(label, parameters.family(), remedy) if label else None
    if kept is None:
        missing = output.folder.kept_path(label).name
        why = f"{missing} is missing" if label else "its bins were not kept, as where ranks share them"
        raise InputError(f"{output.folder.path}: T = {T:g} cannot resume with more measurements: {why}; {remedy}")
    return TemperatureState.from_plain(kept)


def in_words(grown: list[list[int]]) -> str:
    """Return the measurements of the runs before, for the header."""
    return "; ".join(f"{a} measurements, {b} with two-particle functions" for a, b in grown)

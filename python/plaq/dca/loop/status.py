"""Status of a run for the live view."""

from __future__ import annotations

from typing import Any

from plaq.dca.loop.convergence import FINAL
from plaq.dca.loop.setup import Setup
from plaq.dca.loop.state import TemperatureState
from plaq.dca.planning.progress import part_done

SHOWN = ("density", "sign", "sign_error", "order", "change", "change_error")


def report(setup: Setup, state: TemperatureState, before: int = 0, measurements: float = 0, elapsed: float = 0.0,
           **fields: Any) -> None:
    """Report the status of an iteration to the observer.

    Measurements of this iteration until now are ``before`` and ``measurements``, which took ``elapsed`` seconds.
    ``fields`` are further ones of `Observer.show_status`.
    """
    p, final = setup.parameters, state.phase == FINAL
    few, many = setup.measurements
    complete = sum(r["measurements"] for r in state.history if (r["phase"] == FINAL) == final)
    alone = p.dca.isolated and setup.searched_density is None
    part = part_done(final, complete, before + measurements, 0 if alone else few, many)
    last = state.history[-1] if state.history else {}
    setup.observer.show_status(
        **{name: last.get(name) for name in SHOWN}, T=setup.T, index=setup.index, part_done=part,
        seconds=sum(state.seconds.values()) + elapsed, temperatures=len(p.dca.temperatures),
        iterations=max(p.dca.iterations, state.iteration), mu=last.get("mu", state.mu), phase=state.phase,
        iteration=state.iteration, **fields)

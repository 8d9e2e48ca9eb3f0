"""The section ``[run]`` that every application has: how a run is carried out, which changes no result."""

from __future__ import annotations

from collections.abc import Iterable

from plaq import _core
from plaq.inputs.kinds import binding, choice, duration, folder, integer, one_of, real
from plaq.inputs.schema import Parameter

DOC = "How the run is carried out. No result changes by it unless it says so, and it may differ when a run goes on."
PATIENCE = 300.0  # seconds
BACKENDS = _core.task.backends()

_PLACE = [
    Parameter("run", "folder", folder(), "run", "", "where results go; relative to where the command is given"),
    Parameter("run", "threads", choice(*BACKENDS), BACKENDS[0], "", "back end of the tasks"),
    Parameter("run", "workers", one_of("auto", integer(1, 4096)), "auto", "",
              "threads of each rank; auto is one per physical core of its share of the machine"),
    Parameter("run", "bind", binding(), "auto", "",
              "what workers are bound to; auto: cores, if there is a worker for each one"),
]
_TIME = [
    Parameter("run", "checkpoint_every", real("(0, inf)"), 120.0, "s", "time between two checkpoints"),
    Parameter("run", "patience", real("[1, inf)"), PATIENCE, "s",
              "the job ends when a rank gives no sign of life for this time, or stands still while others wait"),
    Parameter("run", "walltime", duration(), None, "s", "stop with a checkpoint after this time"),
]


def rows(own: Iterable[Parameter] = ()) -> list[Parameter]:
    """Of the table, with an application's ``own`` keys in it."""
    return [*_PLACE, *own, *_TIME]

"""The section ``[run]`` of every application: how a run is carried out, which changes no result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from plaq.inputs.kinds import binding, choice, duration, folder, integer, one_of, real
from plaq.inputs.schema import Parameter
from plaq.parts import demand

DOC = "How the run is carried out. Results do not depend on it unless stated, and it may differ when a run resumes."
TIMEOUT = 300.0  # seconds
BACKENDS = ("fiber", "os", "hpx")  # of src/plaq/task/backends.hpp, the default first

_PLACE = [
    Parameter("run", "folder", folder(), "run", "", "folder of the results, relative to the working directory"),
    Parameter("run", "threads", choice(*BACKENDS), BACKENDS[0], "",
              "back end of the tasks; hpx if plaq was built with HPX"),
    Parameter("run", "workers", one_of("auto", integer(1, 4096)), "auto", "",
              "threads of each rank; auto is one per physical core of its share of the machine"),
    Parameter("run", "bind", binding(), "auto", "",
              "binding of workers; auto: cores, if there is a worker for each one"),
]
_TIME = [
    Parameter("run", "checkpoint_every", real("(0, inf)"), 120.0, "s", "time between two checkpoints"),
    Parameter("run", "timeout", real("[1, inf)"), TIMEOUT, "s",
              "seconds that a rank waits for others before the run ends as hung"),
    Parameter("run", "walltime", duration(), None, "s", "stop with a checkpoint after this time"),
]


def rows(own: Iterable[Parameter] = ()) -> list[Parameter]:
    """Return the rows of the table, with an application's ``own`` keys in it."""
    return [*_PLACE, *own, *_TIME]


def demand_parts(run: Any) -> None:
    """Raise InputError if this build lacks a part that the section ``run`` of some parameters asks for."""
    if run.threads == "hpx":
        demand("HPX", 'run.threads = "hpx" runs tasks as threads of HPX')
    device = getattr(run, "device", "none")
    if device not in ("none", "auto"):
        demand("GPU kernels", f'run.device = "{device}" names GPUs')

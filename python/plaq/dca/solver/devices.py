"""Where the chains of a rank walk: on GPUs (src/plaq/dca/device), or on its workers, which measure in any case."""

from __future__ import annotations

from typing import Any

from plaq import _core
from plaq.comm import node
from plaq.dca.solver import choices
from plaq.errors import InputError
from plaq.inputs.kinds import cpu_list


def check(p: Any) -> None:
    """InputError where run.device of these parameters names what is not here or cannot walk their chains."""
    if p.solver.kind == "ctaux":
        chosen(p.run.device, choices.sweeps_between_charge_worms(p.dca.isolated) > 0, p.solver.precision == "float")


def chosen(device: str, charge_worms: bool, single_precision: bool) -> list[int]:
    """Numbers of this rank's GPUs by run.device, none for the workers: the ranks of a machine take turns."""
    if device == "none":
        return []
    found = _core.gpu.find_devices()
    cannot = ("chains of an isolated cluster have charge worms, which walk on workers only" if charge_worms else
              'solver.precision = "float" walks on workers only' if single_precision else found.why_none)
    if device == "auto":
        named = [] if cannot else list(range(len(found.gpus)))
    elif cannot:
        raise InputError(f'run.device = "{device}": {cannot}')
    else:
        named = cpu_list(device)
        if missing := [i for i in named if i >= len(found.gpus)]:
            raise InputError(f'run.device = "{device}": there is no GPU {missing[0]} here, only 0 to '
                             f"{len(found.gpus) - 1}")
    here = node()
    ranks = len(here.masks)
    return named[here.rank::ranks] or named[here.rank % len(named):][:1] if named else []

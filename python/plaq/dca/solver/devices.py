"""Where the chains of a rank walk and are measured: on GPUs (src/plaq/dca/device), or on its workers.

Workers also measure what walks on GPUs where two-particle functions are spread over ranks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from plaq import _core
from plaq.comm import node
from plaq.dca.solver import choices
from plaq.errors import InputError
from plaq.inputs.kinds import cpu_list


class Chosen(NamedTuple):
    """Numbers of a rank's GPUs, none for the workers, and how many ranks of this machine share each."""

    gpus: list[int]
    ranks: int = 1


def memory(p: Any) -> dict[int, float]:
    """Bytes that this rank has of each of its GPUs, by number.

    InputError where run.device of these parameters names what is not here or cannot walk their chains.
    """
    if p.solver.kind != "ctaux":
        return {}
    gpus, ranks = chosen(p.run.device, *_moves(p))
    there = _core.gpu.find_devices().gpus if gpus else []
    return {gpu: there[gpu].memory / ranks for gpu in gpus}


def words(p: Any) -> str:
    """Where the chains of this rank are, or why they stay on the workers."""
    gpus = chosen(p.run.device, *_moves(p)).gpus
    return "GPU " + ", ".join(map(str, gpus)) if gpus else f"none, {why_none(*_moves(p))}"


def _moves(p: Any) -> tuple[bool, bool]:
    return choices.sweeps_between_charge_worms(p.dca.isolated) > 0, p.solver.precision == "float"


def alike(device: str, mine: Chosen, comm: Any) -> Chosen:
    """``mine``, where all ranks have GPUs or none has: chains go from rank to rank. Else an InputError. Collective."""
    least, most = (comm.allreduce(int(bool(mine.gpus)), op) for op in ("min", "max"))
    if least != most:
        raise InputError(f'run.device = "{device}": some ranks have GPUs and others none; take ranks that are alike, '
                         'or run.device = "none"')
    return mine


def why_none(charge_worms: bool, single_precision: bool) -> str:
    """What keeps chains from GPUs, in words; empty where nothing does."""
    return ("chains of an isolated cluster have charge worms, which walk on workers only" if charge_worms else
            'solver.precision = "float" walks on workers only' if single_precision else
            _core.gpu.find_devices().why_none)


def chosen(device: str, charge_worms: bool, single_precision: bool) -> Chosen:
    """This rank's GPUs by run.device: the ranks of a machine take turns."""
    if device == "none":
        return Chosen([])
    cannot, there = why_none(charge_worms, single_precision), len(_core.gpu.find_devices().gpus)
    if device == "auto":
        named = [] if cannot else list(range(there))
    elif cannot:
        raise InputError(f'run.device = "{device}": {cannot}')
    else:
        named = cpu_list(device)
        if missing := [i for i in named if i >= there]:
            raise InputError(f'run.device = "{device}": there is no GPU {missing[0]} here, only 0 to {there - 1}')
    here = node()
    ranks, many = len(here.masks), len(named)
    if ranks <= many or not named:
        return Chosen(named[here.rank::ranks])
    return Chosen([named[here.rank % many]], len(range(here.rank % many, ranks, many)))

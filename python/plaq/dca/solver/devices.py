"""Devices on which the chains of a rank walk and are measured: GPUs (src/plaq/dca/device), or its workers.

Workers also measure chains that walk on GPUs where ranks share the rows of two-particle functions.
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
    """Return the bytes that this rank has of each of its GPUs, by number.

    InputError where run.device of these parameters names a GPU that is missing or cannot walk their chains.
    """
    if p.solver.kind != "ctaux":
        return {}
    gpus, ranks = chosen(p.run.device, *_moves(p))
    present = _core.gpu.find_devices().gpus if gpus else []
    return {gpu: present[gpu].memory / ranks for gpu in gpus}


def words(p: Any) -> str:
    """Return the devices of this rank's chains, in words, or why they stay on the workers."""
    gpus = chosen(p.run.device, *_moves(p)).gpus
    return "GPU " + ", ".join(map(str, gpus)) if gpus else f"none, {why_none(*_moves(p))}"


def _moves(p: Any) -> tuple[bool, bool]:
    return choices.sweeps_between_charge_worms(p.dca.isolated) > 0, p.solver.precision == "float"


def chosen_for(problem: Any, device: str) -> Chosen:
    """Return this rank's GPUs for the chains of a problem of C++."""
    if isinstance(problem, _core.dca.GeneralProblem):
        return chosen(device, False, False, general=True)
    return chosen(device, problem.sweeps_between_charge_worms > 0, problem.single_precision)


def alike(device: str, here: Chosen, comm: Any) -> Chosen:
    """Return ``here`` where all ranks have GPUs or none has: chains move between ranks. Else InputError. Collective."""
    least, most = (comm.allreduce(int(bool(here.gpus)), op) for op in ("min", "max"))
    if least != most:
        raise InputError(f'run.device = "{device}": some ranks have GPUs and others none; give all ranks GPUs, '
                         'or run.device = "none"')
    return here


def why_none(charge_worms: bool, single_precision: bool, general: bool = False) -> str:
    """Return why chains cannot walk on GPUs, in words; empty where they can. general : chains of CT-INT."""
    return ("chains of CT-INT walk on workers only" if general else
            "chains of an isolated cluster have charge worms, which walk on workers only" if charge_worms else
            'solver.precision = "float" walks on workers only' if single_precision else
            _core.gpu.find_devices().why_none)


def chosen(device: str, charge_worms: bool, single_precision: bool, general: bool = False) -> Chosen:
    """Return this rank's GPUs by run.device; ranks of a machine take turns."""
    if device == "none":
        return Chosen([])
    cannot, count = why_none(charge_worms, single_precision, general), len(_core.gpu.find_devices().gpus)
    if device == "auto":
        named = [] if cannot else list(range(count))
    elif cannot:
        raise InputError(f'run.device = "{device}": {cannot}')
    else:
        named = cpu_list(device)
        if missing := [i for i in named if i >= count]:
            raise InputError(f'run.device = "{device}": there is no GPU {missing[0]} here, only 0 to {count - 1}')
    this_node = node()
    ranks, many = len(this_node.masks), len(named)
    if ranks <= many or not named:
        return Chosen(named[this_node.rank::ranks])
    return Chosen([named[this_node.rank % many]], len(range(this_node.rank % many, ranks, many)))

"""Integrators of hybrid Monte Carlo as lists of operations, without the kernels.

A step of length one is a list of kicks of the momenta, moves of the links, and kicks with a force gradient. Names with
"position" begin with a move, the others with a kick.
"""

from __future__ import annotations

from typing import NamedTuple

LAMBDA = 0.1931833275037836  # smallest error of "2mn" for equal weights of both commutators
TUNABLE = ("2mn", "2mn_position")  # integrators with a free weight lambda

_THETA, _RHO = 0.08398315262876693, 0.6822365335719091  # kicks of omf4
_XI, _CHI = 0.2539785108410595, -0.03230286765269967  # its moves
_FIRST, _SECOND, _KICK = 0.1786178958448091, -0.06626458266981849, 0.7123418310626054  # moves and kick of 4mn

_FIXED = {
    "leapfrog": ((0.5, 0.5), (1.0,)),
    "leapfrog_position": ((0.0, 1.0, 0.0), (0.5, 0.5)),
    "2mnfg": ((1 / 6, 2 / 3, 1 / 6), (0.5, 0.5)),
    "4mn": ((0.0, _KICK, 0.5 - _KICK, 0.5 - _KICK, _KICK, 0.0),
            (_FIRST, _SECOND, 1 - 2 * (_FIRST + _SECOND), _SECOND, _FIRST)),
    "omf4": ((_THETA, _RHO, 0.5 - _THETA - _RHO, 0.5 - _THETA - _RHO, _RHO, _THETA),
             (_XI, _CHI, 1 - 2 * (_XI + _CHI), _CHI, _XI)),
}
_GRADIENT = {"2mnfg": {1: 1 / 24}}  # kicks with a force at exp(-h^2 F / 24) U

INTEGRATORS = (*TUNABLE, *_FIXED)
"""Names. Of second order: "leapfrog", "2mn" (Omelyan, Mryglod and Folk, Comput. Phys. Commun. 151, 272 (2003), eq. 31).
Of fourth: "omf4" (their eq. 71), "4mn" (their paper in 146, 188 (2002), eq. 20), and "2mnfg", whose middle kick has a
force gradient (eq. 41; Yin and Mawhinney, arXiv:1111.5059)."""


class Operation(NamedTuple):
    """Kick or move by a part of the length of a step; ``gradient``: c of a kick with the force at exp(-c h^2 F) U."""

    is_kick: bool
    part: float
    gradient: float = 0.0


def operations(name: str, steps: int, weight: float = LAMBDA) -> list[Operation]:
    """Return the operations of ``steps`` steps; the last of a step and the first of the next are merged.

    ``weight``: lambda of the integrators in `TUNABLE`.
    """
    if name in TUNABLE:
        three, two = (weight, 1 - 2 * weight, weight), (0.5, 0.5)
        kicks, moves = (three, two) if name == "2mn" else ((0.0, *two, 0.0), three)
    else:
        kicks, moves = _FIXED[name]
    gradients = _GRADIENT.get(name, {})
    step = [Operation(True, kicks[0])]
    for number, (kick, move) in enumerate(zip(kicks[1:], moves), 1):
        step += [Operation(False, move), Operation(True, kick, gradients.get(number, 0.0))]
    merged: list[Operation] = []
    for operation in step * steps:
        if operation.part == 0:
            continue
        if merged and merged[-1].is_kick == operation.is_kick:
            merged[-1] = merged[-1]._replace(part=merged[-1].part + operation.part)
        else:
            merged.append(operation)
    return merged


def forces(name: str, steps: int) -> int:
    """Return the number of forces that the steps take."""
    return sum(1 + (operation.gradient != 0) for operation in operations(name, steps) if operation.is_kick)


def moves(name: str, steps: int) -> int:
    """Return the number of moves, each of which is a trajectory of the finer scale."""
    return sum(not operation.is_kick for operation in operations(name, steps))

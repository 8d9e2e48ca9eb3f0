r"""Models of correlators: sums of states, linear in amplitudes A_k and with energies m_k that ascend.

exp       $C(t) = \sum A_k e^{-m_k t}$
cosh      $C(t) = \sum A_k (e^{-m_k t} + e^{-m_k (T - t)})$
sinh      $C(t) = \sum A_k (e^{-m_k t} - e^{-m_k (T - t)})$
constant  $C(t) = A$
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plaq.errors import InputError

KINDS = ("cosh", "sinh", "exp", "constant")
LIGHTEST, HEAVIEST = 1e-4, 20.0  # energies of a fit
MOST_STATES = 4


@dataclass(frozen=True)
class Model:
    """Model f(x) = sum_k a_k phi_k(x; q) with ``linear`` amplitudes a and ``nonlinear`` parameters q, by name.

    ``forms(q, x)`` returns phi [x, k]. ``starts`` are points q to begin from. Fits work with log m_1, log (m_2 - m_1),
    ... of the energies q.
    """

    text: str
    linear: tuple[str, ...]
    nonlinear: tuple[str, ...]
    forms: Callable[[np.ndarray, np.ndarray], np.ndarray]
    starts: tuple[tuple[float, ...], ...] = ((),)


def correlator_model(kind: str, states: int = 1, extent: int | None = None) -> Model:
    """Return a model of correlators; ``extent`` is T of cosh and sinh. InputError for an unknown kind."""
    if kind not in KINDS:
        raise InputError(f"the model {kind!r} is not one of {', '.join(KINDS)}")
    if not 1 <= states <= MOST_STATES:
        raise InputError(f"a fit has 1 to {MOST_STATES} states, not {states}")
    if kind == "constant":
        return Model("A", ("value",), (), lambda q, x: np.ones((len(x), 1)))
    if kind != "exp" and extent is None:
        raise InputError(f"the model {kind!r} needs the extent T of the lattice in time")
    sign = {"exp": 0.0, "cosh": 1.0, "sinh": -1.0}[kind]

    def forms(energies: np.ndarray, t: np.ndarray) -> np.ndarray:
        direct = np.exp(-np.multiply.outer(t, energies))
        return direct + sign * np.exp(-np.multiply.outer((extent or 0) - t, energies)) if sign else direct

    numbers = [""] + [f"_{k}" for k in range(1, states)]
    grid = np.geomspace(0.02, 4.0, 12)
    starts = tuple(tuple(m * 1.8**np.arange(states)) for m in grid)
    text = f"{kind} of {states} states" if states > 1 else kind
    return Model(text, tuple(f"amplitude{n}" for n in numbers), tuple(f"mass{n}" for n in numbers), forms, starts)

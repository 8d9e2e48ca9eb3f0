"""The section [order]: a phase of broken symmetry that the run allows, and the field that starts it.

    H_field = -h sum_i (-1)^i S^x_i                                            antiferromagnetic
    H_field = -h/2 sum_K f(K) (c+_K,up c+_-K,dn + h.c.)                        superconducting

with f(K) = 1 for s wave and (cos K_x - cos K_y)/2 for d wave. The field h acts in the first iterations of each
temperature. On an isolated cluster, which cannot order by itself, it stays. Pure Python, as inputs are checked with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plaq.inputs.kinds import choice, real
from plaq.inputs.schema import Parameter

ANTIFERROMAGNETIC, SUPERCONDUCTING = "antiferromagnetic", "superconducting"
DOC = "A phase of broken symmetry, which the self-energy and the bath may have."
SEED = 0.2  # t
SEEDED = 3  # iterations with the field at each temperature, at least
FEWEST_ITERATIONS = 10

ROWS = [
    Parameter("order", "kind", choice(ANTIFERROMAGNETIC, SUPERCONDUCTING), None, "",
              "phase that is allowed, for lattices of one orbital: spins of alternating sign, or singlet pairs; unset: "
              "none"),
    Parameter("order", "symmetry", choice("s", "d"), None, "",
              "of the pairs, d with the sign of cos K_x - cos K_y; unset: d where U > 0, else s"),
    Parameter("order", "seed", real("(0, 1000]"), None, "t",
              f"field h in the first iterations of each temperature, -h S of alternating sign or "
              f"-h/2 f(K) (c+c+ + h.c.); unset: {SEED:g}"),
]


@dataclass(frozen=True)
class Order:
    """Kind of broken symmetry; symmetry : "s" or "d" of pairs, "s" of spins; seed : the field h."""

    kind: str
    symmetry: str = "s"
    seed: float = SEED

    @property
    def is_paired(self) -> bool:
        return self.kind == SUPERCONDUCTING

    @property
    def tau(self) -> tuple[int, int]:
        """Charges of the spinor's components (plaq.dca.lattice.spinor)."""
        return (1, -1) if self.is_paired else (1, 1)

    @property
    def in_words(self) -> str:
        return f"superconducting, {self.symmetry} wave" if self.is_paired else self.kind


def form_factor(symmetry: str, K: Sequence[float]) -> float:
    """Return f(K): 1 for "s", (cos K_x - cos K_y)/2 for "d"."""
    if symmetry == "s":
        return 1.0
    f = (math.cos(K[0]) - math.cos(K[1])) / 2
    return f if abs(f) > 1e-12 else 0.0


def read_order(section: Any, model: Any, refuse: Any) -> Order | None:
    """Return the order of the section [order] for [model]; ``refuse`` is called for the first value not allowed."""
    kind = section.kind
    if kind is None:
        for key in ("symmetry", "seed"):
            if getattr(section, key) is not None:
                refuse(f"order.{key} needs order.kind")
        return None
    for key in ("field", "staggered_field", "hopping_down"):
        if getattr(model, key) is not None:
            refuse(f'order.kind = "{kind}": model.{key} is not allowed, as the ordered phase has no field of its own')
    if model.density_of_states is not None:
        refuse(f'order.kind = "{kind}" needs a band, and model.density_of_states has none')
    seed = SEED if section.seed is None else section.seed
    if kind == ANTIFERROMAGNETIC:
        if section.symmetry is not None:
            refuse(f'order.symmetry = "{section.symmetry}" is one of pairs: it needs order.kind = "{SUPERCONDUCTING}"')
        return Order(kind, seed=seed)
    U = model.U if isinstance(model.U, float) else sum(value for _, value in model.U)
    symmetry = section.symmetry or ("d" if U > 0 else "s")
    if symmetry == "d" and len(model.cluster) < 2:
        refuse('order.symmetry = "d" needs a lattice of two dimensions or more')
    return Order(kind, symmetry, seed)

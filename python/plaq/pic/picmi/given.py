"""Arguments of a PICMI object: those that a translation uses, and refusal of the others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from plaq.errors import InputError
from plaq.pic.inputs.units import SPEED_OF_LIGHT

AXES = {1: "z", 2: "xz", 3: "xyz"}  # of a deck, by dimension
TURNED = {"z": "x", "x": "y", "y": "z"}  # plaq's axis of an axis of a deck


def name_of(part: Any) -> str:
    return type(part).__name__.removeprefix("PICMI_")


def refuse(part: Any, argument: str, why: str) -> InputError:
    return InputError(f"picmi.{name_of(part)}({argument}={getattr(part, argument)!r}): {why}")


def only(part: Any, used: Iterable[str]) -> None:
    """Raise InputError for an argument of a deck that is set and not among those that are used."""
    used = set(used)
    for argument in sorted(part.model_fields_set - used):
        default = type(part).model_fields[argument].get_default(call_default_factory=True)
        off = default is None and getattr(part, argument) is False
        if getattr(part, argument) != default and not off:
            raise refuse(part, argument, "plaq has no such argument")


def turned(vector: Iterable[Any]) -> list[Any]:
    """Return the components along plaq's x, y, z of those along x, y, z of a deck."""
    x, y, z = vector
    return [z, x, y]


class Box:
    """Axes of a deck's grid: plaq's coordinate is that of the deck minus the lower bound."""

    def __init__(self, dimension: int, lower: Iterable[float]):
        self.axes = AXES[dimension]
        self.low = dict(zip(self.axes, lower))
        self.order = sorted(range(dimension), key=lambda i: TURNED[self.axes[i]])  # axes of the deck in plaq's order

    def ordered(self, values: Iterable[Any]) -> list[Any]:
        """Return values by the grid's axes in the order of plaq's."""
        values = list(values)
        return [values[i] for i in self.order]

    def position(self, point: Iterable[float]) -> list[float]:
        """Return plaq's coordinates of a point x, y, z of a deck."""
        by_axis = dict(zip("xyz", point))
        return self.ordered(by_axis[axis] - self.low[axis] for axis in self.axes)

    def formula(self, expression: str) -> str:
        """Return an expression of x, y, z, t of a deck as plaq's formula."""
        def replaced(match: re.Match[str]) -> str:
            axis = match[0]
            if axis not in self.low:
                raise InputError(f"picmi: {expression}: a grid of {len(self.axes)} dimensions has the axes "
                                 f"{', '.join(self.axes)}")
            return f"({TURNED[axis]} + ({self.low[axis]!r}))" if self.low[axis] else TURNED[axis]

        return re.sub(r"(?<![\w.])[xyz](?!\w)", replaced, expression)

    def within(self, part: Any, expression: str) -> str:
        """Return the formula of an expression, or 0 outside the bounds of a part of a deck."""
        conditions = []
        for bounds, sign in ((part.lower_bound, ">="), (part.upper_bound, "<=")):
            conditions += [f"{axis} {sign} ({bound!r})" for axis, bound in zip("xyz", bounds)
                           if bound is not None and axis in self.axes]
        whole = f"if({' and '.join(conditions)}, {expression}, 0)" if conditions else expression
        return self.formula(whole)


def with_constants(part: Any, expression: str) -> str:
    """Return an expression with the values of the names that a part of a deck defines."""
    for name, value in part.user_defined_kw.items():
        expression = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", f"({float(value)!r})", expression)
    return expression


def gamma_beta(velocity: float) -> float:
    """Return γβ of γ v in m/s."""
    return velocity / SPEED_OF_LIGHT

"""A record of a simulation: an array on named axes, without an error of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plaq.data import display
from plaq.data.estimate import Axis

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Recorded:
    """``values`` of the shape that ``axes`` describe; ``convention`` is the formula, ``note`` a reason for doubt."""

    name: str
    values: np.ndarray
    axes: tuple[Axis, ...] = ()
    unit: str = ""
    convention: str = ""
    note: str = ""

    def __post_init__(self):
        lengths = tuple(axis.size for axis in self.axes)
        if lengths != np.shape(self.values):
            raise ValueError(f"{self.name}: axes of {lengths} do not describe an array of shape "
                             f"{np.shape(self.values)}")

    def axis(self, name: str) -> np.ndarray:
        """Return the values along the axis of that name; KeyError if there is none."""
        return {axis.name: axis.values for axis in self.axes}[name]

    def plot(self) -> Figure:
        """Return a figure: a curve, a plane of two axes, or planes at some values of the first axis."""
        return display.record_drawing(self).figure()

    def __repr__(self) -> str:
        return display.record_line(self)

    def _repr_html_(self) -> str:
        return display.record_html(self)

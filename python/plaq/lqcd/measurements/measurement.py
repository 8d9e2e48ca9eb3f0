"""Measurement of a table of the input on one configuration, and the layout of its series."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.lqcd.measurements.workbench import Line, Workbench
from plaq.lqcd.parameters import Parameters


@dataclass(frozen=True)
class Quantity:
    """Layout of a measured quantity: its formula, axes behind that of configurations, unit and type of numbers."""

    convention: str
    axes: tuple[Axis, ...] = ()
    unit: str = ""
    dtype: type = float

    def array(self, rows: Sequence[np.ndarray]) -> np.ndarray:
        """Return [configuration, ...] of measured ``rows``, of which there may be none."""
        return np.asarray(rows, self.dtype).reshape(len(rows), *(axis.size for axis in self.axes))


class Measurement(ABC):
    """Measurement of a table [family.name] of the input, on configurations whose numbers are multiples of ``every``."""

    family: ClassVar[str]

    def __init__(self, p: Parameters, name: str):
        self.p, self.name, self.table = p, name, getattr(p, self.family)[name]
        self.every: int = self.table.every

    @property
    def key(self) -> str:
        """The table in words, as ``mesons.pion``."""
        return f"{self.family}.{self.name}"

    def path(self, quantity: str) -> str:
        """Return the name of the series of a quantity, as ``mesons/pion/gamma5``."""
        return f"{self.family}/{self.name}/{quantity}"

    @abstractmethod
    def quantities(self) -> dict[str, Quantity]:
        """Return the layouts of all quantities that `measure` returns."""

    def lines(self, number: int) -> list[Line]:
        """Return the propagators that `measure` asks for on the configuration with this number, each as often."""
        return []

    @abstractmethod
    def measure(self, bench: Workbench) -> Mapping[str, Any]:
        """Return {quantity: value} of the configuration of ``bench``, on all ranks. Collective."""


def record(measurement: Measurement, rows: Mapping[str, Sequence[np.ndarray]], last: int) -> dict[str, Recorded]:
    """Return {path: series [configuration, ...]} of a measurement that has seen ``last`` configurations."""
    numbers = Axis("configuration", np.arange(measurement.every, last + 1, measurement.every))
    return {(path := measurement.path(name)): Recorded(path, layout.array(rows[name]), (numbers, *layout.axes),
                                                       layout.unit, layout.convention)
            for name, layout in measurement.quantities().items()}

"""Recorders: values at some steps of a run, the same on every rank, and their form as results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.pic.inputs.setup import Setup
from plaq.pic.plasma import Plasma


class Recorder(ABC):
    """Recorder of a value every ``every`` steps, from step 0 on; ``name`` is that of the result."""

    def __init__(self, setup: Setup, name: str, every: int):
        self.setup, self.name, self.every = setup, name, every
        self.steps: list[int] = []
        self.values: list[np.ndarray] = []
        self.moved: list[float] = []  # shift of the window, c/ω_p

    def next_step(self, after: int) -> int:
        """Return the first step after a step at which a value is recorded."""
        return (after // self.every + 1) * self.every

    def due(self, step: int) -> bool:
        return step % self.every == 0

    @abstractmethod
    def take(self, plasma: Plasma) -> np.ndarray:
        """Return the value, the same on every rank. Collective."""

    @abstractmethod
    def axes(self) -> tuple[Axis, ...]:
        """Return the axes of a value; x is counted from the low side of the box, at any position of a window."""

    unit, convention = "", ""

    def record(self, plasma: Plasma) -> None:
        """Record the value. Collective."""
        self.steps.append(plasma.step)
        self.values.append(self.take(plasma))
        self.moved.append(plasma.offset)

    def state(self) -> dict[str, Any]:
        return {"steps": self.steps, "values": np.array(self.values), "moved": self.moved}

    def restore(self, state: dict[str, Any]) -> None:
        self.steps, self.values, self.moved = (list(state[key]) for key in ("steps", "values", "moved"))

    def recorded(self) -> Recorded:
        times = Axis("time", np.array(self.steps, float) * self.setup.dt, "1/ω_p")
        axes = self.axes()
        values = np.array(self.values).reshape(len(self.steps), *(axis.size for axis in axes))
        if self.setup.p.window.speed:  # x where the window was
            moved = np.array(self.moved)[:, None]
            axes = tuple(replace(axis, values=axis.values + moved) if axis.name == "x" else axis for axis in axes)
        return Recorded(self.name, values, (times, *axes), self.unit, self.convention)

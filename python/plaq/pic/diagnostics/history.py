"""History of a run: rows of the core, of every step or summed up over several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

SUMMED = ("left", "emitted", "absorbed", "count")  # what a step counts


class History:
    """Rows [row, column] of every ``every`` steps: sums of counts, the largest residual, else those of the last step.

    ``last`` is the row of the last step, ``added`` the number of steps that were added last.
    """

    def __init__(self, columns: Sequence[str], every: int):
        self.every, self.parts, self.added = every, [np.zeros((0, len(columns)))], 0
        self.open = np.zeros((0, len(columns)))  # steps of an unfinished row, already summed to one
        self.open_steps = 0
        names = [column.partition(".")[2] for column in columns]
        self.summed = np.array([name.startswith(SUMMED) for name in names])
        self.largest = np.array([column == "gauss" for column in columns])

    def add(self, rows: np.ndarray) -> None:
        """Add the rows of some steps."""
        self.last, self.added = rows[-1], len(rows)
        if self.every == 1:
            self.parts.append(rows)
            return
        while len(rows):
            count = min(len(rows), self.every - self.open_steps)
            self.open = self._fold(np.concatenate([self.open, rows[:count]]))
            self.open_steps, rows = self.open_steps + count, rows[count:]
            if self.open_steps == self.every:
                self.parts.append(self.open)
                self.open, self.open_steps = self.open[:0], 0

    def _fold(self, rows: np.ndarray) -> np.ndarray:
        """Return one row [1, column] of several."""
        out = rows[-1].copy()
        out[self.summed] = rows[:, self.summed].sum(axis=0)
        out[self.largest] = np.fmax.reduce(rows[:, self.largest])
        return out[None]

    def all(self) -> np.ndarray:
        """Return all rows; the last one may be of fewer steps."""
        self.parts = [np.concatenate(self.parts)]
        return np.concatenate([self.parts[0], self.open])

    def state(self) -> dict[str, Any]:
        self.all()
        return {"rows": self.parts[0], "open_row": self.open, "open_steps": self.open_steps}

    def restore(self, state: dict[str, Any]) -> None:
        self.parts, self.open, self.open_steps = [state["rows"]], state["open_row"], state["open_steps"]

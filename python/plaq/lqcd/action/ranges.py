"""Rational functions in the course of a chain: ranges that an eigenvalue leaves are widened, the chain continues."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.lqcd import sea
from plaq.lqcd.fields.inverse_root import InverseRoot
from plaq.lqcd.parameters import Parameters

COLUMNS = ("trajectories before it", "smallest eigenvalue of M^+ M", "largest one", "poles")


class Ranges:
    """Rows {name: [change, (trajectories before it, low, high, poles)]} of the quarks with rational functions.

    The last row is that of ``p``, which continues after ``trajectories`` from the rows ``before``.
    """

    def __init__(self, p: Parameters, trajectories: int, before: Mapping[str, np.ndarray] | None):
        self.rows: dict[str, np.ndarray] = {}
        for name, q in p.quarks.items():
            if sea.is_pair(q):
                continue
            rows, now = (before or {}).get(name, np.zeros((0, len(COLUMNS)))), (*q.range, q.poles or sea.POLES)
            if not len(rows) or tuple(rows[-1, 1:]) != now:
                rows = np.vstack([rows[rows[:, 0] < trajectories], [trajectories, *now]])
            self.rows[name] = rows

    def sentences(self) -> list[str]:
        """Describe each rational function in a sentence."""
        sentences = []
        for name, rows in self.rows.items():
            parts = []
            for after, low, high, poles in rows:
                delta = InverseRoot.zolotarev(int(poles), low, high).delta
                parts.append((f"from trajectory {int(after) + 1} on " if after else "")
                             + f"eigenvalues from {low:g} to {high:g} by {int(poles)} poles to {delta:.1g}")
            sentences.append(f"{name}: inverse root of " + "; ".join(parts))
        return sentences

    def recorded(self) -> dict[str, Recorded]:
        """Return {name of the section_range: rows} as series."""
        axes = [Axis("column", np.arange(len(COLUMNS)))]
        return {f"{name}_range": Recorded(f"{name}_range", rows, (Axis("change", np.arange(len(rows))), *axes),
                                          convention=", ".join(COLUMNS))
                for name, rows in self.rows.items()}

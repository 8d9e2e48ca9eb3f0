"""Rational functions that a chain has had: a range that an eigenvalue leaves is widened, and the chain goes on."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.lqcd.parameters import RATIONAL, Parameters
from plaq.lqcd.rational import InverseRoot

COLUMNS = ("trajectories before it", "smallest eigenvalue of M^+ M", "largest one", "poles")


class Ranges:
    """{section: [change, (trajectories before it, low, high, poles)]} for the sections `RATIONAL` of an input that have
    quarks, the last of them of ``p``, which goes on after ``trajectories`` with what ``before`` has."""

    def __init__(self, p: Parameters, trajectories: int, before: Mapping[str, np.ndarray] | None):
        self.rows: dict[str, np.ndarray] = {}
        for name in RATIONAL:
            one = getattr(p, name)
            if one.kappa is None:
                continue
            rows = (before or {}).get(name, np.zeros((0, len(COLUMNS))))
            if not len(rows) or tuple(rows[-1, 1:]) != (*one.range, one.poles):
                rows = np.vstack([rows[rows[:, 0] < trajectories], [trajectories, *one.range, one.poles]])
            self.rows[name] = rows

    def sentences(self) -> list[str]:
        """Describe each rational function in a sentence."""
        found = []
        for name, rows in self.rows.items():
            parts = []
            for after, low, high, poles in rows:
                delta = InverseRoot.zolotarev(int(poles), low, high).delta
                parts.append((f"from trajectory {int(after) + 1} on " if after else "")
                             + f"eigenvalues from {low:g} to {high:g} by {int(poles)} poles to {delta:.1g}")
            found.append(f"{name}: inverse root of " + "; ".join(parts))
        return found

    def recorded(self) -> dict[str, Recorded]:
        """{name of the section_range: rows}."""
        axes = [Axis("column", np.arange(len(COLUMNS)))]
        return {f"{name}_range": Recorded(f"{name}_range", rows, (Axis("change", np.arange(len(rows))), *axes),
                                          convention=", ".join(COLUMNS))
                for name, rows in self.rows.items()}

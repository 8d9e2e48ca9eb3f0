"""Measurements on configurations, one after the other: the series of all that an input asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.recorded import Recorded
from plaq.errors import InputError
from plaq.lqcd.action.coupling import Coupling
from plaq.lqcd.action.monitors import Monitors
from plaq.lqcd.action.ranges import Ranges
from plaq.lqcd.action.reweighting import Reweighting
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.measurements.analysis import analyse
from plaq.lqcd.measurements.baryons import Baryons
from plaq.lqcd.measurements.charges import Charges
from plaq.lqcd.measurements.disconnected import Disconnected
from plaq.lqcd.measurements.form_factors import FormFactors
from plaq.lqcd.measurements.gluonic import Fixing, Flow, Loops, Plaquettes
from plaq.lqcd.measurements.hadrons import Mesons
from plaq.lqcd.measurements.measurement import Measurement, record
from plaq.lqcd.measurements.overlap import OverlapQuarks
from plaq.lqcd.measurements.series import record_trajectories
from plaq.lqcd.measurements.walls import WallQuarks
from plaq.lqcd.measurements.workbench import Workbench
from plaq.lqcd.parameters import Parameters
from plaq.lqcd.results import Results
from plaq.run.timing import timed

KINDS = (Loops, Mesons, Baryons, Charges, FormFactors, Disconnected, OverlapQuarks, WallQuarks, Flow, Reweighting)
PROPAGATORS = "propagators"  # folder in that of a run
PARTS = (*(kind.family for kind in KINDS), Fixing.family, Coupling.family, Plaquettes.family)  # that are timed


def has_coupling(p: Parameters) -> bool:
    """Return whether the coupling of the Schroedinger functional is measured."""
    return p.lattice.boundary == "schroedinger" and p.schroedinger.field == "coupling"


class Measurements:
    """Series of the measurements so far, on all ranks; ``state`` is a checkpoint with them, None at the beginning.

    ``seconds`` takes the times of `PARTS`. A table that is new in a run has none of the configurations that others
    have; it is measured on them where they are stored (`late`). ``kept`` is the folder of propagators that tables keep.
    """

    def __init__(self, p: Parameters, seconds: dict[str, float], state: Mapping[str, Any] | None = None,
                 kept: Path | None = None):
        self.p, self.seconds, self.kept = p, seconds, kept
        self.fixing = Fixing(p) if p.fixing.gauge is not None else None
        self.all: list[Measurement] = [*(kind(p, name) for kind in KINDS for name in getattr(p, kind.family)),
                                       *([self.fixing] if self.fixing else []),
                                       *([Coupling(p)] if has_coupling(p) else []), Plaquettes(p)]
        before = state or {"seen": {}, "series": {}}
        self.seen = {one.key: int(before["seen"].get(one.key, 0)) for one in self.all}
        self.rows = {one.key: {name: list(before["series"].get(f"{one.key}.{name}", ())) for name in one.quantities()}
                     for one in self.all}

    def __len__(self) -> int:
        """Return the number of configurations."""
        return self.seen[Plaquettes.key]

    @property
    def plaquettes(self) -> np.ndarray:
        """Average plaquette of each configuration."""
        return np.array(self.rows[Plaquettes.key]["plaquette"])

    def state(self) -> dict[str, Any]:
        return {"seen": self.seen, "series": {f"{one.key}.{name}": layout.array(self.rows[one.key][name])
                                              for one in self.all for name, layout in one.quantities().items()}}

    def late(self) -> dict[int, str]:
        """Return {number: table} of configurations that others have seen, and a table needs that has not."""
        return {number: one.key for one in self.all for number in range(self.seen[one.key] + 1, len(self) + 1)
                if number % one.every == 0}

    def measure(self, gauge: GaugeField, number: int) -> None:
        """Measure on the configuration with this number all that has not been measured on it. Collective."""
        if self.kept is None and any(getattr(one.table, "keep", False) for one in self.all[:-1]):
            raise InputError("keep = true needs a run with a folder, in which propagators are kept")
        left = [one for one in self.all if self.seen[one.key] < number]
        due = [one for one in left if number % one.every == 0]
        if due and self.fixing:
            with timed(self.seconds, Fixing.family):
                gauge = self.fixing.fixed(gauge)
        bench = Workbench(gauge, number, (line for one in due for line in one.lines(number)), self.kept)
        for one in left:
            if one in due:
                with timed(self.seconds, one.family):
                    found = one.measure(bench)
                for name, rows in self.rows[one.key].items():
                    rows.append(np.asarray(found[name]))
            self.seen[one.key] = number

    def recorded(self) -> dict[str, Recorded]:
        """Return all series by name."""
        plaquettes, tables = self.all[-1], self.all[:-1]
        return {path: series for one in (plaquettes, *tables)
                for path, series in record(one, self.rows[one.key], self.seen[one.key]).items()}

    def results(self, trajectories: np.ndarray, histories: Sequence[Ranges | Monitors] = ()) -> Results:
        """Return the results, with trajectories [trajectory, (Delta H, accepted)] of the chain, if there are any."""
        found = analyse(self.p, self.recorded() | record_trajectories(trajectories), self.seconds)
        results = Results(**vars(found))
        if self.fixing:
            worst = max(self.rows[Fixing.key]["theta"], default=0.0)
            results.sentences.append(f"{self.p.fixing.gauge} gauge: theta is at most {worst:.2g}")
        for history in histories:
            results.sentences += history.sentences()
            results.recorded |= history.recorded()
        return results


def results_so_far(p: Parameters, state: Mapping[str, Any]) -> Results | None:
    """Return the results at a checkpoint of a chain or of stored configurations, None before the first one."""
    measured = Measurements(p, {}, state)
    if not len(measured):
        return None
    if "names" in state:
        results, wanted = measured.results(np.zeros((0, 2))), len(state["names"])
    else:
        histories = Ranges(p, int(state["sweeps"]), state["ranges"]), Monitors(p, state["monitors"])
        results, wanted = measured.results(state["trajectories"], histories), p.updates.configurations
    if len(measured) < wanted:
        results.sentences.insert(1, f"not finished: {len(measured)} of {wanted} configurations")
    return results

"""Tables of a sweep, a row for each run: ``sweep.csv`` and ``phase_diagram.csv``; ``sweep_points.csv`` by temperature.

``phase_diagram.csv`` has the swept keys, the density, and for each boundary X its temperature X with X_error, X_status
("found", "below", "above" or "not measured") and X_bound, which it is below or above; then the sign. The page and the
digest of the sweep read ``sweep.csv``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.formatting import momentum
from plaq.data.tables import to_csv
from plaq.dca.parameters import Parameters
from plaq.dca.physics import checks
from plaq.dca.physics.instabilities import Instability
from plaq.dca.physics.point import Point
from plaq.dca.physics.response import responses
from plaq.dca.results.boundaries import FIRST, FOUND, NONE, Boundary, boundaries
from plaq.dca.results.file import FORMAT, read_results
from plaq.dca.results.results import Results
from plaq.errors import InputError
from plaq.files.atomic import write_atomically
from plaq.run import table
from plaq.run.table import TABLE, axes

POINTS, PHASES = "sweep_points.csv", "phase_diagram.csv"
DENSITY, MU = "dca.density", "dca.mu"
FIXED = ("tc", "tc_error", "status")  # columns between those of the axes and those of other orders


@dataclass
class Entry:
    """Run of a sweep: name of its folder, values of the axes as texts, status, and its results.

    status : "found", "bound", "not measured", "failed" or "damaged"; results : without two-particle functions, None
    where there are none.
    """

    name: str
    axes: dict[str, str]
    status: str
    results: Results | None = None
    target_density: float | None = None
    orders: list[Instability] = field(default_factory=list)
    boundaries: list[Boundary] = field(default_factory=list)

    @property
    def coldest(self) -> Point | None:
        """The point of the lowest temperature; None without any."""
        return min(self.results.points, key=lambda point: point.T, default=None) if self.results else None

    @property
    def density(self) -> tuple[float, float]:
        """The density that was asked for, else the one measured at the lowest temperature; with its error."""
        if self.target_density is not None:
            return float(self.target_density), 0.0
        measured = self.coldest and self.coldest.observables.get("density")
        return (float(measured.mean), float(measured.error)) if measured is not None else (np.nan, np.nan)


def write(base: Path, runs: Mapping[str, Parameters], outcomes: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the tables, of every run that ended, in the order of the input."""
    values = axes(runs)
    entries = [loaded(base, Entry(name, values[name], outcomes[name]["status"])) for name in runs if name in outcomes]
    with suppress(FileExistsError):
        base.mkdir(parents=True)
    write_atomically(base / TABLE, to_csv((run_row(entry) for entry in entries), ("run",)).encode())
    points = (point_row(entry, point) for entry in entries if entry.results for point in entry.results.points)
    write_atomically(base / POINTS, to_csv(points, ("run",)).encode())
    write_atomically(base / PHASES, to_csv(phase_rows(entries), ("run",)).encode())


def read(base: Path) -> list[Entry]:
    """Return the runs in ``sweep.csv``, with their results. InputError when it is not such a table."""
    return [loaded(base, entry) for entry in listed(base)]


def listed(base: Path) -> list[Entry]:
    """Return the runs in ``sweep.csv``, by name, axes and status."""
    columns, rows = table.read(base)
    if rows and columns[-2:] != list(FIXED[:2]):
        raise InputError(f"{base / TABLE}: not the table of a sweep of plaq dca: it needs the columns "
                         f"{', '.join(FIXED)}")
    return [Entry(row["run"], {key: row[key] for key in columns[:-2]}, row[FIXED[2]]) for row in rows]


def loaded(base: Path, entry: Entry) -> Entry:
    """Return the entry with the results in the run's folder; status "damaged" where they cannot be read."""
    path = base / entry.name / "results.h5"
    if path.exists():
        try:
            entry.results, toml, _ = read_results(path, functions=False)
        except InputError:
            entry.status = "damaged"  # the other runs have a page all the same
            return entry
        entry.target_density = tomllib.loads(toml).get("dca", {}).get("density")
        entry.orders, entry.boundaries = entry.results.instabilities(), boundaries(entry.results)
    return entry


def run_row(entry: Entry) -> dict[str, Any]:
    """Return a row of ``sweep.csv``: the axes, T_c, and every other order's temperature."""
    tc = entry.results.tc if entry.results and entry.status != "failed" else {}
    row = {"run": entry.name, **entry.axes, "tc": tc.get("value"), "tc_error": tc.get("error"),
           "status": entry.status}
    for order in entry.orders:
        if not order.is_pairing:
            name = f"{order.symbol}:{order.label.removeprefix('λ_')}"
            plain = order.plain()
            row |= {name: plain["value"], f"{name}_error": plain["error"], f"{name}_status": plain["status"]}
    if entry.results:
        row |= {"seconds": sum(entry.results.seconds.values()),
                "doubts": "; ".join(entry.results.warnings(entry.target_density))}
    return row


def point_row(entry: Entry, point: Point) -> dict[str, Any]:
    """Return a row of ``sweep_points.csv``: every scalar, and the responses at each momentum."""
    row = {"run": entry.name, **entry.axes, "T": point.T, "beta": point.beta, "mu": point.mu,
           "measurements": point.measurements, "doubts": ", ".join(checks.warnings(point, entry.target_density))}
    values = {name: e for name, e in point.observables.items() if not e.mean.ndim}
    values |= {f"{name}{momentum(r.q)}": e for r in responses(point) for name, e in r.values.items()
               if not name.startswith("lambda_")}
    for name, estimate in values.items():
        row |= {name: estimate.mean.item(), f"{name}_error": estimate.error.item()}
    return row


def symbols(entries: list[Entry]) -> list[str]:
    """Return the symbols of all boundaries, T_c, T_N and T* in front."""
    there = dict.fromkeys(b.symbol for entry in entries for b in entry.boundaries)
    return [*(s for s in FIRST if s in there), *(s for s in there if s not in FIRST)]


def phase_rows(entries: list[Entry]) -> list[dict[str, Any]]:
    """Return the rows of ``phase_diagram.csv``."""
    return [phase_row(entry, symbols(entries)) for entry in entries]


def phase_row(entry: Entry, names: list[str]) -> dict[str, Any]:
    n, error = entry.density
    row = {"run": entry.name, **entry.axes, "density": n, "density_error": error}
    known = {boundary.symbol: boundary for boundary in entry.boundaries}
    for name in names:
        b = known.get(name, Boundary(name, NONE))
        exact = b.status == FOUND
        row |= {name: b.T if exact else None, f"{name}_error": b.error if exact else None,
                f"{name}_status": b.status, f"{name}_bound": None if exact else b.T}
    if entry.coldest is not None and "sign" in entry.coldest:
        sign = entry.coldest["sign"]
        row |= {"sign": sign.mean.item(), "sign_error": sign.error.item(), "sign_T": entry.coldest.T}
    return row


def digests(base: Path, entries: Iterable[Entry]) -> list[str]:
    """Return `plaq.run.table.digests` of the runs."""
    return table.digests(base, [entry.name for entry in entries], FORMAT,
                         {entry.name for entry in entries if entry.status == "damaged"})

"""Results of ``plaq pic`` as CSV, for pandas and spreadsheets. Fields and particles are in openPMD files already."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from plaq.data.recorded import Recorded
from plaq.data.tables import entries, to_csv, write_files
from plaq.pic.results.results import Results

SUMMED = ("emitted", "absorbed", "left_", "emitted_weight", "absorbed_weight")  # histories that count in each step


def histories(results: Results) -> dict[str, Recorded]:
    """Return the records of the whole plasma, a value for each step."""
    return {name: record for name, record in results.recorded.items()
            if not name.startswith(("probe_", "histogram_", "picture_"))}


def final_values(results: Results) -> dict[str, float]:
    """Return the last value of each history, and the sum of those that count what passed in a step."""
    return {name: float(np.sum(record.values) if name.rpartition(".")[2].startswith(SUMMED) else record.values[-1])
            for name, record in histories(results).items()}


def scalars(results: Results) -> list[dict[str, Any]]:
    """Return a row for each of `final_values`, with its unit and formula."""
    return [{"quantity": name, "value": value, "unit": results.recorded[name].unit,
             "convention": results.recorded[name].convention} for name, value in final_values(results).items()]


def by_step(results: Results) -> list[dict[str, Any]]:
    """Return a row for each step: its number, time, and all histories.

    Kinetic energies and momenta are those half a step before (`Recorded.convention`).
    """
    records = histories(results)
    return [{"step": i + 1, "time": time} | {name: record.values[i].item() for name, record in records.items()}
            for i, time in enumerate(results.time.tolist())]


def export(results: Results, out: Path) -> list[Path]:
    """Write scalars, histories, and each probe and histogram as CSV files into the folder ``out``; return the paths."""
    files = {"scalars.csv": to_csv(scalars(results)), "histories.csv": to_csv(by_step(results))}
    files |= {f"{name}.csv": to_csv(entries(record)) for name, record in results.recorded.items()
              if name.startswith(("probe_", "histogram_"))}
    return write_files(out, files)

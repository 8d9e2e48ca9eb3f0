"""Results of a run, in memory or read from its folder: histories, probes, histograms, pictures by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plaq.data import results_file
from plaq.data.recorded import Recorded
from plaq.data.results_file import Findings
from plaq.pic.inputs.table import PROGRAM

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from plaq.data.display import Drawing
    from plaq.pic.results.animation import Animation

FORMAT = results_file.format_of(PROGRAM)
PREFIXES = ("", "probe_", "histogram_", "mean_", "picture_")


class Results(Findings):
    """Results by name: ``results["line"]`` is a record with ``values``, ``axes`` and ``unit``."""

    def __getitem__(self, name: str) -> Recorded:
        """Return a history (``electric_x``, ``electrons.kinetic``), or a probe, histogram or picture of the input.

        KeyError lists all names.
        """
        record = self.find(name)
        if record is None:
            raise KeyError(f"{name}: there are {', '.join(self.recorded)}")
        return record

    def find(self, name: str) -> Recorded | None:
        """Return a record by its name with or without what it begins with, None if there is none."""
        return next((self.recorded[prefix + name] for prefix in PREFIXES if prefix + name in self.recorded), None)

    @property
    def time(self) -> np.ndarray:
        """Times after each step, in 1/ω_p [step]."""
        return times_of(self.recorded)

    @property
    def field_energy(self) -> np.ndarray:
        """Electric and magnetic energy, W m_e c² [step]."""
        return field_energy(self.recorded)

    @property
    def kinetic_energy(self) -> np.ndarray:
        """Kinetic energy of all species at the times of the fields, W m_e c² [step]."""
        return kinetic_energy(self.recorded)

    @property
    def is_closed(self) -> bool:
        """Flag: no particle came in or left."""
        return not any(np.any(column.values) for name, column in self.recorded.items()
                       if name.endswith((".emitted", ".absorbed")) or ".left_" in name)

    def dispersion(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (k [K], ω [W], power [W, K]) of a probe along a periodic line (plaq.pic.diagnostics.spectra)."""
        from plaq.pic.diagnostics.spectra import dispersion

        return dispersion(self[name])

    def to_dataframe(self) -> DataFrame:
        """Return all histories, a row for each step. ImportError without pandas."""
        from plaq.data.tables import dataframe
        from plaq.pic.results.export import by_step

        return dataframe(by_step(self))

    def drawings(self) -> dict[str, Drawing]:
        from plaq.pic.results.drawings import drawings

        return drawings(self)

    def plot(self, name: str = "energy") -> Figure:
        """Return a figure: one of `drawings`, or of any record."""
        from plaq.pic.results.drawings import drawing

        return drawing(self, name).figure()

    def animate(self, name: str) -> Animation:
        """Return a picture of a field or density with a slider over time, which a notebook shows.

        It needs no running notebook. KeyError if there are no pictures of that name.
        """
        from plaq.pic.results.animation import animate

        return animate(self[name])

    def _repr_html_(self) -> str:
        from plaq.pic.results.display import results_html

        return results_html(self)


def read_results(path: Path) -> tuple[Results, str, dict[str, Any]]:
    """Return (results, input as TOML, header). InputError where the file is not of this format."""
    content, toml, header = results_file.read(path, FORMAT)
    return Results(**vars(content)), toml, header


def energy_of(recorded: Mapping[str, Recorded], *fields: str) -> np.ndarray:
    """Return the energy of all components of the fields, "electric" and "magnetic" [step]."""
    return sum(record.values for name, record in recorded.items() if name.rpartition("_")[0] in fields)


def times_of(recorded: Mapping[str, Recorded]) -> np.ndarray:
    """Return the times after each step, in 1/ω_p [step]."""
    return next(record for name, record in recorded.items() if name.rpartition("_")[0] == "electric").axis("time")


def field_energy(recorded: Mapping[str, Recorded]) -> np.ndarray:
    """Return the electric and magnetic energy [step]."""
    return energy_of(recorded, "electric", "magnetic")


def kinetic_energy(recorded: Mapping[str, Recorded]) -> np.ndarray:
    """Return the mean of the kinetic energies half a step before and after; the last one as it is [step].

    Of a history with a row for several steps those half a step before.
    """
    parts = [column for name, column in recorded.items() if name.endswith(".kinetic")]
    times = times_of(recorded)
    total = sum(column.values for column in parts) if parts else np.zeros_like(times)
    if parts and len(times) > 1 and times[1] - times[0] > 3 * (times[0] - parts[0].axis("time")[0]):
        return total
    return np.append((total[1:] + total[:-1]) / 2, total[-1:])

"""The results of a run, in memory or read from its folder: histories, probes, histograms, pictures by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plaq.data import results_file
from plaq.data.recorded import Recorded
from plaq.data.results_file import Findings
from plaq.pic.table import PROGRAM

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT = results_file.format_of(PROGRAM)
KINDS = ("", "probe_", "histogram_", "picture_")


class Results(Findings):
    """``results["line"]`` is what was recorded under that name: ``values``, ``axes``,
    ``unit`` (plaq.data.recorded.Recorded)."""

    def __getitem__(self, name: str) -> Recorded:
        """A history (``electric_x``, ``electrons.kinetic``), or a probe, histogram or picture by the name in the
        input. KeyError lists what there is."""
        for kind in KINDS:
            if kind + name in self.recorded:
                return self.recorded[kind + name]
        raise KeyError(f"{name}: there are {', '.join(self.recorded)}")

    @property
    def time(self) -> np.ndarray:
        """After each step, in 1/ω_p [step]."""
        return self["electric_x"].axis("time")

    @property
    def field_energy(self) -> np.ndarray:
        """Electric and magnetic, W m_e c² [step]."""
        return field_energy(self.recorded)

    @property
    def kinetic_energy(self) -> np.ndarray:
        """Of all species at the times of the fields, W m_e c² [step]."""
        return kinetic_energy(self.recorded)

    @property
    def is_closed(self) -> bool:
        """Whether no particle came in or left."""
        return not any(np.any(one.values) for name, one in self.recorded.items()
                       if name.endswith((".emitted", ".absorbed")) or ".left_" in name)

    def dispersion(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(k [K], ω [W], power [W, K]) of a probe along a periodic line (plaq.pic.spectra)."""
        from plaq.pic.spectra import dispersion

        return dispersion(self[name])

    def plot(self, name: str = "energy") -> Figure:
        """A figure of what was recorded under that name; "energy" and "conservation" are of the whole run."""
        import matplotlib.pyplot as plt

        from plaq.data.figures import Theme, style
        from plaq.pic import figures

        with plt.rc_context(style(Theme())):
            return figures.of(self, name)(Theme())


def read_results(path: Path) -> tuple[Results, str, dict[str, Any]]:
    """(results, input as TOML, header). InputError when it is not such a file."""
    found, toml, header = results_file.read(path, FORMAT)
    return Results(**vars(found)), toml, header


def field_energy(recorded: Mapping[str, Recorded]) -> np.ndarray:
    return sum(recorded[f"{kind}_{d}"].values for kind in ("electric", "magnetic") for d in "xyz")


def kinetic_energy(recorded: Mapping[str, Recorded]) -> np.ndarray:
    """The mean of the values half a step before and behind, the last one as it is."""
    parts = [one.values for name, one in recorded.items() if name.endswith(".kinetic")]
    total = sum(parts) if parts else np.zeros_like(recorded["electric_x"].values)
    return np.append((total[1:] + total[:-1]) / 2, total[-1:])

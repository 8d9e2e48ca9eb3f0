"""Results of a run of ``plaq lqcd``, in memory or read from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from plaq.data import results_file
from plaq.data.results_file import Findings
from plaq.lqcd.parameters import PROGRAM

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from plaq.data.display import Drawing

FORMAT = results_file.format_of(PROGRAM)


class Results(Findings):
    """Results by name: averages with errors as ``results["plaquette"]``, series as ``results.recorded["plaquette"]``.

    A series has a value for each configuration.
    """

    def drawings(self) -> dict[str, Drawing]:
        from plaq.lqcd.measurements.figures import drawings

        return drawings(self)

    def plot(self, name: str | None = None) -> Figure:
        """Return a figure: one of `drawings`, or of an average or a series; by default an overview."""
        from plaq.lqcd.measurements.figures import drawing

        return drawing(self, name).figure()


def read_results(path: Path) -> tuple[Results, str, dict[str, Any]]:
    """Return (results, input as TOML, header). InputError where the file is not of this format."""
    content, toml, header = results_file.read(path, FORMAT)
    return Results(**vars(content)), toml, header

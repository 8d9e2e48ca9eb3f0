"""Results of a run of ``plaq lqcd``, in memory or read from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plaq.data import results_file
from plaq.data.results_file import Findings
from plaq.lqcd.parameters import PROGRAM

FORMAT = results_file.format_of(PROGRAM)


class Results(Findings):
    """Results by name: averages with errors as ``results["plaquette"]``, series as ``results.recorded["plaquette"]``.

    A series has a value for each configuration.
    """


def read_results(path: Path) -> tuple[Results, str, dict[str, Any]]:
    """Return (results, input as TOML, header). InputError where the file is not of this format."""
    content, toml, header = results_file.read(path, FORMAT)
    return Results(**vars(content)), toml, header

"""Stored configurations by the patterns of an input."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from plaq.errors import InputError
from plaq.lqcd.files.gauge_files import check_extents
from plaq.lqcd.files.gauge_formats import head_of
from plaq.run.manifest import natural_order


def find_files(patterns: Sequence[str]) -> list[Path]:
    """Return the files of measure.configurations: those of each pattern in the order of the numbers in their names.

    InputError where a pattern matches nothing, or two of them the same file.
    """
    found: list[Path] = []
    for pattern in patterns:
        paths = sorted((Path(path) for path in glob.glob(pattern)), key=natural_order)
        if not paths:
            raise InputError(f'measure.configurations: "{pattern}" matches no file')
        found += paths
    seen: set[Path] = set()
    for path in found:
        if path in seen:
            raise InputError(f"measure.configurations: {path} is named twice")
        seen.add(path)
    return found


def check_files(patterns: Sequence[str], extents: tuple[int, ...]) -> None:
    """Raise InputError unless the heads of all these files are those of configurations on a lattice of ``extents``."""
    for path in find_files(patterns):
        if (in_file := head_of(path).extents) is not None:
            check_extents(path, extents, in_file)

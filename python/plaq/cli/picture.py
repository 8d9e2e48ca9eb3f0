"""Pictures of inputs: a PNG of one, or a page of all runs of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path

from plaq.data.display import Drawing
from plaq.errors import InputError, RunError
from plaq.files.atomic import cannot_write, write_atomically


def demand_file(path: Path, application: str, runs: int, pictured: bool) -> None:
    """Raise InputError for another ending than .png or .html, no pictures, and several runs in one .png."""
    if not pictured:
        raise InputError(f"--picture: plaq {application} has no pictures of its inputs")
    if path.suffix not in (".png", ".html"):
        raise InputError(f"--picture: {path} does not end in .png or .html")
    if path.suffix == ".png" and runs > 1:
        raise InputError(f"--picture: {path} has place for one run, and the input has {runs}: give an .html file")


def write(path: Path, application: str, drawings: Mapping[str, Drawing]) -> None:
    """Draw inputs, {name of the run: drawing}, into a .png or .html file. RunError if it cannot be written."""
    try:
        if path.suffix == ".png":
            from plaq.data.figures import png

            png(next(iter(drawings.values())).draw, path)
            return
        from plaq.data.page import frame

        parts = [f"<h2>{escape(name)}</h2>" * bool(name) + drawing.html() for name, drawing in drawings.items()]
        write_atomically(path, frame(f"plaq {application}", parts).encode())
    except OSError as error:
        raise RunError(cannot_write(path, error)) from error

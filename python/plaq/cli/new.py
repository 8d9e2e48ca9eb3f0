"""``plaq new``: a first input of an application, with comments, that runs as it is."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from plaq.cli.app import App
from plaq.cli.run import APPLICATIONS, Commands
from plaq.errors import InputError, RunError
from plaq.streams import print_line

INPUT = "input.toml"


def add_new(app: App) -> None:
    """Add ``new`` with a command for each application that has a first input."""
    group = App(help="Write a first input, with comments, that runs as it is in less than a minute.")
    for application in APPLICATIONS.values():
        if application.first_input:
            group.command(application.name, help=f"Write NAME/{INPUT}, and beside it the JSON Schema for editors.")(
                writer(application))
    app.add_typer(group, name="new")


def writer(application: Commands) -> Callable[[Path], None]:
    """Return the command of one application."""

    def new(name: Annotated[Path, typer.Argument(help="Folder to write into.", metavar="NAME")]):
        write(application, name)
        print_line(f"{name / INPUT}: a first input; next:  cd {shlex.quote(str(name))} && "
                   f"plaq {application.name} run {INPUT}")

    return new


def write(application: Commands, folder: Path) -> None:
    """Write both files; InputError if one is there."""
    from plaq.files.atomic import cannot_write, write_atomically
    from plaq.inputs.json_schema import schema_text

    schema = folder / f"{application.name}.schema.json"
    for path in (folder / INPUT, schema):
        if path.exists():
            raise InputError(f"{path}: exists, and plaq new replaces no file; give another NAME")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(cannot_write(folder, error)) from error
    write_atomically(schema, schema_text(application.parameters().SCHEMA, f"plaq {application.name}").encode())
    write_atomically(folder / INPUT, application.first_input.read_bytes())

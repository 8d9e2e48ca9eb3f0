"""The command line. Imports wait until a command needs them, so that ``plaq --help`` is quick."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from plaq.cli.app import App, run_command
from plaq.cli.balance import balance
from plaq.cli.comm import app as comm
from plaq.cli.new import add_new
from plaq.cli.run import APPLICATIONS, Commands, InputFile, PictureFile, RunPath, Settings, application_of
from plaq.cli.trace import app as trace
from plaq.dca.cli import app as dca
from plaq.errors import InputError, as_plaq_error
from plaq.lqcd.cli import app as lqcd
from plaq.pic.cli import app as pic
from plaq.streams import printable, standard_streams

app = App(help="Quantum clusters, plasmas and lattice fields as asynchronous tasks, on a laptop or on MPI ranks.",
          add_completion=True)


def add(application: Commands) -> None:
    APPLICATIONS[application.name] = application
    app.add_typer(application, name=application.name)


for each in (dca, lqcd, pic):
    add(each)
app.command("balance")(balance)
add_new(app)
app.add_typer(comm, name="comm")
app.add_typer(trace, name="trace")


def show_version(value: bool) -> None:
    if value:
        from plaq import __version__
        from plaq.machine import commit

        print(f"plaq {__version__}, commit {commit()}")
        raise typer.Exit


@app.callback()
def plaq(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print version and commit, and end.")
    ] = False,
):
    pass


@app.command("check")
def check(input: InputFile, settings: Settings = None, picture: PictureFile = None):
    """Validate an input of any application; print it in words, and its needs."""
    application_of(input).check(input, settings, picture)


@app.command("verify")
def verify(run: RunPath = Path("run")):
    """Check that the files of a run's folder, or of all runs of a sweep, are undamaged and belong together."""
    from plaq.cli.verify import verify

    verify(run)


@app.command("info")
def info():
    """Print version, commit, optional parts and how to get missing ones, numpy, thread back ends, cores, GPUs."""
    from plaq.machine import build, gpu_libraries
    from plaq.parts import list_parts

    for name, value in (build() | gpu_libraries() | list_parts()).items():
        print(f"{name + ':':<16}{value}")


def main() -> None:
    """Run the command line. An error is one line on stderr; exit code 2 for bad input, 1 for a failed run.

    After a stop by a signal the code is 128 + its number, after the wall-time limit 0. A mistake in plaq itself keeps
    its traceback.
    """
    # Where no home can be written, as on some nodes, matplotlib remarks that its cache of fonts goes elsewhere.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        with standard_streams():
            sys.exit(run_command(app))
    except Exception as error:
        known = as_plaq_error(error)
        if known is not None:
            fail(printable(str(known)), 2 if isinstance(known, InputError) else 1, known.ranks)
        else:
            import traceback

            fail("".join(traceback.format_exception(error)), 1)


def fail(message: str, code: int, ranks: int = 1) -> None:
    """Report an error and end the process; under MPI with the rank, and with all other ranks.

    An error that all ranks raised together, as many as ``ranks``, is reported once, by rank 0.
    """
    comm = sys.modules.get("plaq.comm")
    world = comm and comm.world_if_started()
    together = world is None or world.size == ranks
    if world is None or not together or world.rank == 0:
        place = "" if together else f" on rank {world.rank} of {world.size}"
        print(f"plaq: error{place}: {message}", file=sys.stderr, flush=True)
    if together:
        if comm:
            comm.end_together()
        sys.exit(code)
    world.abort(code)

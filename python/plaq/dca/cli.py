"""``plaq dca``: the commands that every application has, and its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from plaq.cli.run import Commands, Ranks, RunPath, on_ranks
from plaq.inputs.parameters import Parameters
from plaq.run.application import Application
from plaq.streams import print_line


def parameters() -> type[Parameters]:
    from plaq.dca.parameters import Parameters

    return Parameters


def application() -> type[Application]:
    from plaq.dca.application import Dca

    return Dca


app = Commands("dca", "Dynamical cluster approximation: T_c of the 2D Hubbard model.",
               parameters, application, on_devices=True)


@app.command("plot")
def dca_plot(run: RunPath = Path("run")):
    """Draw the figures of a run again."""
    from plaq.dca.results.plot import save_figures

    for path in save_figures(run):
        print_line(str(path))


@app.command("export")
def dca_export(
    run: RunPath = Path("run"),
    out: Annotated[Optional[Path], typer.Option(help="Folder to write to; by default export/ in the run.")] = None,
):
    """Write G and Σ for TRIQS (HDF5) and all results as CSV."""
    from plaq.dca.results.export import export

    for path in export(run, out or run / "export"):
        print_line(str(path))


@app.command("calibrate")
def dca_calibrate(
    file: Annotated[Path, typer.Argument(help="TOML file to write; `plaq dca estimate --machine` reads it.")],
    ranks: Ranks = None,
):
    """Measure this machine's speeds, with -n also those of its MPI."""
    on_ranks(ranks)
    from plaq.comm import world
    from plaq.dca.planning.calibrate import measured_machine
    from plaq.files.atomic import write_atomically

    comm = world()
    machine = measured_machine(comm, file.resolve().parent)
    comm.on_root(lambda: write_atomically(file, machine.to_toml().encode()))
    comm.on_root(lambda: print(machine.to_toml(), end=""))

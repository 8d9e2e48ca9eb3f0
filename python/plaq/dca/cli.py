"""``plaq dca``: the commands that every application has, and its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plaq.cli.run import Commands, Ranks, on_ranks
from plaq.inputs.parameters import Parameters
from plaq.run.application import Application


def parameters() -> type[Parameters]:
    from plaq.dca.parameters import Parameters

    return Parameters


def application() -> type[Application]:
    from plaq.dca.application import Dca

    return Dca


app = Commands("dca", "Dynamical cluster approximation: T_c of the 2D Hubbard model.",
               parameters, application, exported="G and Σ for TRIQS (HDF5) and all results as CSV",
               first_input=Path(__file__).with_name("new.toml"), on_devices=True, pictured=True)


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


@app.command("convert")
def dca_convert(
    input: Annotated[Path, typer.Argument(help="Input of DCA++, a JSON file.")],
    out: Annotated[Path | None, typer.Argument(help="TOML file to write; by default it is printed.")] = None,
):
    """Write an input of DCA++ as one of plaq, with its keys that have no counterpart."""
    from plaq.dca.convert import convert
    from plaq.files.atomic import write_atomically

    text = convert(input)
    if out is None:
        print(text, end="")
    else:
        write_atomically(out, text.encode())

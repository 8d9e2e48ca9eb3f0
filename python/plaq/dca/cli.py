"""``plaq dca``: the commands that every application has, and its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from plaq.cli.run import Commands, Ranks, RunPath, on_ranks
from plaq.inputs.parameters import Parameters
from plaq.run.application import Application


def parameters() -> type[Parameters]:
    from plaq.dca.parameters import Parameters

    return Parameters


def application() -> type[Application]:
    from plaq.dca.application import Dca

    return Dca


app = Commands("dca", "Dynamical cluster approximation: T_c, spectra and response of Hubbard models.",
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


@app.command("spectra")
def dca_spectra(
    run: RunPath = Path("run"),
    temperatures: Annotated[
        Optional[list[float]], typer.Option("-T", "--temperature", help="Temperature, may be repeated; by default all.")
    ] = None,
    method: Annotated[str, typer.Option(help="maxent, stochastic or pade; the others are drawn beside it.")] = "maxent",
    model: Annotated[str, typer.Option(help="Default model of maxent: flat, gaussian or hotter.")] = "flat",
    alpha: Annotated[str, typer.Option(help="Rule of maxent: chi2kink, classic or bryan.")] = "chi2kink",
    periodisation: Annotated[
        str, typer.Option(help="Along the path through the zone: patch, sigma, cumulant or green.")
    ] = "patch",
):
    """Continue G and Σ of a run to real frequencies: A(K,ω), A(k,ω), density of states, Σ(ω).

    Writes spectra.h5, the figures and the report again.
    """
    from plaq.cli.tables import plain_table, print_table
    from plaq.dca.continuation.run_spectra import spectra
    from plaq.dca.continuation.tables import heads, spectrum_rows
    from plaq.streams import print_line

    kind = app.of_run(run)
    found = spectra(run, temperatures=temperatures or (), method=method, model=model, alpha=alpha,
                    periodisation=periodisation)
    columns = heads(found.unit)
    table = plain_table(tuple(columns[:2]), tuple(columns[2:]))
    for row in spectrum_rows(found):
        table.add_row(*row)
    print_table(table)
    for line in found.warnings():
        print_line(f"warning: {line}")
    print_line(str(found.save(run)))
    print_line(str(kind.report(run)))

"""``plaq lqcd``: the commands that every application has, and its own."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Optional

import typer

from plaq.cli.run import Commands, InputFile, Ranks, Settings, run_input
from plaq.inputs.parameters import Parameters
from plaq.run.application import Application


def parameters() -> type[Parameters]:
    from plaq.lqcd.parameters import Parameters

    return Parameters


def application() -> type[Application]:
    from plaq.lqcd.application import Lqcd

    return Lqcd


app = Commands("lqcd", "Lattice QCD: ensembles with and without Wilson quarks in the sea, hadrons, gradient flow.",
               parameters, application, exported="averages with errors, and series of all configurations, as CSV",
               first_input=Path(__file__).with_name("new.toml"))


@app.command("measure")
def measure(
    input: InputFile,
    configurations: Annotated[list[str], typer.Argument(
        help="Files of configurations: ILDG, SciDAC, NERSC, MILC, openQCD, HiRep, HDF5.", show_default=False)],
    ranks: Ranks = None,
    settings: Settings = None,
    workers: Annotated[Optional[str], typer.Option(help="Threads of each rank, or auto.")] = None,
    walltime: Annotated[
        Optional[str], typer.Option(help="Stop with a checkpoint after seconds or HH:MM:SS.")
    ] = None,
    out: Annotated[str, typer.Option(help="Folder for the results.")] = "measured",
):
    """Measure what an input asks for on stored configurations.

    The same command resumes, also with more of them at the end.
    """
    started = time.perf_counter()
    from plaq.inputs.schema import Option

    options = (("--workers", "run.workers", workers), ("--walltime", "run.walltime", walltime),
               ("--out", "run.folder", out))
    run_input(app, input, [f"measure.configurations={json.dumps(configurations, ensure_ascii=False)}",
                           *(settings or []), *(Option(*option) for option in options if option[-1] is not None)],
              ranks, False, None, started)


@app.command("info")
def info(files: Annotated[list[Path], typer.Argument(help="Configurations or propagators.", show_default=False)]):
    """Say what files of configurations or propagators hold, and whether they are whole."""
    from plaq.lqcd.files.info import describe

    for path in files:
        print(describe(path))


@app.command("combine")
def combine(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs, or of measurements.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("combined"),
):
    """Combine several chains of one ensemble: averages with errors of all of them, and whether they agree."""
    from plaq.lqcd.application import Lqcd
    from plaq.lqcd.replicas import combine as combined

    print("\n".join(combined(runs, out).sentences))
    print(f"report: {Lqcd.report(out)}")


@app.command("fix")
def fix(
    configuration: Annotated[Path, typer.Argument(help="File of a configuration.", show_default=False)],
    out: Annotated[Path, typer.Option(help="File for the transformed one, in ILDG's format.", show_default=False)],
    gauge: Annotated[str, typer.Option(help="landau or coulomb.")] = "landau",
    tolerance: Annotated[float, typer.Option(help="Largest theta, as QUDA has it.")] = 1e-12,
    relaxation: Annotated[float, typer.Option(help="Over-relaxation, 1 <= omega < 2.")] = 1.7,
    sweeps: Annotated[int, typer.Option(help="Most sweeps.")] = 10_000,
):
    """Transform a configuration to Landau or Coulomb gauge."""
    from plaq.comm import world
    from plaq.lqcd.gauge_fixing import fix_file

    said = fix_file(configuration, out, gauge, tolerance, relaxation, sweeps)
    if world().rank == 0:
        print(said)

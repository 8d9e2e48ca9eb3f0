"""The command line. Imports wait until a command needs them, so that ``plaq --help`` is quick."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated, Optional

import typer

from plaq.cli_app import App, obey, whole
from plaq.cli_trace import app as trace
from plaq.errors import InputError, Interrupted, as_plaq_error
from plaq.output import printable, say, standard_streams

MOST_RANKS, MOST_WORKERS = 1 << 24, 4096

app = App(help="Quantum clusters as asynchronous tasks, on a laptop or on MPI ranks.")
dca = App(help="Dynamical cluster approximation: T_c of the 2D Hubbard model.")
app.add_typer(dca, name="dca")
comm = App(help="Messages between ranks: what is quickest here, and on other machines.")
app.add_typer(comm, name="comm")
app.add_typer(trace, name="trace")

InputFile = Annotated[
    Path, typer.Argument(help="TOML file; `plaq dca parameters` lists its keys.", show_default=False)
]
RunPath = Annotated[Path, typer.Argument(help="The folder of a run, or of a sweep for report and digest.")]
Settings = Annotated[
    Optional[list[str]],
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the input, as in --set model.U=8."),
]


def show_version(wanted: bool) -> None:
    if wanted:
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


@dca.command("run")
def dca_run(
    input: InputFile,
    ranks: Annotated[
        Optional[int], typer.Option("-n", "--ranks", help="Start this many MPI ranks.", **whole(MOST_RANKS))
    ] = None,
    threads: Annotated[Optional[str], typer.Option(help="Back end of the tasks; `plaq info` lists them.")] = None,
    workers: Annotated[Optional[str], typer.Option(help="Threads of each rank, or auto.")] = None,
    bind: Annotated[Optional[str], typer.Option(help="auto, cores, threads, none, or a list such as 0,2-5.")] = None,
    settings: Settings = None,
    walltime: Annotated[
        Optional[str], typer.Option(help="Stop with a checkpoint after seconds or HH:MM:SS.")
    ] = None,
    out: Annotated[Optional[str], typer.Option(help="Folder for the results.")] = None,
    start: Annotated[
        Optional[Path], typer.Option("--from", metavar="RUN", help="Start from what this other run's folder ended with.")
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Record where the time goes, in trace/ of the results' folder.")
    ] = False,
):
    """Run an input, or all runs of its \\[sweep]. The same command goes on with what was stopped."""
    started = time.perf_counter()
    from plaq.dca import commands, sweep
    from plaq.inputs.schema import Option

    options = (("--threads", "run.threads", threads), ("--workers", "run.workers", workers), ("--bind", "run.bind", bind),
               ("--walltime", "run.walltime", walltime), ("--out", "run.folder", out))
    settings = [*(settings or []), *(Option(*option) for option in options if option[-1] is not None)]

    if ranks is not None and "PLAQ_EXPECTED_RANKS" not in os.environ:
        from plaq.comm.launch import relaunch
        from plaq.machine import memory

        sweep.check_needs(sweep.read(input, settings), ranks, memory())  # the ranks look again, each at its part of it
        sys.exit(relaunch(sys.argv[1:], ranks))
    from plaq.comm import world

    runs = world().on_root(lambda: sweep.read(input, settings), share=True)
    if sweep.is_single(runs):
        parameters = runs[sweep.SINGLE]
        commands.run(parameters, parameters.run.folder, str(input), trace, started, start)
    else:
        sweep.run(runs, str(input), world(), trace, start)


@dca.command("parameters")
def dca_parameters(markdown: Annotated[bool, typer.Option("--markdown", help="As a page of the docs.")] = False):
    """List every key of the input with its default, unit, allowed values and meaning."""
    from plaq.dca.parameters import SCHEMA

    if markdown:
        print(SCHEMA.markdown("Parameters of `plaq dca`"), end="")
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for section, doc in SCHEMA.sections.items():
        table = Table(title=f"[bold]\\[{section}][/]  {doc}", title_justify="left", box=None, padding=(0, 2, 0, 0))
        for column in ("key", "default", "unit", "allowed", "meaning"):
            table.add_column(column, no_wrap=column == "key", style="bold" if column == "key" else None)
        for row in SCHEMA.rows(section):
            table.add_row(*(cell.replace("[", "\\[") for cell in row))
        console.print(table, "")


@dca.command("digest")
def dca_digest(run: RunPath = Path("run")):
    """Print one hash of all results, the same for runs that gave the same bits, and what of a machine bits depend on.
    Of a sweep: a line for each run and one for all."""
    from plaq.dca import commands

    for line in commands.digest(run):
        print(line)


@dca.command("plot")
def dca_plot(run: RunPath = Path("run")):
    """Draw the figures of a run again."""
    from plaq.dca.results.plot import save_figures

    for path in save_figures(run):
        say(str(path))


@dca.command("report")
def dca_report(run: RunPath = Path("run")):
    """Write the figures and report.html of a run or a sweep again."""
    from plaq.dca import commands

    say(str(commands.report(run)))


@dca.command("export")
def dca_export(
    run: RunPath = Path("run"),
    out: Annotated[Optional[Path], typer.Option(help="Folder to write to; by default export/ in the run.")] = None,
):
    """Write G and Σ for TRIQS (HDF5) and all results as CSV."""
    from plaq.dca.results.export import export

    for path in export(run, out or run / "export"):
        say(str(path))


@dca.command("estimate")
def dca_estimate(
    input: InputFile,
    ranks: Annotated[int, typer.Option("-n", "--ranks", help="MPI ranks to think of.", **whole(MOST_RANKS))] = 1,
    workers: Annotated[
        Optional[int], typer.Option(help="Threads of each rank; by default the machine's.", **whole(MOST_WORKERS))
    ] = None,
    machine: Annotated[Optional[Path], typer.Option(help="TOML file with speeds; by default those measured once.")] = None,
    settings: Settings = None,
):
    """Predict time, memory and efficiency on many ranks of a machine."""
    from plaq.dca import sweep
    from plaq.dca.planning.check import forecast
    from plaq.dca.planning.cost import Machine

    speeds = Machine.read(machine) if machine else Machine()
    for name, parameters in sweep.read(input, settings or []).items():
        print(sweep.headline(name) + forecast(parameters, speeds, ranks, workers or speeds.workers))


@dca.command("calibrate")
def dca_calibrate(
    file: Annotated[Path, typer.Argument(help="TOML file to write; `plaq dca estimate --machine` reads it.")],
    ranks: Annotated[
        Optional[int], typer.Option("-n", "--ranks", help="Start this many MPI ranks.", **whole(MOST_RANKS))
    ] = None,
):
    """Measure this machine's speeds, with -n also those of its MPI."""
    if ranks is not None and "PLAQ_EXPECTED_RANKS" not in os.environ:
        from plaq.comm.launch import relaunch

        sys.exit(relaunch(sys.argv[1:], ranks))
    from plaq.comm import world
    from plaq.dca.planning.calibrate import measured_machine
    from plaq.files.atomic import write_atomically

    comm = world()
    found = measured_machine(comm, file.resolve().parent)
    comm.on_root(lambda: write_atomically(file, found.to_toml().encode()))
    comm.on_root(lambda: print(found.to_toml(), end=""))


@comm.command("tune")
def comm_tune(
    ranks: Annotated[str, typer.Option("-n", "--ranks", help="Numbers of ranks, as in 2,4,8.")] = "2,4,8",
    repeats: Annotated[int, typer.Option(help="Calls of each method; the median counts.", **whole(1_000_000))] = 20,
):
    """Measure which algorithm, arity and segment is quickest here; collectives use it from then on."""
    from plaq.comm.tuning import parse_list, tune

    print(tune(parse_list(ranks, "--ranks"), repeats))


@comm.command("simulate")
def comm_simulate(
    operation: Annotated[str, typer.Argument(help="Such as reduce, all_reduce, broadcast, scatter.")] = "reduce",
    machine: Annotated[
        str, typer.Option(help="infiniband, dragonfly, or a TOML file of your own.")
    ] = "infiniband",
    ranks: Annotated[str, typer.Option("-n", "--ranks", help="Numbers of ranks.")] = "16,64,256,1024",
    sizes: Annotated[str, typer.Option("--bytes", help="Bytes of a rank's block.")] = "4,1048576",
    best: Annotated[int, typer.Option(help="Show the best so many of each.", **whole(1000))] = 3,
):
    """Simulate a collective operation on a machine: which algorithm and arity wins where."""
    from plaq.comm.model import MOST_BYTES, MOST_RANKS, compare
    from plaq.comm.model import machine as machine_named
    from plaq.comm.tuning import parse_list

    on = machine_named(machine)
    for nbytes in parse_list(sizes, "--bytes", MOST_BYTES):
        for n in parse_list(ranks, "--ranks", MOST_RANKS):
            found = compare(on, operation, n, nbytes)
            flat = dict(found).get("flat")
            shown = [f"{words} {1e6 * seconds:.4g} us" for words, seconds in found[:best]]
            if flat is not None:
                shown.append(f"flat takes {flat / found[0][1]:.1f} times as long as the best")
            print(f"{operation} of {nbytes} bytes on {n} ranks: " + "; ".join(shown))


@app.command("check")
def check(input: InputFile, settings: Settings = None):
    """Validate an input; print its cluster and what it needs in memory and time."""
    from plaq.dca import sweep
    from plaq.dca.planning.check import describe

    for name, parameters in sweep.read(input, settings or []).items():
        print(sweep.headline(name) + describe(parameters))


@app.command("info")
def info():
    """Print version, commit, instruction set, numpy, MPI, thread back ends, cores, and what traces will see of GPUs."""
    from plaq.machine import build, gpu_libraries

    for name, value in (build() | gpu_libraries()).items():
        print(f"{name + ':':<16}{value}")


def main() -> None:
    """Entry point. An error is one line on stderr, and its kind is the exit code: 2 bad input, 1 a failed run.

    After a stop by a signal the code is 128 + its number, after the wall-time limit 0. A mistake in plaq itself
    keeps its traceback.
    """
    try:
        with standard_streams():
            sys.exit(obey(app))
    except Interrupted as interrupted:
        from plaq.comm import end_together
        from plaq.run.stop import EXIT_CODES

        end_together()
        sys.exit(EXIT_CODES[interrupted.reason])
    except Exception as error:
        known = as_plaq_error(error)
        if known is not None:
            fail(printable(str(known)), 2 if isinstance(known, InputError) else 1, known.ranks)
        else:
            import traceback

            fail("".join(traceback.format_exception(error)), 1)


def fail(message: str, code: int, ranks: int = 1) -> None:
    """Say what went wrong and end the process; under MPI with the rank, and with all other ranks.

    An error that all ranks raised together, as many as ``ranks``, is said once, by rank 0.
    """
    comm = sys.modules.get("plaq.comm")
    world = comm and comm.started()
    together = world is None or world.size == ranks
    if world is None or not together or world.rank == 0:
        place = "" if together else f" on rank {world.rank} of {world.size}"
        print(f"plaq: error{place}: {message}", file=sys.stderr, flush=True)
    if together:
        if comm:
            comm.end_together()
        sys.exit(code)
    world.abort(code)

"""Commands of every application: run, check, estimate, parameters, report, plot, export, digest."""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from plaq.cli.app import App, rank_list, whole
from plaq.errors import InputError
from plaq.inputs.parameters import Parameters
from plaq.run.application import Application
from plaq.streams import print_line

if TYPE_CHECKING:
    from plaq.inputs.schema import Option
    from plaq.trace.session import Recording

APPLICATIONS: dict[str, Commands] = {}  # by name, as the command line has them
MOST_RANKS = 1 << 24
MOST_WORKERS = 4096

InputFile = Annotated[
    Path, typer.Argument(help="TOML file; `parameters` lists its keys.", show_default=False)
]
RunPath = Annotated[Path, typer.Argument(help="The folder of a run, or of a sweep for report and digest.")]
Ranks = Annotated[Optional[int], typer.Option("-n", "--ranks", help="Start this many MPI ranks.",
                                              **whole(MOST_RANKS))]


def keys(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return keys of the command's application that begin so, with their meaning, for the shell's completion.

    Tables such as [species.NAME] have the names of the input, and the name that is typed.
    """
    from plaq.inputs.schema import keys_of, read_toml

    command = APPLICATIONS.get(ctx.parent.info_name)
    if not command:
        return []
    schema = command.parameters().SCHEMA
    try:
        used = keys_of(read_toml(ctx.args[0]), schema) if ctx.args else set()  # --set still lacks its value
    except InputError:  # there is no such file yet, or a part of one
        used = set()
    return [(p.key, p.doc) for p in schema.named(used | {incomplete}) if p.key.startswith(incomplete)]


Settings = Annotated[
    Optional[list[str]],
    typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the input, as in --set model.U=8.",
                 autocompletion=keys),
]


PictureFile = Annotated[
    Optional[Path], typer.Option(help="Draw the input into a .png or .html file: of plaq dca cluster, momenta and "
                                 "bands.")
]


def on_ranks(ranks: int | None) -> None:
    """Start this command on ``ranks`` ranks and end with their exit code.

    Does nothing in these ranks, or if no number was given.
    """
    if ranks is not None and "PLAQ_EXPECTED_RANKS" not in os.environ:
        from plaq.comm.launch import relaunch

        sys.exit(relaunch(sys.argv[1:], ranks))


class Commands(App):
    """Commands of the application ``plaq name``: the common ones, to which it adds its own.

    ``parameters`` imports the class of its inputs, which needs no kernels; ``application`` imports the class that
    `plaq.run` drives (`plaq.run.application`). ``exported`` are what `export` writes, in words, ``first_input`` is
    the file that `plaq new` writes; ``on_devices`` says that parts of it run on GPUs, ``pictured`` that `check` can
    draw its inputs.
    """

    def __init__(self, name: str, help: str, parameters: Callable[[], type[Parameters]],
                 application: Callable[[], type[Application]], exported: str = "all results as CSV",
                 first_input: Path | None = None, on_devices: bool = False, pictured: bool = False):
        super().__init__(help=help)
        self.name = name
        self.parameters = parameters
        self.application = application
        self.exported, self.first_input = exported, first_input
        self.on_devices, self.pictured = on_devices, pictured
        for add in (add_run, add_input_commands, add_result_commands):
            add(self)

    def of_run(self, folder: Path) -> type[Application]:
        """Return the application, to read its run in a folder; InputError where the run is of another one."""
        from plaq.run.folder import need_own

        need_own(folder, f"plaq {self.name}")
        return self.application()

    def check(self, input: Path, settings: list[str] | None, picture: Path | None = None) -> None:
        """Print the description of every run of an input; InputError if this build cannot run it.

        picture : the file to draw the inputs into.
        """
        from plaq.inputs.running import demand_parts
        from plaq.run import sweep

        def words(run: Application) -> str:
            demand_parts(run.parameters.run)
            return run.describe()

        if picture is None:
            self.describe(input, settings, words)
            return
        from plaq.cli.picture import demand_file, write

        kind = self.application()
        runs = sweep.read(kind, input, settings or [])
        demand_file(picture, self.name, len(runs), self.pictured)
        self.describe(input, settings, words)
        write(picture, self.name, {name: kind(parameters).drawing() for name, parameters in runs.items()})
        print_line(str(picture))

    def describe(self, input: Path, settings: list[str] | None, words: Callable[[Application], str]) -> None:
        """Print a text on every run of an input."""
        from plaq.errors import errors_of
        from plaq.run import sweep

        kind = self.application()
        for name, parameters in sweep.read(kind, input, settings or []).items():
            with errors_of(str(input)):
                print(sweep.headline(name) + words(kind(parameters)))


def run_input(app: Commands, input: Path, settings: Sequence[str | Option], ranks: int | None, trace: bool | Recording,
              start: Path | None, started: float) -> None:
    """Carry out all runs of an input, on ``ranks`` ranks that are started, or in this process."""
    from plaq.run import driver, sweep

    kind = app.application()
    if ranks is not None and "PLAQ_EXPECTED_RANKS" not in os.environ:
        from plaq.machine import memory

        # The ranks check again, each its part of it.
        sweep.check_needs(kind, sweep.read(kind, input, settings), ranks, memory(), str(input))
    on_ranks(ranks)
    from plaq.comm import world

    runs = world().on_root(lambda: sweep.read(kind, input, settings), share=True)
    if sweep.is_single(runs):
        parameters = runs[sweep.SINGLE]
        driver.run_in_world(kind, parameters, parameters.run.folder, str(input), trace, started, start)
    else:
        sweep.run(kind, runs, str(input), world(), trace, start)


def recording_of(trace: bool, counters: str | None, ranks: str | None) -> bool | Recording:
    """Return what to record, False for nothing; InputError for a choice without --trace."""
    from plaq.trace.session import Recording

    for option, value in (("--trace-counters", counters), ("--trace-ranks", ranks)):
        if value is not None and not trace:
            raise InputError(f"{option}: is an option of --trace, which is missing")
    if not trace:
        return False
    names = tuple(name.strip() for name in counters.split(",")) if counters is not None else ()
    return Recording(names, None if ranks is None else tuple(rank_list(ranks, "--trace-ranks")))


def without(command: Callable, option: str) -> None:
    """Hide an option of a command that its application lacks."""
    signature = inspect.signature(command, eval_str=True)
    others = [parameter for name, parameter in signature.parameters.items() if name != option]
    command.__signature__ = signature.replace(parameters=others)


def add_run(app: Commands) -> None:
    def run(
        input: InputFile,
        ranks: Ranks = None,
        threads: Annotated[Optional[str], typer.Option(help="Back end of the tasks; `plaq info` lists them.")] = None,
        workers: Annotated[Optional[str], typer.Option(help="Threads of each rank, or auto.")] = None,
        bind: Annotated[
            Optional[str], typer.Option(help="auto, cores, threads, none, or a list such as 0,2-5.")
        ] = None,
        device: Annotated[
            Optional[str],
            typer.Option(help="Where chains walk and are measured: none, auto or GPUs as 0,1. Experimental."),
        ] = None,
        settings: Settings = None,
        walltime: Annotated[
            Optional[str], typer.Option(help="Stop with a checkpoint after seconds or HH:MM:SS.")
        ] = None,
        out: Annotated[Optional[str], typer.Option(help="Folder for the results.")] = None,
        start: Annotated[
            Optional[Path],
            typer.Option("--from", metavar="RUN", help="Start from the end of another run, in this folder."),
        ] = None,
        trace: Annotated[
            bool, typer.Option("--trace", help="Record where the time goes, in trace/ of the results' folder.")
        ] = False,
        counters: Annotated[
            Optional[str],
            typer.Option("--trace-counters", help="Also count, by task and region: at most four of instructions, "
                                                  "cycles, cache misses, branch misses, processor time, page faults."),
        ] = None,
        recorded: Annotated[
            Optional[str], typer.Option("--trace-ranks", help="Record these ranks only, such as 0,5-8.")
        ] = None,
    ):
        r"""Run an input, or all runs of its \[sweep]. The same command resumes a stopped run."""
        started = time.perf_counter()
        from plaq.inputs.schema import Option

        options = (("--threads", "run.threads", threads), ("--workers", "run.workers", workers),
                   ("--bind", "run.bind", bind), ("--device", "run.device", device),
                   ("--walltime", "run.walltime", walltime), ("--out", "run.folder", out))
        settings = [*(settings or []), *(Option(*option) for option in options if option[-1] is not None)]

        run_input(app, input, settings, ranks, recording_of(trace, counters, recorded), start, started)

    if not app.on_devices:
        without(run, "device")
    app.command("run")(run)


def add_input_commands(app: Commands) -> None:
    def check(input: InputFile, settings: Settings = None, picture: PictureFile = None):
        """Validate an input; print it in words, and its needs."""
        app.check(input, settings, picture)

    if not app.pictured:
        without(check, "picture")
    app.command("check")(check)

    @app.command("estimate")
    def estimate(
        input: InputFile,
        ranks: Annotated[int, typer.Option("-n", "--ranks", help="MPI ranks to assume.", **whole(MOST_RANKS))] = 1,
        workers: Annotated[
            Optional[int], typer.Option(help="Threads of each rank; by default the machine's.", **whole(MOST_WORKERS))
        ] = None,
        machine: Annotated[
            Optional[Path], typer.Option(help="TOML file with speeds; by default those measured once.")
        ] = None,
        settings: Settings = None,
    ):
        """Predict time, memory and efficiency on many ranks of a machine."""
        app.describe(input, settings, lambda run: run.estimate(ranks, workers, machine))

    @app.command("parameters")
    def parameters(
        markdown: Annotated[bool, typer.Option("--markdown", help="As a page of the docs.")] = False,
        as_schema: Annotated[bool, typer.Option("--schema", help="As a JSON Schema, for editors.")] = False,
    ):
        """List every key of the input with its default, unit, allowed values and meaning."""
        schema = app.parameters().SCHEMA
        if as_schema:
            from plaq.inputs.json_schema import schema_text

            print(schema_text(schema, f"plaq {app.name}"), end="")
            return
        if markdown:
            print(schema.markdown(f"Parameters of `plaq {app.name}`"), end="")
            return
        from rich.console import Console
        from rich.table import Table

        console = Console()
        for section, doc in schema.sections.items():
            table = Table(title=f"[bold]\\[{section}][/]  {doc}", title_justify="left", box=None,
                          padding=(0, 2, 0, 0))
            for column in ("key", "default", "unit", "allowed", "meaning"):
                table.add_column(column, no_wrap=column == "key", style="bold" if column == "key" else None)
            for row in schema.rows(section):
                table.add_row(*(cell.replace("[", "\\[") for cell in row))
            console.print(table, "")


def add_result_commands(app: Commands) -> None:
    @app.command("digest")
    def digest(run: RunPath = Path("run")):
        """Print one hash of all results, the same for runs that gave the same bits.

        With it the properties of the machine that bits depend on. Of a sweep: a line for each run and one for all.
        """
        for line in app.of_run(run).digest(run):
            print(line)

    @app.command("report")
    def report(run: RunPath = Path("run")):
        """Write the figures and report.html of a run or a sweep again."""
        print_line(str(app.of_run(run).page(run)))

    @app.command("plot")
    def plot(run: RunPath = Path("run")):
        """Draw the figures of a run again, as PNG."""
        for path in app.of_run(run).plot(run):
            print_line(str(path))

    @app.command("export", help=f"Write {app.exported}.")
    def export(
        run: RunPath = Path("run"),
        out: Annotated[Optional[Path], typer.Option(help="Folder to write to; by default export/ in the run.")] = None,
    ):
        for path in app.of_run(run).export(run, out or run / "export"):
            print_line(str(path))


def application_of(input: Path) -> Commands:
    """Return the application of an input: the one with the fewest keys that are unknown or missing.

    InputError if that is not unique.
    """
    from plaq.inputs.schema import read_toml

    table = read_toml(input)
    misfits = {name: commands.parameters().SCHEMA.misfits(table) for name, commands in APPLICATIONS.items()}
    first, *others = (name for name in APPLICATIONS if misfits[name] == min(misfits.values()))
    if others:
        raise InputError(f"{input}: may be an input of {' or '.join([first, *others])}; name the application, as in "
                         f"`plaq {first} check`")
    return APPLICATIONS[first]

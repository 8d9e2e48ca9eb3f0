"""``plaq trace``: views of a trace, on the terminal and as files for other tools."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import typer

from plaq.cli.app import App, rank_list, whole
from plaq.cli.tables import plain_table, print_table
from plaq.streams import print_line

if TYPE_CHECKING:
    from plaq.trace import Trace

app = App(help="Times of a traced run: where every second was spent.")


def newest_of(folder: Path) -> Path:
    """Return the newest trace of a run, whose folder or folder of traces this is; any other is taken for a trace."""
    from plaq.trace.session import recorded

    traces = [trace for place in (folder / "trace", folder) for trace in recorded(place) if trace[1].is_dir()]
    return max(traces)[1] if traces else folder


def output_option(help: str) -> Any:
    """Return the type of an option for the path to write to."""
    return Annotated[Optional[Path], typer.Option("-o", "--out", help=help)]


TraceFolder = Annotated[
    Path,
    typer.Argument(help="The folder of a trace; or of a run or its traces, for the newest.", show_default=False,
                   callback=newest_of),
]
TraceRanks = Annotated[Optional[str], typer.Option("--ranks", help="Only these ranks, such as 0,5-8.")]
TreeFile = output_option("Write it to this file for Graphviz.")
GraphFile = output_option("File to write; by default graph.dot in the folder.")
ReportFile = output_option("File to write; by default report.html in the folder.")
ChromeFile = output_option("File to write, compressed if it ends in .gz; by default chrome.json.gz there.")
ArchiveFolder = output_option("New folder for the archive; by default otf2/ in the folder.")
TOP = 10  # names that the profile shows by default


def read_trace(folder: Path, ranks: str | None = None) -> Trace:
    """Return the trace of all ranks or of these, after a line on stderr for each of its notes."""
    from plaq.files.guard import reading
    from plaq.trace import read

    with reading(folder, "a trace"):
        trace = read(folder, chosen(ranks))
    print_notes(trace.notes)
    return trace


def chosen(ranks: str | None) -> list[int] | None:
    return None if ranks is None else rank_list(ranks, "--ranks")


def print_notes(notes: list[str]) -> None:
    for note in notes:
        print(f"plaq: note: {note}", file=sys.stderr)


def export(folder: Path, ranks: str | None, out: Path, write: Callable[[Trace, Path], None], entry: str = "") -> None:
    """Read the trace, write it to ``out``, and print the path of the file, or of the ``entry`` of the archive."""
    write(read_trace(folder, ranks), out)
    print_line(str(out / entry))


def write_text(path: Path, text: str) -> None:
    from plaq.files.atomic import write_atomically

    write_atomically(path, text.encode())


@app.command("profile")
def trace_profile(
    folder: TraceFolder,
    ranks: TraceRanks = None,
    all_names: Annotated[bool, typer.Option("--all", help=f"All names, not only the first {TOP}.")] = False,
    csv: Annotated[Optional[Path], typer.Option(help="Write all names to this file too, times in s.")] = None,
):
    """List calls and times of every task and region, by exclusive time."""
    from plaq.files.guard import reading
    from plaq.trace import read_by_rank
    from plaq.trace.profile import as_csv, profile_by_rank, time_text
    from plaq.trace.report_tables import number

    with reading(folder, "a trace"):
        rows, use, notes = profile_by_rank(read_by_rank(folder, chosen(ranks)))
    print_notes(notes)
    if csv:
        write_text(csv, as_csv(rows, notes))
    shown = rows if all_names else rows[:TOP]
    columns = ("calls", "inclusive", "exclusive", "mean", "min", "max", "stddev", "suspended", "share")
    columns += tuple(rows[0].counts if rows else ())
    table = plain_table(("name", "kind"), columns)
    for row in shown:
        times = (row.inclusive, row.exclusive, row.mean, row.min, row.max, row.stddev, row.suspended)
        table.add_row(row.name, row.kind, str(row.calls), *map(time_text, times),
                      "–" if row.kind == "waiting" else f"{100 * row.share:.1f} %",
                      *map(number, row.counts.values()))
    print_table(table)
    more = f" {len(rows) - len(shown)} more names: --all." if len(shown) < len(rows) else ""
    print(f"\n{use}.{more}")


@app.command("tree")
def trace_tree(folder: TraceFolder, ranks: TraceRanks = None, out: TreeFile = None):
    """Show the tree of tasks and the tasks that they created, by name, with their times."""
    from plaq.trace.profile import time_text
    from plaq.trace.tree import as_dot, as_lines, task_tree

    if out:
        export(folder, ranks, out, lambda trace, path: write_text(path, as_dot(task_tree(trace), trace.notes)))
        return
    table = plain_table(("task",), ("tasks", "time", "with descendants"))
    for text, node in as_lines(task_tree(read_trace(folder, ranks))):
        table.add_row(text, str(node.calls), time_text(node.seconds), time_text(node.subtree))
    print_table(table)


@app.command("graph")
def trace_graph(
    folder: TraceFolder,
    ranks: TraceRanks = None,
    out: GraphFile = None,
    by: Annotated[
        Literal["name", "task"], typer.Option(help="A node for every name, or for every task.")
    ] = "name",
    limit: Annotated[int, typer.Option(help="Most tasks in a graph by task.", **whole(1_000_000))] = 500,
):
    """Write the graph of creation and of used results, for Graphviz: dot -Tsvg graph.dot > graph.svg."""
    from plaq.trace.graph import graph_by_name, graph_by_task

    graph = graph_by_name if by == "name" else lambda trace: graph_by_task(trace, limit)
    export(folder, ranks, out or folder / "graph.dot", lambda trace, path: write_text(path, graph(trace)))


@app.command("report")
def trace_report(folder: TraceFolder, ranks: TraceRanks = None, out: ReportFile = None):
    """Write a page with the timeline, counters and tables: one file that any browser opens, without a network."""
    from plaq.trace.report import write_report

    export(folder, ranks, out or folder / "report.html", write_report)


@app.command("chrome")
def trace_chrome(folder: TraceFolder, ranks: TraceRanks = None, out: ChromeFile = None):
    """Write the timeline for ui.perfetto.dev or chrome://tracing."""
    from plaq.files.guard import reading
    from plaq.trace import read_by_rank, start_of
    from plaq.trace.chrome import write_chrome

    notes: list[str] = []

    def noted(traces: Iterator[Trace]) -> Iterator[Trace]:
        for trace in traces:
            notes.extend(trace.notes)
            yield trace

    out = out or folder / "chrome.json.gz"
    with reading(folder, "a trace"):
        since = start_of(folder, chosen(ranks))
        write_chrome(noted(read_by_rank(folder, chosen(ranks), since)), out)
    print_notes(notes)
    print_line(str(out))


@app.command("otf2")
def trace_otf2(folder: TraceFolder, ranks: TraceRanks = None, out: ArchiveFolder = None):
    """Write the timeline as an OTF2 archive, for Vampir and others."""
    from plaq.trace.otf2 import write_otf2

    export(folder, ranks, out or folder / "otf2", write_otf2, "traces.otf2")

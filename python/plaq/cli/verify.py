"""``plaq verify``: check that the files of a run's folder are undamaged."""

from __future__ import annotations

import sys
from pathlib import Path

from plaq.cli.run import APPLICATIONS, application_of
from plaq.streams import printable


def verify(folder: Path) -> None:
    """Print the verdict on every file, with a line on stderr for each damaged one; exit code 2 if there is one."""
    from plaq.cli.tables import plain_table, print_table
    from plaq.data.formatting import format_size
    from plaq.run.folder import INPUT, program_of
    from plaq.run.verify import runs_of, shared_lock
    from plaq.run.verify import verify as verify_run

    verdicts = []
    for run in runs_of(folder):
        program = program_of(run)
        named = (commands for name, commands in APPLICATIONS.items() if program == f"plaq {name}")
        commands = next(named, None) or application_of(run / INPUT)
        with shared_lock(run):
            verdicts += verify_run(commands.application(), run)
    table = plain_table(("file", "content"), ("size",))
    table.add_column("", no_wrap=True)
    for verdict in verdicts:
        size = "–" if verdict.bytes is None else format_size(verdict.bytes)
        table.add_row(printable(str(verdict.path)), verdict.purpose, size,
                      "not whole" if verdict.wrong else "" if verdict.bytes is None else "whole")
    print_table(table)
    wrong = [verdict for verdict in verdicts if verdict.wrong]
    for verdict in wrong:
        print(f"plaq: error: {printable(verdict.wrong)}", file=sys.stderr)
    if wrong:
        sys.exit(2)
    print(f"\n{printable(str(folder))} is intact: {len(verdicts)} files")

"""``plaq verify``: whether a run's folder is whole."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from plaq.cli.run import Commands, whose
from plaq.streams import printable


def verify(known: Mapping[str, Commands], folder: Path) -> None:
    """Print what was looked at; a line on stderr for each file that is not whole, and exit code 2 then."""
    from plaq.cli.tables import plain_table, print_table
    from plaq.data.formatting import format_size
    from plaq.run.folder import INPUT, program_of
    from plaq.run.verify import left_alone, runs_of
    from plaq.run.verify import verify as verdicts

    found = []
    for run in runs_of(folder):
        named = program_of(run)
        commands = next((c for name, c in known.items() if named == f"plaq {name}"), None) or whose(run / INPUT, known)
        with left_alone(run):
            found += verdicts(commands.application(), run)
    table = plain_table(("file", "what it is"), ("size",))
    table.add_column("", no_wrap=True)
    for one in found:
        table.add_row(printable(str(one.path)), one.what, "–" if one.bytes is None else format_size(one.bytes),
                      "not whole" if one.wrong else "" if one.bytes is None else "whole")
    print_table(table)
    wrong = [one for one in found if one.wrong]
    for one in wrong:
        print(f"plaq: error: {printable(one.wrong)}", file=sys.stderr)
    if wrong:
        sys.exit(2)
    print(f"\n{printable(str(folder))} is whole: {len(found)} files")

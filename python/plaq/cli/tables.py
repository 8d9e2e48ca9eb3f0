"""Tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def plain_table(texts: tuple[str, ...], numbers: tuple[str, ...]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in texts:
        table.add_column(column, no_wrap=True)
    for column in numbers:
        table.add_column(column, no_wrap=True, justify="right")
    return table


def print_table(table: Table) -> None:
    """Print a table at its full width, since truncated numbers mislead."""
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(markup=False, highlight=False)
    console.width = max(
        console.width, Measurement.get(console, console.options.update(max_width=1000), table).maximum
    )
    console.print(table)

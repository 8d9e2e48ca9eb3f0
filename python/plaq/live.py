"""What a run shows while it goes on: a live view on a terminal, plain lines elsewhere, the same lines in
``log.txt``."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from plaq.errors import RunError
from plaq.files import cannot_write
from plaq.launch import stdout_is_terminal
from plaq.output import forgive, say


class Log:
    """Lines for the user: appended to ``log.txt`` with the time of day, and printed."""

    def __init__(self, path: Path, out: TextIO | None = None):
        self._path = path
        self._out = out or sys.stdout
        try:
            self._file = open(path, "ab", buffering=0)
        except OSError as error:
            raise RunError(cannot_write(path, error)) from error

    def line(self, text: str = "") -> None:
        self.record(text)
        self.show(text)

    def record(self, text: str) -> None:
        """A line for the file only. RunError when it cannot be written."""
        try:
            if os.fstat(self._file.fileno()).st_nlink == 0:
                raise RunError(f"{self._path}: was removed while it was written")
            self._file.write((f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {text}\n" if text else "\n").encode())
        except OSError as error:
            raise RunError(cannot_write(self._path, error)) from error

    def show(self, text: str) -> None:
        say(text, self._out)

    def status(self, title: str, rows: list[tuple[str, str]], done: float) -> None:
        """The present state of the run; plain output leaves it out, since lines already tell the story."""

    def close(self) -> None:
        self._file.close()


class LiveLog(Log):
    """A `Log` on a terminal: lines scroll above a panel with the present state and a bar of the progress."""

    def __init__(self, path: Path):
        from rich.console import Console
        from rich.live import Live

        super().__init__(path)
        self._console = Console(force_terminal=True)
        self._live = Live(console=self._console, refresh_per_second=4, transient=True)
        self._live.start()

    def show(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False)

    def status(self, title: str, rows: list[tuple[str, str]], done: float) -> None:
        from rich.console import Group
        from rich.panel import Panel
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        grid = Table.grid(padding=(0, 3))
        for _ in range(4):
            grid.add_column(justify="left", min_width=14)
        for start in range(0, len(rows), 4):
            part = rows[start : start + 4]
            grid.add_row(*(f"[dim]{name}[/]" for name, _ in part))
            grid.add_row(*(f"[bold]{value}[/]" for _, value in part))
        bar = ProgressBar(total=1.0, completed=done)
        width = self._console.width - 3  # the terminal's echo of Ctrl-C, "^C", must not wrap below the panel
        self._live.update(
            Panel(Group(grid, "", bar), title=title, title_align="left", border_style="dim", width=width))

    def close(self) -> None:
        self._live.stop()
        forgive(sys.stdout)
        super().close()


def open_log(path: Path) -> Log:
    """A live view when the output is a terminal, plain lines when it is not."""
    return LiveLog(path) if stdout_is_terminal() else Log(path)


def duration(seconds: float | None) -> str:
    """``42 s``, ``3 min 20 s``, ``2 h 05 min``."""
    if seconds is None:
        return "–"
    whole = int(round(seconds))
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def size(count: float) -> str:
    """Bytes in a readable unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def number(value: Any, form: str = ".4g") -> str:
    """A number in a short form, – for what is not known."""
    return "–" if value is None or value != value else format(value, form)

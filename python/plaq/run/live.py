"""Progress of a run: a live view on a terminal, plain lines elsewhere, the same lines in ``log.txt``."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from plaq.comm.launch import stdout_is_terminal, terminal_size
from plaq.errors import RunError
from plaq.files.atomic import cannot_write
from plaq.streams import forget_lost, print_line

if TYPE_CHECKING:
    from rich.text import Text

CHECK_PERIOD = 0.25  # seconds between two checks of the terminal's size


class Log:
    """Lines for the user: appended to ``log.txt`` with the time of day, and printed."""

    def __init__(self, path: Path, out: TextIO | None = None):
        self._path = path
        self._out = out or sys.stdout
        try:
            if path.exists() and not path.is_file():
                raise RunError(f"{path}: cannot be written: it is not a regular file")
            self._file = open(path, "ab", buffering=0)
        except OSError as error:
            raise RunError(cannot_write(path, error)) from error

    def line(self, text: str = "", narrow: str | None = None) -> None:
        """Record and show a line; ``narrow`` is shown instead where a terminal is too narrow for it."""
        self.record(text)
        self.show(text, narrow)

    def record(self, text: str) -> None:
        """Write a line to the file only. RunError when it cannot be written."""
        try:
            if os.fstat(self._file.fileno()).st_nlink == 0:
                raise RunError(f"{self._path}: was removed while it was written")
            self._file.write((f"{time.strftime('%Y-%m-%d %H:%M:%S')}  {text}\n" if text else "\n").encode())
        except OSError as error:
            raise RunError(cannot_write(self._path, error)) from error

    def show(self, text: str, narrow: str | None = None) -> None:
        print_line(text, self._out)

    def status(self, title: str, rows: list[tuple[str, str]], done: float) -> None:
        """Show the present state of the run; plain output leaves it out, since its lines report progress."""

    def close(self) -> None:
        self._file.close()


class SilentLog(Log):
    """A `Log` of which nothing is printed."""

    def show(self, text: str, narrow: str | None = None) -> None:
        """Print nothing."""


class LiveLog(Log):
    """A `Log` on a terminal: lines scroll above a panel with the present state and a progress bar.

    The panel is as wide as the terminal is when it is drawn, and is drawn again when that changes.
    """

    def __init__(self, path: Path):
        from rich.console import Console

        super().__init__(path)
        self._console = Console(force_terminal=True)
        self._state: tuple[str, list[tuple[str, str]], float] | None = None
        self._drawn: list[int] = []  # widths of the lines of the panel that the terminal shows
        self._size = (0, 0)
        self._lock = threading.Lock()
        self._closed = threading.Event()
        threading.Thread(target=self._follow_size, name="plaq live view", daemon=True).start()

    def show(self, text: str, narrow: str | None = None) -> None:
        with self._lock:
            size = self._fit()
            fitting = narrow if narrow is not None and len(text) >= size[0] else text
            self._draw(lambda: self._console.print(fitting, markup=False, highlight=False))

    def status(self, title: str, rows: list[tuple[str, str]], done: float) -> None:
        with self._lock:
            self._state = title, rows, done
            self._fit()
            self._draw()

    def close(self) -> None:
        self._closed.set()
        with self._lock:
            self._state = None
            self._fit()
            self._draw()
        forget_lost(sys.stdout)
        super().close()

    def _follow_size(self) -> None:
        while not self._closed.wait(CHECK_PERIOD):
            with self._lock:
                if self._state and terminal_size() != self._size:
                    self._fit()
                    self._draw()

    def _fit(self) -> tuple[int, int]:
        """Take the terminal's size now; what is drawn is wrapped by a narrower one."""
        size = terminal_size()
        if size != self._size:
            self._size = self._console.size = size
        return size

    def _draw(self, above: Callable[[], None] = lambda: None) -> None:
        """Replace the panel by the output of ``above`` and draw it again below, in one write against flicker."""
        columns, height = self._size
        rows = sum(max(1, -(-width // columns)) for width in self._drawn)
        with self._console.capture() as captured:
            above()
            panel = self._panel(columns - 1, height - 2)
            for line in panel:
                self._console.print(line, end="\n", soft_wrap=True)
        self._drawn = [line.cell_len for line in panel]
        over = f"\x1b[{rows}F" if rows else ""  # line by line, for a screen that is cleared goes into the history
        print_line(over + captured.get().replace("\n", "\x1b[K\n") + "\x1b[J", end="")

    def _panel(self, width: int, height: int) -> list[Text]:
        """Return the lines of the panel; where it does not fit, its title and a percentage alone."""
        from rich.console import Group
        from rich.panel import Panel
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        if self._state is None:
            return []
        title, rows, done = self._state
        cells = max(max(map(len, row)) for row in rows)
        count = min(len(rows), max(1, (width - 4 + 2) // (cells + 2)))
        grid = Table.grid(padding=(0, 2))
        for _ in range(count):
            grid.add_column(justify="left", min_width=cells, no_wrap=True)
        for start in range(0, len(rows), count):
            part = rows[start : start + count]
            grid.add_row(*(Text(name, "dim") for name, _ in part))
            grid.add_row(*(Text(value, "bold") for _, value in part))
        bar = ProgressBar(total=1.0, completed=done)
        panel = Panel(Group(grid, "", bar), title=Text(title), title_align="left", border_style="dim", width=width)
        lines = self._console.render_lines(panel, self._console.options.update(width=width), pad=False)
        if len(lines) > height or cells > width - 4:
            return [Text(f"{title}: {100 * done:.0f} %"[:width], "bold")]
        return [Text.assemble(*((part.text, part.style or "") for part in line)) for line in lines]


def open_log(path: Path) -> Log:
    """Return a live view when the output is a terminal, plain lines when it is not."""
    return LiveLog(path) if stdout_is_terminal() else Log(path)

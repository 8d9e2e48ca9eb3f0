"""Progress of a run that keeps no folder: a bar on a terminal or in a notebook, or a function of the caller."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from plaq.comm.launch import stdout_is_terminal
from plaq.data.formatting import format_duration
from plaq.errors import InputError

Tell = Callable[[float, str], Any]  # takes the part that is done, in [0, 1], and what is being done
CELLS = 24  # of a bar in a notebook, em


@contextmanager
def watching(progress: Any, root: bool, has_folder: bool) -> Iterator[Tell | None]:
    """Provide a function that shows the progress of a run; None on ranks other than the root, and for silence.

    ``progress`` is such a function, False, or None for a bar where there is no folder. A bar needs a terminal or a
    notebook. InputError for anything else.
    """
    if progress is not None and progress is not False and not callable(progress):
        raise InputError(f"progress = {progress!r} is not allowed: it must be None, False, or a function of the part "
                         "that is done and a text")
    if not root or progress is False:
        yield None
    elif callable(progress):
        yield progress
    elif has_folder or not (kind := bar_here()):
        yield None
    else:
        bar = kind()
        try:
            yield bar.tell
        finally:
            bar.close()


def bar_here() -> type[TerminalBar] | type[NotebookBar] | None:
    """Return the bar for standard output, None where it is a file or a pipe."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell is not None and hasattr(shell, "kernel"):
        return NotebookBar
    return TerminalBar if stdout_is_terminal() else None


def time_left(started: float, done: float) -> str:
    """Return the time left in words, from the time since ``started``; the whole time at the end."""
    spent = time.monotonic() - started
    if done >= 1:
        return format_duration(spent)
    return f"{format_duration(spent * (1 - done) / done)} left" if done > 0 else ""


class TerminalBar:
    """Bar in one line of a terminal, as wide as that."""

    def __init__(self):
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
        from rich.table import Column

        words = TextColumn("{task.description}", table_column=Column(ratio=3, no_wrap=True, overflow="ellipsis"))
        left = TextColumn("{task.fields[left]}", table_column=Column(no_wrap=True, min_width=13))
        self._progress = Progress(words, BarColumn(None, table_column=Column(ratio=2)), TaskProgressColumn(), left,
                                  auto_refresh=False, expand=True)
        self._task = self._progress.add_task("", total=1.0, left="")
        self._started = time.monotonic()
        self._progress.start()

    def tell(self, done: float, text: str) -> None:
        self._progress.update(self._task, completed=done, description=text, left=time_left(self._started, done),
                              refresh=True)

    def close(self) -> None:
        self._progress.stop()


class NotebookBar:
    """Bar below a cell of a notebook; a saved one keeps its last state."""

    def __init__(self):
        from IPython.display import display

        self._started = time.monotonic()
        self._shown = display(self._html(0.0, ""), display_id=True)

    def tell(self, done: float, text: str) -> None:
        self._shown.update(self._html(done, text))

    def close(self) -> None:
        """Leave the last state."""

    def _html(self, done: float, text: str) -> Any:
        from IPython.display import HTML

        bar = f'<progress max="1" value="{done:.4f}" style="width:{CELLS}em;vertical-align:middle"></progress>'
        return HTML(f"<div>{bar} {100 * done:.0f} % &ensp;{escape(text)} &ensp;{time_left(self._started, done)}</div>")

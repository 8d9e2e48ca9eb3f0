"""Tuning table of collectives: measured once on a machine, read by the C++ library from then on.

As a program, on ranks, this file measures and writes the rows of its number of ranks.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from plaq import _core
from plaq.errors import InputError, RunError
from plaq.files.atomic import cannot_write, write_atomically
from plaq.files.guard import DamagedFile, reading
from plaq.inputs.schema import name_shown, shown

OPERATIONS = (
    "broadcast",
    "reduce",
    "scatter",
    "gather",
    "all_reduce",
    "all_gather",
    "all_to_all",
    "reduce_scatter",
    "barrier",
    "inclusive_scan",
    "exclusive_scan",
)
SIZES = (4, 256, 4096, 65536, 1 << 20, 8 << 20)  # bytes of a block
_LARGEST = 64 << 20  # bytes of all blocks together


def path() -> Path:
    """Return the path of the table: $PLAQ_COMM_TUNING, else plaq/comm.tuning in $XDG_CONFIG_HOME or ~/.config."""
    return Path(_core.comm.tuning_path())


def tune(ranks: Sequence[int], repeats: int, sizes: Sequence[int] = SIZES) -> Path:
    """Measure on these numbers of ranks, one after the other; put their rows into the table and return its path.

    Rows of other numbers of ranks stay. Raises RunError if a job fails.
    """
    from plaq.comm.launch import module_command, start

    rows_of_others(ranks)  # fail before minutes of measuring
    for n in ranks:
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "rows"
            words = [str(repeats), ",".join(map(str, sizes)), str(rows)]
            code = start([*module_command("plaq.comm.tuning"), *words], n)
            if code != 0:
                raise RunError(f"measuring on {n} ranks failed with exit code {code}")
            _merge(rows.read_text().splitlines(), n)
    return path()


def rows_of_others(ranks: Sequence[int]) -> list[str]:
    """Return the table's rows for other numbers of ranks; DamagedFile names a line that is not one."""
    table, rows = path(), []
    with reading(table, "a table of tunings", "remove it to measure again"):
        if not table.exists():
            return []
        for number, line in enumerate(table.read_text().splitlines(), 1):
            words = line.partition("#")[0].split()
            if words and (len(words) != 6 or not all(words[i].isdecimal() for i in (1, 2, 4, 5))):
                raise DamagedFile(f"{table}, line {number}: {shown(line)} is not 'collective ranks bytes "
                                  "algorithm arity segment'; remove it to measure again")
            if words and int(words[1]) not in ranks:
                rows.append(line)
    return rows


def _merge(rows: list[str], ranks: int) -> None:
    table, others = path(), rows_of_others([ranks])
    head = f"# collective ranks bytes algorithm arity segment; `plaq comm tune` with {_core.comm.library_version()}"
    try:
        table.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(cannot_write(table, error)) from error
    write_atomically(table, ("\n".join([head, *others, *rows]) + "\n").encode())


def measure(repeats: int, sizes: Sequence[int]) -> list[str]:
    """Return the rows for the world's number of ranks. Collective.

    A row begins at 0 bytes or half-way (in ratio) between two measured sizes.
    """
    from plaq.comm import world

    comm = world()
    rows = []
    for operation in OPERATIONS:
        blocks = comm.size if operation in ("scatter", "gather", "all_gather", "all_to_all", "reduce_scatter") else 1
        measured = [4] if operation == "barrier" else [size for size in sizes if size * blocks <= _LARGEST]
        before, last = 0, None
        for size in measured:
            best, _ = _core.comm.measure_candidates(comm._native, operation, size, max(3, repeats))[0]
            begins = 0 if before == 0 else round((before * size) ** 0.5)
            row = f"{best.algorithm} {best.arity} {best.segment}"
            if row != last:
                rows.append(f"{operation} {comm.size} {begins} {row}")
            before, last = size, row
    return rows


def parse_list(text: str, option: str, most: int = 1 << 24) -> list[int]:
    """Return integers from 1 to ``most``, separated by commas in the text."""
    try:
        values = [int(word) for word in text.split(",")]
    except ValueError:
        values = [0]
    if not 1 <= min(values) <= max(values) <= most:
        raise InputError(f"{option} {name_shown(text)}: should be integers from 1 to {most} separated by commas")
    return values


if __name__ == "__main__":
    from plaq.comm import world

    rows = measure(int(sys.argv[1]), parse_list(sys.argv[2], "sizes"))
    world().on_root(lambda: Path(sys.argv[3]).write_text("\n".join(rows) + "\n"))

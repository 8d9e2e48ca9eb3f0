"""Files of a checkpoint that all ranks write and read: hashed together, each rank its share of the pieces.

Shares are neighbouring pieces in the order of names, so that a rank mostly hashes what it has written itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from plaq.comm.communicator import Communicator
from plaq.files.guard import reading
from plaq.files.hashed import Entry, check_entry, check_length, combine, length, piece, pieces

Manifest = dict[str, Entry]  # by the path of a file in the run's folder


def remedy(checkpoint: Path) -> str:
    """Return the remedy for a wrong file of a checkpoint."""
    return f"put the right one back, or remove {checkpoint} to start this run from the beginning"


def describe_files(comm: Communicator, folder: Path | None, parts: Path | None) -> Manifest:
    """Return entries of ``parts``, a file or all files of a folder in the run's folder, on rank 0. Collective.

    Both paths are rank 0's. Empty where ``parts`` is None.
    """
    def sizes() -> tuple[Path, dict[str, int]] | None:
        if parts is None:
            return None
        paths = sorted(parts.iterdir(), key=natural_order) if parts.is_dir() else [parts]
        return folder, {str(path.relative_to(folder)): length(path) for path in paths}

    shared = comm.on_root(sizes, share=True)
    return {} if shared is None else hash_files(comm, *shared)


def check(comm: Communicator, folder: Path | None, files: Manifest | None, remedy: str | None) -> None:
    """Raise InputError on all ranks if a file is missing, damaged, or another one. Collective.

    Arguments are rank 0's.
    """
    def lengths() -> tuple[Path, dict[str, int]] | None:
        for name, entry in files.items():
            check_length(folder / name, entry["bytes"], remedy)
        return (folder, {name: entry["bytes"] for name, entry in files.items()}) if files else None

    def compare() -> None:
        for name, entry in files.items():
            check_entry(folder / name, entries[name], entry, remedy)

    shared = comm.on_root(lengths, share=True)
    if shared is not None:
        entries = hash_files(comm, *shared)
        comm.on_root(compare)


def hash_files(comm: Communicator, folder: Path, sizes: Mapping[str, int]) -> Manifest:
    """Return the entries of the first bytes of these files, on rank 0; empty elsewhere. Collective."""
    all_pieces = [(name, number) for name, size in sizes.items() for number in pieces(size)]

    def hash_share() -> list[bytes]:
        with reading(folder, "a checkpoint's files"):
            return [piece(folder / name, number, sizes[name])
                    for name, number in (all_pieces[i] for i in comm.share(len(all_pieces)))]

    gathered = comm.gather(comm.together(hash_share))
    if gathered is None:
        return {}
    digests = iter([digest for rank in gathered for digest in rank])
    return {name: combine(size, [next(digests) for _ in pieces(size)]) for name, size in sizes.items()}


def natural_order(path: Path) -> Sequence[str | int]:
    """Return a key that sorts names with numbers in them: part 2 before part 10."""
    return [int(word) if word.isdecimal() else word for word in re.split(r"(\d+)", path.name)]

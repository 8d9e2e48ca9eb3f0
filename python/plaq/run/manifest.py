"""The files of a checkpoint that all ranks write and read: hashed together, each rank its share of the pieces.

Shares are neighbouring pieces in the order of names, so that a rank mostly hashes what it has written itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from plaq.comm.communicator import Communicator
from plaq.files.guard import reading
from plaq.files.hashed import Entry, joined, length, need_entry, need_length, piece, pieces

Manifest = dict[str, Entry]  # by the path of a file in the run's folder


def remedy(checkpoint: Path) -> str:
    """Remedy where a file of a checkpoint is not the right one."""
    return f"put the right one back, or remove {checkpoint} to start this run from the beginning"


def described(comm: Communicator, folder: Path | None, parts: Path | None) -> Manifest:
    """Entries of the file, or of all files in the folder, ``parts`` in a run's folder (both are rank 0's): on rank 0.
    Empty where ``parts`` is None. Collective."""
    def sizes() -> tuple[Path, dict[str, int]] | None:
        if parts is None:
            return None
        found = sorted(parts.iterdir(), key=by_number) if parts.is_dir() else [parts]
        return folder, {str(path.relative_to(folder)): length(path) for path in found}

    found = comm.on_root(sizes, share=True)
    return {} if found is None else hashed(comm, *found)


def check(comm: Communicator, folder: Path | None, files: Manifest | None, remedy: str | None) -> None:
    """InputError on all ranks where one of the files is missing, damaged, or another one. Arguments are rank 0's.
    Collective."""
    def lengths() -> tuple[Path, dict[str, int]] | None:
        for name, wanted in files.items():
            need_length(folder / name, wanted["bytes"], remedy)
        return (folder, {name: wanted["bytes"] for name, wanted in files.items()}) if files else None

    def compare() -> None:
        for name, wanted in files.items():
            need_entry(folder / name, found[name], wanted, remedy)

    there = comm.on_root(lengths, share=True)
    if there is not None:
        found = hashed(comm, *there)
        comm.on_root(compare)


def hashed(comm: Communicator, folder: Path, sizes: Mapping[str, int]) -> Manifest:
    """The entries of the first bytes of these files, on rank 0; empty elsewhere. Collective."""
    all_pieces = [(name, number) for name, size in sizes.items() for number in pieces(size)]

    def mine() -> list[bytes]:
        with reading(folder, "a checkpoint's files"):
            return [piece(folder / name, number, sizes[name])
                    for name, number in (all_pieces[i] for i in comm.share(len(all_pieces)))]

    gathered = comm.gather(comm.together(mine))
    if gathered is None:
        return {}
    digests = iter([digest for rank in gathered for digest in rank])
    return {name: joined(size, [next(digests) for _ in pieces(size)]) for name, size in sizes.items()}


def by_number(path: Path) -> Sequence[str | int]:
    """Sorts names as people count: part 2 before part 10."""
    return [int(word) if word.isdecimal() else word for word in re.split(r"(\d+)", path.name)]

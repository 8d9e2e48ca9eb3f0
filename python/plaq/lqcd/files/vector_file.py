"""Test vectors of multigrid in a file of SciDAC's format, with which a chain continues to the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plaq.files.guard import DamagedFile, open_file, reading
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.fields.spinor_field import SpinorField
from plaq.lqcd.files import lime
from plaq.lqcd.files.gauge_files import (
    ORDER,
    as_numbers,
    check_extents,
    check_sums,
    read_box,
    scidac_checksum,
    write_atomically,
)
from plaq.lqcd.files.scidac import (
    BINARY,
    CHECKSUM,
    PRIVATE_FILE,
    PRIVATE_RECORD,
    checksum_xml,
    file_xml,
    parse_checksum,
    parse_extents,
    parse_numbers,
    record_xml,
)

CONTENT = "a file of test vectors"
SPINOR = 12  # complex numbers of a vector on a site


def write_vectors(path: Path, lattice: Lattice, vectors: Sequence[SpinorField]) -> None:
    """Write vectors on odd sites, [t, z, y, x, vector, spin, colour] with 32 bits and zeros on even sites. Collective.

    The file is complete or absent. RunError on all ranks if it cannot be written.
    """
    values = np.stack([vector.local() for vector in vectors], axis=4)
    part, numbers = as_numbers(np.moveaxis(values, ORDER, range(4)), 32), SPINOR * len(vectors)
    size = 8 * numbers * lattice.volume
    before = [lime.make_record(PRIVATE_FILE, file_xml(lattice.extents), True, False),
              lime.make_record(PRIVATE_RECORD, record_xml("TestVectors", 32, 3, 4, numbers), False, False),
              lime.make_header(BINARY, size, False, False)]
    after = bytes(-size % 8) + lime.make_record(CHECKSUM, checksum_xml(scidac_checksum(lattice, part)), False, True)
    write_atomically(path, lattice, b"".join(before), part, after)


def read_vectors(path: Path, lattice: Lattice) -> list[SpinorField]:
    """Read the vectors of `write_vectors`; every rank reads its part. InputError on all ranks. Collective."""
    def head() -> tuple[int, int, tuple[int, int]]:
        with reading(path, CONTENT), open(open_file(path), "rb") as file:
            records = {record.type: record for record in lime.read_records(file, path)}
            check_extents(path, lattice.extents, parse_extents(records[PRIVATE_FILE].text(file, path)))
            bits, numbers = parse_numbers(path, records[PRIVATE_RECORD].text(file, path))
            if bits != 32 or numbers % SPINOR or records[BINARY].length != 8 * numbers * lattice.volume:
                raise DamagedFile(f"{path}: damaged: its numbers are not those of test vectors")
            return (records[BINARY].offset, numbers // SPINOR,
                    parse_checksum(records[CHECKSUM].text(file, path)))

    offset, count, sums = lattice.comm.on_root(head, share=True)
    values = lattice.comm.together(lambda: read_box(path, lattice, CONTENT, ">f4", offset, (count, 4, 3, 2)))
    check_sums(path, lattice, values, sums)
    local = np.moveaxis(values[..., 0] + 1j * values[..., 1].astype(float), range(4), ORDER)
    return [SpinorField(lattice, odd=True).set_local(local[:, :, :, :, j]) for j in range(count)]

"""Description of a file of a configuration or a propagator: what its texts state, and whether its numbers agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from plaq.errors import InputError
from plaq.files.guard import open_file, reading
from plaq.inputs.schema import one_line
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.files import ildg, lime, propagator_file
from plaq.lqcd.files.gauge_formats import LIME, Head, format_of, head_of, read_gauge
from plaq.streams import printable

LONGEST = 200  # characters of a text that are shown


def describe(path: str | Path) -> str:
    """Return lines on the file: format, lattice, precision, texts; of its numbers plaquette and checks.

    InputError that names the file where it is neither a configuration nor a propagator, or damaged.
    """
    path = Path(path)
    name, notes, gauge, no_gauge = f"{printable(str(path))}:", [], None, None
    if format_of(path) == LIME:
        with reading(path, "a LIME file"), open(open_file(path), "rb") as file:
            records = lime.read_records(file, path)
            texts = [record.text(file, path) for record in records if record.type == ildg.NOTES]
        notes = [f"  records: {', '.join(printable(record.type) for record in records)}",
                 *(f"  {line}" for text in texts for line in printed(text))]
    try:
        gauge = head_of(path)
    except InputError as error:
        no_gauge = error
    lines = propagator_lines(path, no_gauge) if gauge is None else gauge_lines(path, gauge)
    return "\n".join([name, *lines, *notes])


def printed(notes: str) -> list[str]:
    """Return the lines of a text in short."""
    return [one_line(printable(line.strip()))[:LONGEST] for line in notes.splitlines() if line.strip()]


def gauge_lines(path: Path, head: Head) -> list[str]:
    """Return lines on a configuration, of which all links are read; InputError where they are damaged."""
    if head.extents is None:
        return ["  links of a configuration whose lattice no text states"]
    lines = [f"  configuration, {head.format}, {head.bits} bits",
             f"  lattice: {' x '.join(map(str, head.extents))} (t, x, y, z)"]
    if any(n % 2 for n in head.extents):
        return [*lines, "  links: not read, since plaq's lattices have even extents"]
    gauge = read_gauge(path, Lattice(head.extents))
    with_t, without = gauge.plaquettes()
    loop = gauge.polyakov_loop()
    return [*lines, f"  plaquette: {(with_t + without) / 2:.12f} ({with_t:.12f} with t, {without:.12f} without)",
            f"  Polyakov loop: {loop.real:.6g} {loop.imag:+.6g} i",
            f"  links: in SU(3) to {gauge.unitarity_violation():.1g}; length, checksum and plaquette agree with the "
            "texts of the file"]


def propagator_lines(path: Path, no_gauge: InputError) -> list[str]:
    """Return lines on a propagator; ``no_gauge`` is raised where the file is none either."""
    try:
        with reading(path, propagator_file.CONTENT):
            found = propagator_file.describe(path)
    except InputError as error:
        raise InputError(f"{no_gauge}; as a propagator: {error}") from None
    fields, numbers = len(found.fields), found.fields[0].numbers
    source = "none stated" if found.source is None else " ".join(map(str, found.source))
    phases = "none stated" if found.theta is None else " ".join(f"{x:g}" for x in found.theta)
    return [f"  propagator, {fields} field{'s' * (fields > 1)} of {numbers} complex numbers a site, "
            f"{found.fields[0].bits} bits",
            f"  lattice: {' x '.join(map(str, found.extents))} (t, x, y, z), "
            f"{np.prod(found.extents, dtype=object)} sites",
            f"  source (t, x, y, z): {source}; basis of spins: {found.basis or 'none stated'}; theta: {phases}"]

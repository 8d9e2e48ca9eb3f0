"""Configurations as openQCD exports them: a header of 24 bytes, then eight links at every odd site.

After the extents t, x, y, z (32-bit integers) and the average of Re tr P follow, for odd sites in the order of t, x, y,
z with z fastest, the links towards +t, -t, +x, -x, ... in 64 bits, little endian: a link towards -mu is the one that
ends at the site, U(x - mu, mu) (M. Luescher, openQCD 2.4, README.global and archive.c).
"""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

from plaq.errors import InputError
from plaq.files.guard import DamagedFile, open_file, reading
from plaq.inputs.schema import shown
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.lattice import Lattice
from plaq.lqcd.files.gauge_files import LARGEST, checked_gauge, on_all_ranks, read_description, read_header

CONTENT = "a configuration of openQCD"
HEADER = struct.Struct("<4id")
SITE = 8 * 9 * 16  # bytes of an odd site


def describe(path: Path) -> dict[str, Any]:
    """Return ``extents`` and average ``plaquette`` Re tr P / 3 in the header; DamagedFile if lengths do not fit."""
    (*extents, plaquette), size = read_header(path, HEADER, CONTENT)
    if not all(1 <= n <= LARGEST for n in extents) or any(n % 2 for n in extents):
        raise DamagedFile(f"{path}: extents {shown(extents)} of {CONTENT}; they are even")
    if size != SITE * math.prod(extents) // 2:
        raise DamagedFile(f"{path}: {size} bytes of links, which are not those of {shown(extents)} sites "
                          "(t, x, y, z)")
    return {"extents": tuple(extents), "bits": 64, "plaquette": plaquette / 3}


def may_be(head: bytes, size: int) -> bool:
    """Return whether a file with these first bytes and this size can be one of openQCD, whose format has no name."""
    if len(head) < HEADER.size:
        return False
    *extents, _ = HEADER.unpack(head[:HEADER.size])
    return all(2 <= n <= LARGEST for n in extents) and size == HEADER.size + SITE * math.prod(extents) // 2


def read_openqcd(path: str | Path, lattice: Lattice, *, verify: bool = True, reunitarise: bool = False) -> GaugeField:
    """Read the configuration that openQCD has exported to a file; every rank reads its part.

    Verified are the length, the plaquette in the header, and that links are in SU(3). ``verify`` and ``reunitarise``
    are those of `read_ildg`. InputError that names file and problem, on all ranks; also where links are zero, as with
    open boundaries. Collective.
    """
    path = Path(path)

    description = read_description(path, lattice, CONTENT, describe)
    links = lattice.comm.together(lambda: _links(path, lattice))
    empty = lattice.comm.allreduce(int(np.count_nonzero(~links.any(axis=(-2, -1)))))
    if empty:
        raise on_all_ranks(lattice, InputError(f"{path}: {empty} links are zero, as with open or Schroedinger "
                                               "functional boundaries in time; plaq's lattices are periodic"))
    gauge = GaugeField(lattice).set_local(links)
    plaquette = f"{description['plaquette']:.12f}" if verify else None
    return checked_gauge(path, gauge, False, plaquette, reunitarise)


def _links(path: Path, lattice: Lattice) -> np.ndarray:
    """Return this rank's links [t, x, y, z, mu, 3, 3]."""
    t, x, y, z = lattice.extents
    with reading(path, CONTENT), open(open_file(path), "rb") as file:
        stored = np.memmap(file, "<c16", "r", HEADER.size, (t, x, y, z // 2, 8, 3, 3))
        sites = np.ix_(*(np.arange(part.start, part.stop) for part in lattice.box))
        odd = sum(sites) % 2 == 1
        links = np.empty((*lattice.local, 4, 3, 3), complex)
        for mu, extent in enumerate(lattice.extents):
            at = list(np.broadcast_arrays(*sites))
            at[mu] = np.where(odd, at[mu], (at[mu] + 1) % extent)  # of an even site the neighbour has the link
            links[..., mu, :, :] = stored[at[0], at[1], at[2], at[3] // 2, np.where(odd, 2 * mu, 2 * mu + 1)]
    return links

"""Gauge fields with open boundaries in time: loops that leave the lattice are absent.

The links in time of the last slice are part of the field's memory, but of no loop and no action.
"""

from __future__ import annotations

import numpy as np

from plaq.lqcd.fields.gauge_field import GaugeField


def _time(gauge: GaugeField) -> np.ndarray:
    """Return [group, 1, 1, 1, lane]: t of sites, for numbers of one direction."""
    t = gauge.lattice.sites()[..., 0] + gauge.lattice.box[0].start
    return t[:, None, None, None, :]


def inside(gauge: GaugeField) -> GaugeField:
    """Return the field without links that leave the lattice: they are zero, as are all loops with them."""
    out = gauge.copy()
    out.array[:, 0] *= _time(gauge) < gauge.lattice.extents[0] - 1
    return out


def ends(gauge: GaugeField) -> GaugeField:
    """Return the field with links in space on the first and the last slice alone."""
    out, t = gauge.copy(), _time(gauge)
    out.array[:, 0] = 0
    out.array[:, 1:] *= ((t == 0) | (t == gauge.lattice.extents[0] - 1))[:, None]
    return out


def plaquettes(gauge: GaugeField) -> tuple[float, float]:
    """Return the averages over plaquettes inside of the lattice with direction t and without. Collective."""
    temporal, spatial = inside(gauge).plaquettes()
    return temporal * gauge.lattice.extents[0] / (gauge.lattice.extents[0] - 1), spatial

r"""Scales from the gradient flow: t0 and w0, from E(t) on equally spaced flow times. Lattice spacing in GeV."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from plaq.data.estimate import Estimate

LEVEL = 0.3  # of t^2 E and of t d(t^2 E)/dt
HBAR_C = 0.1973269804  # GeV fm
LENGTHS = {"r0": 0.5, "w0": 0.1755}
"""Scales in fm: r0 of Sommer (hep-lat/9310022), w0 of Borsanyi et al. (arXiv:1203.4469)."""


def flow_times(flow: Any) -> np.ndarray:
    """Return flow times of measurements of E and Q of [flow.NAME]: after every step, the last at its time."""
    steps = max(1, math.ceil(flow.time / flow.step - 1e-9))
    return flow.time * np.arange(1, steps + 1) / steps


def crossing(times: np.ndarray, values: np.ndarray, level: float) -> np.ndarray:
    """Return the first time at which values pass the level, linear between two times; nan if they do not."""
    above = np.flatnonzero(values >= level)
    if not above.size or above[0] == 0:
        return np.array(np.nan)
    i = above[0]
    return times[i - 1] + (times[i] - times[i - 1]) * (level - values[i - 1]) / (values[i] - values[i - 1])


def t0(times: np.ndarray, energy: np.ndarray) -> np.ndarray:
    """Return t0 with t0^2 E(t0) = 0.3 (Luescher, arXiv:1006.4518); nan if this value is not reached."""
    return crossing(times, times**2 * energy, LEVEL)


def w0(times: np.ndarray, energy: np.ndarray) -> np.ndarray:
    r"""Return w0 with $W(w_0^2) = 0.3$, $W(t) = t\, d(t^2 E)/dt$ (Borsanyi et al., arXiv:1203.4469); nan if absent.

    The derivative is a difference over two steps, with an error of second order.
    """
    scaled = np.concatenate([[0.0], times**2 * energy])
    if len(times) < 3:
        return np.array(np.nan)
    slope = (scaled[2:] - scaled[:-2]) / (2 * (times[1] - times[0]))
    return np.sqrt(crossing(times[:-1], times[:-1] * slope, LEVEL))


def inverse_spacing(found: Mapping[str, Estimate]) -> tuple[Estimate, str] | None:
    """Return 1/a in GeV, and the scale in fm that it follows from, by r0 or else w0 among estimates by path.

    Errors are those of r0/a and w0/a alone. None without such an estimate that has an error.
    """
    for scale, length in LENGTHS.items():
        for path, estimate in found.items():
            if path.rpartition("/")[2] == scale and estimate.supported:
                return estimate * (HBAR_C / length), f"{scale} = {length:g} fm"
    return None

"""Series of the trajectories of hybrid Monte Carlo, as ``results.h5`` keeps them."""

from __future__ import annotations

import numpy as np

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded


def record_trajectories(trajectories: np.ndarray) -> dict[str, Recorded]:
    """Return {name: series [trajectory]} of [trajectory, (Delta H, accepted)], also those of thermalisation."""
    if not len(trajectories):
        return {}
    axes = (Axis("trajectory", np.arange(1, len(trajectories) + 1)),)
    return {"delta_h": Recorded("delta_h", trajectories[:, 0], axes, "", "H at the end less that at the beginning"),
            "accepted": Recorded("accepted", trajectories[:, 1], axes, "", "1: accepted")}

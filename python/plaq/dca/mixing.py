"""How the next input of the self-consistency loop follows from what came out of the iterations before."""

from __future__ import annotations

import numpy as np

DEPTH = 2  # outputs that are averaged


def mixed(outputs):
    """The mean of the last `DEPTH` outputs, weighted by their measurements; ``outputs`` are (weight, Sigma),
    newest last.

    An error e of the input that comes back as J e then dies out for all real J between -2 and 1, and complex ones
    up to 1 in size; the last output alone diverges for J < -1,
    and carries its noise on for longest where J is near -1.
    """
    weights, sigmas = zip(*outputs[-DEPTH:])
    return sum(weight * sigma for weight, sigma in zip(weights, sigmas)) / np.sum(weights)

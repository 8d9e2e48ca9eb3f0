"""Mixing: input of the next iteration of the self-consistency loop, from the outputs of the previous ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DEPTH = 2  # outputs that are averaged


@dataclass(frozen=True)
class Output:
    """Self-energy that the solver returned in one iteration.

    weight : measurements; sigma : [1 + group, K, w] samples.
    """

    weight: float
    sigma: np.ndarray


def mixed(outputs: list[Output]) -> np.ndarray:
    """Return the mean of the last `DEPTH` outputs, newest last, weighted by their measurements.

    An error e of the input that comes back as J e then dies out for all real J between -2 and 1, and complex J up to 1
    in size. The last output alone diverges for J < -1, and its noise decays most slowly where J is near -1.
    """
    last = outputs[-DEPTH:]
    return sum(output.weight * output.sigma for output in last) / np.sum([output.weight for output in last])

"""Zolotarev's rational approximation of the inverse square root."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy


@dataclass(frozen=True)
class InverseRoot:
    r"""$R(y) = A \prod_k (y + a_k) / (y + b_k)$, which is $y^{-1/2} (1 \pm \delta)$ for ``low`` <= y <= ``high``."""

    low: float
    high: float
    factor: float
    above: np.ndarray
    below: np.ndarray
    delta: float

    @classmethod
    def zolotarev(cls, poles: int, low: float, high: float) -> InverseRoot:
        """Return the best approximation with ``poles`` poles (Achieser, Theory of Approximation, 1956, appendix E)."""
        epsilon = low / high
        step = scipy.special.ellipkm1(epsilon) / (2 * poles + 1)
        sn, cn, *_ = scipy.special.ellipj(step * np.arange(1, 2 * poles + 1), 1 - epsilon)
        above, below = np.split(((cn / sn) ** 2).reshape(poles, 2), 2, axis=1)
        y = np.exp(np.linspace(math.log(epsilon), 0, 20000))
        ratio = np.sqrt(y) * np.prod((y + above) / (y + below), axis=0)
        smallest, largest = ratio.min(), ratio.max()
        factor = 2 / (smallest + largest)
        return cls(low, high, factor / math.sqrt(high), above[:, 0] * high, below[:, 0] * high,
                   float(factor * largest - 1))

    def __call__(self, y):
        return self.factor * np.prod((y + self.above[:, None]) / (y + self.below[:, None]), axis=0)

    def parts(self, poles: Sequence[int]) -> list[InverseRoot]:
        """Return factors of R with these numbers of poles, the smallest poles first; the last has the factor A."""
        ends = len(self.below) - np.cumsum([0, *poles])
        return [replace(self, factor=self.factor if first == 0 else 1.0, above=self.above[first:end],
                        below=self.below[first:end]) for end, first in zip(ends, ends[1:])]

    def residues(self) -> np.ndarray:
        """Return r with R(y) = A (1 + sum_k r_k / (y + b_k))."""
        return partial_fractions(-self.above, -self.below)


def partial_fractions(zeros: np.ndarray, poles: np.ndarray) -> np.ndarray:
    """Return r with prod (x - zeros) / (x - poles) = 1 + sum_k r_k / (x - poles_k)."""
    return np.array([(pole - zeros).prod() / np.delete(pole - poles, k).prod() for k, pole in enumerate(poles)])

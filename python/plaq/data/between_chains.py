"""Errors of bins from the scatter between Markov chains.

Bins of one chain are correlated if the autocorrelation time exceeds their length; chains that were started
independently are not.

With h_j and u_j of the jackknife, d_j = (h_j - 1) u_j + bias is the deviation of a bin's pseudo-value from the
mean of all. H groups of bins, D_G the sum of d_j / h_j in group G, have error^2 = H/(H-1) sum_G D_G^2, whatever
the correlations inside them. Without any correlation between bins, the ratio of the variance between groups to that
inside them,
    F = e_H^2 (g - H) / ((g - 1) e^2 - (H - 1) e_H^2),    e of g bins, e_H of H groups,
follows Fisher's distribution with H - 1 and g - H degrees of freedom. It compares with the noise what the potential
scale reduction of Gelman and Rubin, Stat. Sci. 7, 457 (1992), measures: R^2 = 1 + (F - 1)/(bins in a group).
"""

from __future__ import annotations

import numpy as np
import scipy

ROUNDING = 1e-7  # of the largest element: smaller scatter is rounding
SMALLEST = 1e-300  # probability


class BetweenChains:
    """Sums over the bins of every chain, and of every half of one, for one jackknifed quantity."""

    def __init__(self, like: np.ndarray, bins: int, chains: int):
        of_chain = bins // chains
        self._size = float(np.abs(like).max(initial=0.0))
        self._chains = BinGroups(of_chain) if chains > 1 and of_chain > 1 else None
        self._halves = BinGroups(of_chain // 2) if self._chains and of_chain > 3 and of_chain % 2 == 0 else None

    def add(self, at: int, shift: np.ndarray, part: float) -> None:
        """Add (1 - 1/h) u and 1/h of bin ``at``; bins come in their order."""
        for groups in (self._chains, self._halves):
            if groups:
                groups.add(at, reals(shift), part)

    def combine(self, error: np.ndarray, bias: np.ndarray, bins: int) -> tuple[np.ndarray, float | None]:
        """Return the larger of the error from ``bins`` bins and the one from chains, and the disagreement of chains.

        That is the number of standard deviations by which chains, or halves of them, disagree: of the worst element,
        corrected for the number of elements. None if there are too few chains or bins.
        """
        if not self._chains or bins <= self._chains.count:
            return error, None
        e, b = reals(error), reals(bias)
        between, count = self._chains.error(b), self._chains.count
        rarest, tests = self._chance(e, between, bins, count), e.size
        if self._halves:
            halves = self._halves.error(b)
            rarest, tests = min(rarest, self._chance(e, halves, bins, self._halves.count)), 2 * e.size
        sigma = -scipy.special.ndtri(np.clip(tests * rarest, SMALLEST, 1.0) / 2)
        return np.maximum(e, between).view(error.dtype).reshape(error.shape), float(sigma) + 0.0

    def _chance(self, error: np.ndarray, between: np.ndarray, bins: int, groups: int) -> float:
        """Return the probability of the largest F of all numbers, taken one by one, if bins are independent."""
        inside = (bins - 1) * error**2 - (groups - 1) * between**2
        with np.errstate(divide="ignore", invalid="ignore"):
            F = np.where(inside > 0, between**2 * (bins - groups) / inside, np.inf)
        F = np.where(between > ROUNDING * self._size, F, 0.0)
        return float(scipy.special.fdtrc(groups - 1, bins - groups, F.max(initial=0.0)))


class BinGroups:
    """Sums over groups of ``size`` consecutive bins."""

    def __init__(self, size: int):
        self.size, self.count = size, 0
        self._squares = self._cross = self._parts = 0.0  # sums over groups of sum^2, sum part and part^2
        self._number, self._sum, self._part = -1, 0.0, 0.0  # of the group that is being filled

    def add(self, at: int, shift: np.ndarray, part: float) -> None:
        if at // self.size != self._number:
            self._close()
            self._number, self._sum, self._part = at // self.size, 0.0, 0.0
        self._sum = self._sum + shift
        self._part += part

    def _close(self) -> None:
        if self._part:
            self.count += 1
            self._squares = self._squares + self._sum**2
            self._cross = self._cross + self._sum * self._part
            self._parts += self._part**2
            self._part = 0.0

    def error(self, bias: np.ndarray) -> np.ndarray:
        """Return the error of the mean from the scatter between groups."""
        self._close()
        square = self._squares + 2 * bias * self._cross + bias**2 * self._parts
        return np.sqrt(np.maximum(square, 0.0) * self.count / max(self.count - 1, 1))


def reals(array: np.ndarray) -> np.ndarray:
    """Return the numbers of an array as reals, a complex one as two."""
    array = np.ascontiguousarray(array)
    return array.view(array.real.dtype)

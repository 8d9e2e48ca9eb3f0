"""Progress of a run and its time left: the cost model for the rest, at the speed so far."""

from __future__ import annotations

from collections.abc import Sequence

from plaq.dca.lattice.model import cluster_of
from plaq.dca.parameters import Parameters
from plaq.dca.planning.cost import APPROACH, Machine, cost

ENOUGH = 0.05  # part of a temperature from which its own speed gives the time left


class Progress:
    """Progress of a run at several temperatures, weighted by the cost model."""

    def __init__(self, parameters: Parameters):
        p = parameters
        if p.solver.kind == "ed":
            self._expected = [1.0 for _ in p.dca.temperatures]
        else:
            cluster = cluster_of(p)
            self._expected = [cost(p, cluster, T, Machine(), 1, 1).seconds for T in p.dca.temperatures]

    def done(self, index: int, part: float) -> float:
        """Return the part of the whole run that is done, from the part of temperature ``index``."""
        return (sum(self._expected[:index]) + part * sum(self._expected[index : index + 1])) / sum(self._expected)

    def left(self, spent: Sequence[float], part: float) -> float | None:
        """Return the seconds left; None while nothing is known.

        spent : seconds at each temperature so far, the last of which is done in part.
        """
        index = len(spent) - 1
        expected = sum(self._expected[:index]) + part * self._expected[index]
        if not expected or not sum(spent):
            return None
        speed = sum(spent) / expected
        rest = spent[-1] * (1 - part) / part if part >= ENOUGH else speed * (1 - part) * self._expected[index]
        return rest + speed * sum(self._expected[index + 1 :])


def part_done(final: bool, before: float, now: float, few: int, many: int) -> float:
    """Return the part of one temperature that is done, in measurements.

    `cost.APPROACH` iterations of ``few`` are expected until Sigma has converged, then the final ones of ``many``
    together. before: measurements of the complete iterations in the phase of this one; now: those of this one.
    Iterations beyond the expected ones change nothing.
    """
    first = APPROACH * few
    if final:
        return min(1.0, (first + before + now) / (first + many))
    return min(first, before + now) / (first + many)

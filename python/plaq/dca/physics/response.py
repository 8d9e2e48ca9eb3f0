"""Response of a temperature at each momentum transfer: susceptibilities, structure factors, leading eigenvalues."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from plaq.data.estimate import Estimate
from plaq.data.formatting import momentum
from plaq.data.propagation import derive
from plaq.dca.physics.point import Point

CHANNELS = ("pp", "magnetic", "charge", "transverse")
CHANNEL = re.compile(rf"lambda_({'|'.join(CHANNELS)})_q(\d+)_m(-?\d+)_(.+)")
SHORT = {"spin_susceptibility": "chi_s", "charge_susceptibility": "chi_c",
         "spin_structure_factor": "S_s", "charge_structure_factor": "S_c"}


@dataclass
class Response:
    """Scalar estimates by name at the transfer q (``[2]``, 1/a) and the bosonic frequency 2 pi m T."""

    q: np.ndarray
    m: int
    values: dict[str, Estimate] = field(default_factory=dict)

    def __str__(self) -> str:
        return momentum(self.q) + (f", m = {self.m}" if self.m else "")

    def in_words(self) -> str:
        """Return ``q = (π,π): chi_s = 0.98(5), …, lambda_magnetic = 0.977(3)``."""
        return f"q = {self}: " + ", ".join(f"{SHORT.get(name, name)} = {value}"
                                           for name, value in self.values.items())

    def plain(self) -> dict:
        """Return it as a dict for files: q in units of pi/a, m, and {value, error} by name."""
        values = {name: {"value": float(e.mean), "error": float(e.error)} for name, e in self.values.items()}
        return {"q": [float(x / np.pi) for x in self.q], "m": self.m, **values}


def responses(point: Point) -> list[Response]:
    """Return a response at each inequivalent momentum, and at each other transfer with a measured channel.

    Names are ``spin_susceptibility``, ``charge_susceptibility``, ``spin_structure_factor``,
    ``charge_structure_factor`` and ``lambda_X`` for a channel X, the largest of its irreps'.
    """
    rows: dict[tuple[int, int], Response] = {}
    everywhere = {name: point[name] for name in ("spin_susceptibility", "charge_susceptibility") if name in point}
    for kind in ("spin", "charge"):
        if f"{kind}_correlation" in point and everywhere:
            everywhere[f"{kind}_structure_factor"] = structure_factor(point, kind)
    if everywhere:
        K = momenta(point)
        for i in inequivalent(point):
            rows[i, 0] = Response(K[i], 0, {name: estimate.pick(K=i) for name, estimate in everywhere.items()})
    for name, (channel, q, m, _) in channels(point).items():
        row = rows.setdefault((q, m), Response(momenta(point)[q], m))
        known = row.values.get(f"lambda_{channel}")
        if known is None or not known.mean >= point[name].mean:
            row.values[f"lambda_{channel}"] = point[name]
    return list(rows.values())


def pairing_irreps(points: list[Point]) -> list[str]:
    """Return short names of the irreps whose pairing eigenvalue at q = 0, nu = 0 was measured."""
    names = dict.fromkeys(name for point in points for name in point.observables)
    return [name.removeprefix("lambda_") for name in names if name.startswith("lambda_")
            and not CHANNEL.fullmatch(name) and f"eigenvector_{name.removeprefix('lambda_')}" in names]


def channels(point: Point) -> dict[str, tuple[str, int, int, str]]:
    """Return the observables that are leading eigenvalues: {name: (channel, transfer index, bosonic index, irreps)}."""
    matches = {name: CHANNEL.fullmatch(name) for name in point.observables}
    return {name: (match[1], int(match[2]), int(match[3]), match[4]) for name, match in matches.items() if match}


def momenta(point: Point) -> np.ndarray:
    """Return the cluster's momenta ``[K, 2]``."""
    return next(axis.values for estimate in point.observables.values() for axis in estimate.axes if axis.name == "K")


def inequivalent(point: Point) -> list[int]:
    """Return indices of the momenta that the point group of the cluster distinguishes, the first of each orbit.

    All momenta where the group is not known.
    """
    known = np.arange(len(momenta(point))) if point.representatives is None else point.representatives
    return np.unique(known).tolist()


def structure_factor(point: Point, kind: str) -> Estimate:
    """Return S(K) = sum_R exp(-i K.R) C(R), real, with C the equal-time ``spin_correlation`` or ``charge_correlation``.
    """
    correlation = point[f"{kind}_correlation"]
    K = next(axis for estimate in point.observables.values() for axis in estimate.axes if axis.name == "K")
    matrix = np.cos(K.values @ correlation.axes[0].values.T)  # C(R) = C(-R), so the sine adds up to nothing
    return derive(lambda values: matrix @ values, correlation, name=f"{kind}_structure_factor", axes=(K,),
                  unit=correlation.unit, convention=f"sum_R exp(-i K.R) {kind}_correlation(R)")

"""Boundaries of phases that one run says something about: temperatures of orders, and T*."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.data.estimate import with_error
from plaq.dca.physics.instabilities import Instability
from plaq.dca.results.results import Results

FOUND, BELOW, ABOVE, NONE = "found", "below", "above", "not measured"
FIRST = ("T_c", "T_N", "T*")


@dataclass(frozen=True)
class Boundary:
    """Temperature of an order or of T*: found, with its error; or below or above the temperature ``T``."""

    symbol: str
    status: str
    T: float | None = None
    error: float | None = None

    def __str__(self) -> str:
        if self.status == FOUND:
            return with_error(self.T, self.error)
        return {BELOW: f"< {self.T:g}", ABOVE: f"> {self.T:g}"}[self.status] if self.T is not None else ""


def boundaries(results: Results) -> list[Boundary]:
    """Return the boundaries that a run says something about: every order once, then T*."""
    found: dict[str, Boundary] = {}
    for order in results.instabilities():
        known = found.get(order.symbol)
        if known is None or (known.status == NONE):  # the magnetic and the transverse channel are one order
            found[order.symbol] = of_order(order, results)
    top = results.spin_maximum
    if top.status != NONE:
        found["T*"] = Boundary("T*", top.status, top.value if top.status == FOUND else top.bound, top.error)
    return [boundary for boundary in found.values() if boundary.status != NONE]


def of_order(order: Instability, results: Results) -> Boundary:
    """Return the boundary of an order; a bound as well where one temperature alone has its eigenvalue."""
    if order.status == FOUND:
        return Boundary(order.symbol, FOUND, order.transition.value, order.transition.error)
    if order.status == "bound":
        side, T = order.outside
        return Boundary(order.symbol, BELOW if side == "<" else ABOVE, T)
    if not order.temperatures:
        return Boundary(order.symbol, NONE)
    point = results.at(order.temperatures[0])
    eigenvalue = float(point[order.observable].mean)
    if not np.isfinite(eigenvalue):
        return Boundary(order.symbol, NONE)
    return Boundary(order.symbol, BELOW if eigenvalue < 1 else ABOVE, point.T)

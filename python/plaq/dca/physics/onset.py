"""The temperature at which an ordered phase sets in, from below: where the order parameter vanishes.

Outside the cluster DCA is a mean-field theory, so that m^2 is a smooth function of T that reaches 0 with a finite
slope. A straight line is fitted to m^2 with two or three ordered temperatures, a parabola with more. The error is that
of m, carried through by a parametric bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plaq.data.estimate import with_error
from plaq.dca.physics.transition import SAMPLES, SEED, half_width

ORDERED = 3.0  # standard errors of the order parameter that make a temperature an ordered one
LINE = 3  # most temperatures that a straight line is fitted to


@dataclass(frozen=True)
class Onset:
    """Temperature where order sets in: value and error, None where the data do not show it.

    symbol : "T_N" or "T_c"; sentence : the result in words; coefficients : of the fit of m^2 in powers of T - value,
    highest first; fitted : range of T.
    """

    symbol: str
    sentence: str
    value: float | None = None
    error: float | None = None
    coefficients: tuple[float, ...] = ()
    fitted: tuple[float, float] | None = None

    def curve(self, T: np.ndarray) -> np.ndarray:
        """Return the fitted order parameter."""
        return np.sqrt(np.maximum(np.polyval(self.coefficients, np.asarray(T) - self.value), 0))


def onset_of(points: Iterable[Any]) -> Onset | None:
    """Return the onset of the order of a run's points; None where no symmetry may be broken."""
    chosen = [point for point in points if "order_parameter" in point]
    if not chosen:
        return None
    symbol = "T_N" if "magnetisation" in chosen[0]["order_parameter"].convention else "T_c"
    rows = sorted((p.T, float(p["order_parameter"].mean), float(p["order_parameter"].error)) for p in chosen)
    return onset(*np.array(rows).T, symbol)


def onset(T: np.ndarray, m: np.ndarray, error: np.ndarray, symbol: str) -> Onset:
    """Return where m(T) vanishes, from ascending temperatures."""
    ordered = m > ORDERED * error
    below = int(np.argmin(ordered)) if not ordered.all() else len(T)  # ordered temperatures without a gap
    if below == 0:
        return Onset(symbol, f"no order found: at T = {T[0]:g} the order parameter is {with_error(m[0], error[0])}")
    if below < 2:
        return Onset(symbol, f"order at T = {T[0]:g}, where the order parameter is {with_error(m[0], error[0])}; "
                             f"{symbol} needs two temperatures with order")
    T, m, error = T[:below], m[:below], error[:below]
    degree = 1 if below <= LINE else 2
    value, polynomial = vanishing(T, m, error, degree)
    if value is None:
        return Onset(symbol, f"order up to T = {T[-1]:g}, where the order parameter is {with_error(m[-1], error[-1])}; "
                             "it does not fall towards higher T as m² does below a transition")
    samples = m + error * np.random.default_rng(SEED).normal(size=(SAMPLES, below))
    found = [vanishing(T, sample, error, degree)[0] for sample in samples]
    width = half_width(np.array([np.inf if x is None else x for x in found]))
    shape = "a straight line" if degree == 1 else "a parabola"
    sentence = (f"{symbol} = {with_error(value, width)} from below, where the square of the order parameter, {shape} "
                f"in T, vanishes")
    return Onset(symbol, sentence, value, width, polynomial, (float(T[0]), float(T[-1])))


def vanishing(T: np.ndarray, m: np.ndarray, error: np.ndarray, degree: int) -> tuple[float | None, tuple[float, ...]]:
    """Return (T where the fit of m^2 vanishes, coefficients around it); (None, ()) where it does not above the T."""
    weight = 1 / np.maximum(2 * np.abs(m) * error, 1e-12)
    fit = np.polynomial.Polynomial.fit(T, m * np.abs(m), degree, w=weight, domain=[T[0] - 1, T[0] + 1]).convert()
    roots = [r.real for r in fit.roots() if abs(r.imag) < 1e-9 and fit.deriv()(r.real) < 0 and r.real > T[0]]
    if not roots:
        return None, ()
    value = float(min(roots))
    around = fit(np.polynomial.Polynomial([value, 1.0]))
    return value, tuple(around.coef[::-1])

"""A measured quantity: mean, error, the jackknife values behind the error, and named axes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plaq.data import display
from plaq.data.arithmetic import Arithmetic
from plaq.data.formatting import format_number
from plaq.data.gamma_method import GammaErrors

if TYPE_CHECKING:
    import pyerrors
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Axis:
    """One axis of an array: its name, the values along it and their unit.

    If they move with the array's first axis, as the positions of a moving window do with time, they are [first axis,
    along it].
    """

    name: str
    values: np.ndarray
    unit: str = ""

    @property
    def size(self) -> int:
        return np.shape(self.values)[-1]

    def at(self, index: int) -> np.ndarray:
        """Return the values along it at an index of the array's first axis."""
        return self.values if np.ndim(self.values) == 1 else self.values[index]


@dataclass(repr=False, eq=False)
class Estimate(Arithmetic):
    """Mean and one-standard-deviation error of a measured quantity.

    ``mean`` and ``error`` have the shape that ``axes`` describe. A complex mean has a complex error: the error of the
    real part plus i times the error of the imaginary part. ``jackknife`` holds the leave-one-out values ``[bin, ...]``
    that the error came from, so that a derived quantity can carry its error through.

    An error that the data cannot support is ``inf``, and ``note`` gives the reason: its weight 1/error**2 in any later
    fit is zero. Exactly known values have error 0. ``disagreement`` is the number of standard deviations by which the
    Markov chains disagree (plaq.data.between_chains), ``kurtosis`` that of the bins, 3 if they are normal; None if not
    known. ``bias`` is the jackknife's estimate of the bias from a finite number of measurements, which is not
    subtracted. ``chi2`` and ``dof`` are those of the fit that gave the value, if any; ``p`` is the probability of a
    chi2 at least as large if the model of the fit is true. ``gamma`` has the errors by the Gamma method, if any.

    Estimates compute: operators, numpy's functions of numbers, ``g[0, 3]`` and ``g.sum("K")`` return estimates with the
    error that follows (plaq.data.propagation). ``bins`` is the label of the set of bins that ``jackknife`` belongs to:
    estimates of one label are correlated, others independent. A computed estimate has the values of all further
    sources of its error in ``others``, by label. ``places`` are positions of its numbers in the array that they were
    taken from.
    """

    name: str
    mean: np.ndarray
    error: np.ndarray
    jackknife: np.ndarray | None = None
    axes: tuple[Axis, ...] = ()
    unit: str = ""
    convention: str = ""
    tau_int: float | None = None
    note: str = ""
    disagreement: float | None = None
    kurtosis: float | None = None
    bias: np.ndarray | None = None
    tau_int_error: float | None = None
    chi2: float | None = None
    dof: int | None = None
    p: float | None = None
    gamma: GammaErrors | None = None
    bins: str = ""
    others: dict[str, np.ndarray] | None = None
    places: np.ndarray | None = None

    def __post_init__(self):
        self.mean = np.asarray(self.mean)
        self.error = np.asarray(self.error)
        if self.error.shape != self.mean.shape:
            raise ValueError(f"{self.name}: error has shape {self.error.shape}, mean {self.mean.shape}")
        if self.axes and tuple(len(axis.values) for axis in self.axes) != self.mean.shape:
            lengths = {axis.name: len(axis.values) for axis in self.axes}
            raise ValueError(f"{self.name}: axes {lengths} do not describe an array of shape {self.mean.shape}")

    @property
    def supported(self) -> bool:
        """Whether the data support every error bar."""
        return bool(np.all(np.isfinite(self.error)))

    @property
    def fit(self) -> str:
        """Quality of the fit that gave the value, in words; empty if there was none."""
        if self.chi2 is None:
            return ""
        if not self.dof:
            return "as many parameters as points"
        return f"chi^2/dof = {self.chi2:.3g}/{self.dof:.0f}, p = {format_number(self.p, '.2g')}"

    def pick(self, **index: int) -> Estimate:
        """Return the estimate at the given position(s) along named axes: ``g.pick(K=0)`` keeps the other axes."""
        names = [axis.name for axis in self.axes]
        for name in index:
            if name not in names:
                raise KeyError(f"{self.name} has axes {names}, not {name!r}")
        return self[tuple(index.get(name, slice(None)) for name in names)]

    def to_pyerrors(self) -> pyerrors.Obs:
        """Return a pyerrors.Obs, CObs if complex, or an array of them (plaq.data.bridges)."""
        from plaq.data.bridges import to_pyerrors

        return to_pyerrors(self)

    def to_gvar(self) -> Any:
        """Return a gvar.GVar or an array of them, correlated as the estimates are (plaq.data.bridges)."""
        from plaq.data.bridges import to_gvar

        return to_gvar(self)

    def plot(self) -> Figure:
        """Return a figure: a number with its bins, curves with error bars, or a plane of means."""
        return display.estimate_drawing(self).figure()

    def __repr__(self) -> str:
        return display.estimate_line(self)

    def _repr_html_(self) -> str:
        return display.estimate_html(self)

    def __str__(self) -> str:
        if self.mean.ndim:
            shape = ", ".join(f"{axis.name}: {len(axis.values)}" for axis in self.axes) or str(self.mean.shape)
            return f"{self.name} [{shape}]"
        if np.iscomplexobj(self.mean):
            real = with_error(self.mean.real, self.error.real)
            imag = with_error(self.mean.imag, self.error.imag)
            return f"{real} + {imag} i"
        return with_error(float(self.mean), float(self.error))


def mark_bins(estimates: Iterable[Estimate], prefix: str = "") -> None:
    """Give the estimates of one run, or of one of its temperatures, the same label of their bins.

    The label depends on the jackknife values of all numbers among them, so that a run that is read from its file has
    the same one.
    """
    estimates = [estimate for estimate in estimates if estimate.jackknife is not None]
    content = hashlib.sha256()
    for estimate in estimates:
        if not estimate.mean.ndim:
            content.update(estimate.jackknife.tobytes())
    for estimate in estimates:
        estimate.bins = f"{prefix}{content.hexdigest()[:12]}"


def with_error(value: float, error: float) -> str:
    """Return ``0.883(4)``: the error in units of the last digit, two if it starts with 1; ``(?)`` if infinite."""
    if not np.isfinite(error):
        return f"{value:.4g}(?)"
    if error == 0:
        return f"{value:.12g}"
    exponent = int(np.floor(np.log10(error)))
    leading = error / 10.0**exponent
    digits = 1 if 1.95 <= leading < 9.5 else 2  # 9.7 rounds to 10, which needs two digits like 1.x does
    decimals = max(0, digits - 1 - exponent)
    if leading >= 9.5:
        decimals = max(0, -exponent)
    shown = round(error * 10**decimals)
    return f"{value:.{decimals}f}({shown})"

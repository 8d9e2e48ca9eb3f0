"""Operators, numpy functions, indices and sums of estimates, with the errors of plaq.data.propagation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from plaq.data.estimate import Estimate

ALONE = "#"  # begins the labels of errors without bins
NUMBERS = count(1)  # of sets of bins without a label


def operator(name: str) -> tuple[Callable, Callable]:
    """Return an operator by the name of the numpy function, with the estimate on its left and on its right."""
    function = getattr(np, name)
    return lambda self, other: function(self, other), lambda self, other: function(other, self)


def label_of(estimate: Estimate) -> str:
    """Return the label of its bins or, without bins, of its error; it gets one at the first call if it has none."""
    if not estimate.bins and estimate.others is None:
        estimate.bins = f"{ALONE if estimate.jackknife is None else 'bins '}{next(NUMBERS)}"
    return estimate.bins


def places_of(estimate: Estimate) -> np.ndarray:
    """Return the positions of its numbers in the array that they were taken from."""
    return np.arange(estimate.mean.size).reshape(estimate.shape) if estimate.places is None else estimate.places


class Arithmetic:
    """Operators and functions of `Estimate`, on its ``mean``, ``error``, ``jackknife`` and ``axes``."""

    __add__, __radd__ = operator("add")
    __sub__, __rsub__ = operator("subtract")
    __mul__, __rmul__ = operator("multiply")
    __truediv__, __rtruediv__ = operator("true_divide")
    __pow__, __rpow__ = operator("power")
    __matmul__, __rmatmul__ = operator("matmul")

    def __getitem__(self, index: Any) -> Estimate:
        """Return numbers by position, as of an array; axes stay where each index is of one axis."""
        take = lambda values: None if values is None else np.asarray(values)[index]
        take_all = lambda values: None if values is None else values[(slice(None), *np.index_exp[index])]
        mean = self.mean[index]
        label_of(self)  # which the result shares
        places = places_of(self) if self.others is None else None
        others = None if self.others is None else {label: take_all(values) for label, values in self.others.items()}
        return replace(self, mean=mean, error=take(self.error), jackknife=take_all(self.jackknife),
                       bias=take(self.bias), axes=self._axes_at(index), others=others, places=take(places),
                       gamma=self.gamma and self.gamma.at(index))

    def _axes_at(self, index: Any) -> tuple:
        each = list(np.index_exp[index])
        if any(entry is Ellipsis for entry in each):
            at = next(i for i, entry in enumerate(each) if entry is Ellipsis)
            each[at : at + 1] = [slice(None)] * (self.mean.ndim - len(each) + 1)
        if not self.axes or any(entry is None or np.ndim(entry) > 1 for entry in each):
            return ()
        each += [slice(None)] * (self.mean.ndim - len(each))
        if sum(np.ndim(entry) for entry in each if not isinstance(entry, slice)) > 1:  # arrays, which numpy pairs
            return ()
        return tuple(replace(axis, values=axis.values[entry]) for axis, entry in zip(self.axes, each)
                     if isinstance(entry, slice) or np.ndim(entry))

    def __array_ufunc__(self, function: np.ufunc, method: str, *operands: Any, **options: Any) -> Estimate:
        from plaq.data.expressions import apply

        known = (Arithmetic, np.ndarray, np.generic, int, float, complex)
        if not all(isinstance(operand, known) for operand in operands):
            return NotImplemented
        if method != "__call__" or options or function.nout != 1:
            return NotImplemented
        return apply(function, *operands)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        mean = np.asarray(self.mean, dtype=dtype)
        return mean.copy() if copy else mean

    def __float__(self) -> float:
        return float(self.mean)

    def __complex__(self) -> complex:
        return complex(self.mean)

    def __len__(self) -> int:
        return len(self.mean)

    def __neg__(self) -> Estimate:
        return np.negative(self)

    def __pos__(self) -> Estimate:
        return self

    def __abs__(self) -> Estimate:
        return np.absolute(self)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.mean.shape

    @property
    def ndim(self) -> int:
        return self.mean.ndim

    @property
    def real(self) -> Estimate:
        """Real part."""
        return self._by_elements(np.real)

    @property
    def imag(self) -> Estimate:
        """Imaginary part."""
        return self._by_elements(np.imag)

    def conj(self) -> Estimate:
        """Return the complex conjugate."""
        return np.conjugate(self)

    def _by_elements(self, function: Callable) -> Estimate:
        from plaq.data.expressions import apply

        return apply(function, self)

    def sum(self, *axes: str | int, axis: Any = None, dtype: Any = None, out: None = None) -> Estimate:
        """Return the sum along axes, by name or number; along all if none is given. np.sum gives `axis`."""
        return self._reduced(np.sum, axes or (() if axis is None else tuple(np.atleast_1d(axis))))

    def average(self, *axes: str | int) -> Estimate:
        """Return the mean along axes, by name or number; along all if none is given."""
        return self._reduced(np.mean, axes)

    def _reduced(self, function: Callable, axes: tuple[str | int, ...]) -> Estimate:
        from plaq.data.propagation import derive

        names = [axis.name for axis in self.axes]
        for axis in axes:
            if isinstance(axis, str) and axis not in names:
                raise KeyError(f"{self.name} has axes {names}, not {axis!r}")
        numbers = [names.index(axis) if isinstance(axis, str) else range(self.ndim)[axis] for axis in axes]
        numbers = numbers or range(self.ndim)
        along = ", ".join([self.name, *(names[i] for i in numbers if axes and names)])
        rest = tuple(axis for i, axis in enumerate(self.axes) if i not in numbers)
        return derive(lambda array: function(array, axis=tuple(numbers)), self, name=f"{function.__name__}({along})",
                      axes=rest, unit=self.unit)

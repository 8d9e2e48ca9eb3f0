"""Errors of functions of estimates, value by value through the jackknife, with all correlations.

An estimate depends on sources of noise: sets of bins, of which it has the leave-one-out values, and errors without
bins. Sources have labels. Estimates with one label are correlated as their values are; different sources are
independent, so that their squared errors add. A function is evaluated for each value of one source, with the others at
their means.

Values of a source are such that the formulas for equal bins, error^2 = (g-1)/g sum_b (v_b - average)^2 and bias =
(g-1) (average - mean), give the error and bias of the estimate, which may come from bins of unequal length or from the
scatter between chains. A source without bins has two values, mean + error and mean - error, through which errors
propagate to first order; its label begins with `ALONE`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plaq.data.arithmetic import ALONE, label_of, places_of
from plaq.data.estimate import Axis, Estimate
from plaq.data.statistics import by_parts, no_error

MOST_ALONE = 1024  # numbers with errors without bins, each of which is a source
STEP = 1 / 64  # of a difference quotient, in errors
UNDEFINED = "some of the values that the error comes from give no number"


def derive(function: Callable, *operands: Any, name: str, axes: Sequence[Axis] = (), unit: str = "",
           convention: str = "") -> Estimate:
    """Return function(means) with the error that follows from all operands; numbers and arrays are exact.

    function : any function of an array for each operand that returns one array, real or complex.
    """
    means = [operand.mean if isinstance(operand, Estimate) else operand for operand in operands]
    mean = np.asarray(function(*means))
    if not np.issubdtype(mean.dtype, np.inexact):
        raise TypeError(f"{name}: results of type {mean.dtype} have no error; compute with the array .mean")
    by_operand = [sources(operand) if isinstance(operand, Estimate) else {} for operand in operands]
    values = {}
    with np.errstate(all="ignore"):
        for label in dict.fromkeys(label for of_one in by_operand for label in of_one):
            evaluate = first_order if label.startswith(ALONE) else leave_one_out
            values[label] = evaluate(function, means, [of_one.get(label) for of_one in by_operand])
        error, bias = closed(mean, values)
        unknown = unsupported(function, operands, means, mean)
    undefined = ~np.isfinite(error) & np.isfinite(mean) & ~unknown
    notes = [operand.note for operand in operands if isinstance(operand, Estimate) and operand.note]
    note = "; ".join(dict.fromkeys(notes + [UNDEFINED] * bool(undefined.any())))
    bins = next((label for label in values if not label.startswith(ALONE)), "")
    return Estimate(name, mean, np.where(unknown | undefined, no_error(mean), error), values.pop(bins, None),
                    tuple(axes), unit, convention, note=note, bias=bias if bins else None, bins=bins, others=values)


def sources(estimate: Estimate) -> dict[str, np.ndarray]:
    """Return the values [value, ...] of all sources of noise of an estimate, by label."""
    if estimate.others is not None:
        return ({estimate.bins: estimate.jackknife} if estimate.bins else {}) | estimate.others
    label, mean = label_of(estimate), estimate.mean
    error = np.where(np.isfinite(estimate.error), estimate.error, 0).astype(np.result_type(mean, float))
    if estimate.jackknife is None:
        return alone(label, estimate, error)
    bins, average = len(estimate.jackknife), estimate.jackknife.mean(axis=0)
    deviation = np.where(np.isfinite(estimate.error) & np.isfinite(average), estimate.jackknife - average, 0)
    shift = average - mean if estimate.bias is None else estimate.bias / max(bins - 1, 1)
    without = by_parts(lambda error, size: np.where(size > 0, 0, error), error, scatter(deviation))
    return ({label: mean + np.where(np.isfinite(shift), shift, 0) + stretched(deviation, error)}
            | alone(f"{ALONE}{label}/{estimate.name}", estimate, without))


def alone(label: str, estimate: Estimate, error: np.ndarray) -> dict[str, np.ndarray]:
    """Return two values for each number with an error that no bins show, and for each of its parts if it is complex."""
    numbers = np.argwhere(error)
    if len(numbers) > MOST_ALONE:
        raise ValueError(f"{estimate.name}: {len(numbers)} numbers have errors without jackknife values; at most "
                         f"{MOST_ALONE} such numbers can be computed with: take the needed elements first")
    found, places = {}, places_of(estimate)
    for at in map(tuple, numbers):
        for part, size in (("", error[at].real), (" i", 1j * error[at].imag)):
            if size:
                change = np.zeros_like(error)
                change[at] = size
                found[f"{label}[{places[at]}]{part}"] = estimate.mean + np.array([change, -change])
    return found


def leave_one_out(function: Callable, means: Sequence, of_source: Sequence[np.ndarray | None]) -> np.ndarray:
    """Return the values of a function from those of one set of bins; operands without it are None there."""
    bins = min(len(values) for values in of_source if values is not None)
    aligned = [None if values is None else rebinned(values, mean, bins) for values, mean in zip(of_source, means)]
    return np.array([function(*(mean if values is None else values[b] for mean, values in zip(means, aligned)))
                     for b in range(bins)])


def first_order(function: Callable, means: Sequence, of_source: Sequence[np.ndarray | None]) -> np.ndarray:
    """Return f + d and f - d, where d is the first-order change of the function f by one error."""
    moved = [function(*(mean if values is None else mean + sign * (values[0] - values[1]) / 2
                        for mean, values in zip(means, of_source))) for sign in (STEP, -STEP)]
    change = (moved[0] - np.asarray(moved[1])) / (2 * STEP)
    return function(*means) + np.array([change, -change])


def rebinned(values: np.ndarray, mean: np.ndarray, bins: int) -> np.ndarray:
    """Return the values of fewer, longer bins of the same run, which have the same error and bias.

    Without a long bin the deviation is the sum of those without the bins inside it, up to a factor that is the same
    for all; bins that it overlaps with in part enter by that part.
    """
    if len(values) == bins:
        return values
    before, after = np.linspace(0, 1, len(values) + 1), np.linspace(0, 1, bins + 1)[:, None]
    overlap = np.maximum(np.minimum(after[1:], before[1:]) - np.maximum(after[:-1], before[:-1]), 0)
    average = values.mean(axis=0)
    deviation = np.tensordot(overlap, values - average, axes=1)
    shift = (average - mean) * (len(values) - 1) / max(bins - 1, 1)
    return mean + shift + stretched(deviation, scatter(values - average))


def scatter(deviation: np.ndarray) -> np.ndarray:
    """Return the jackknife error of deviations [bin, ...] from the average, real and imaginary parts apart."""
    return by_parts(lambda part: np.sqrt((len(part) - 1) / len(part) * np.sum(part**2, axis=0)), deviation)


def stretched(deviation: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return deviations [bin, ...] with a factor for each number that gives this error; zeros stay zeros."""
    def stretch(part: np.ndarray, error: np.ndarray) -> np.ndarray:
        size = scatter(part)
        return part * np.where(size > 0, error / np.where(size > 0, size, 1), 1)
    return by_parts(stretch, deviation, error)


def closed(mean: np.ndarray, values: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return error and bias from the values of all sources."""
    square, bias = np.zeros_like(mean), np.zeros_like(mean)
    for label, of_source in values.items():
        average = of_source.mean(axis=0)
        square = square + by_parts(np.square, scatter(of_source - average))
        if not label.startswith(ALONE):
            bias = bias + (len(of_source) - 1) * (average - mean)
    return by_parts(np.sqrt, square), bias


def unsupported(function: Callable, operands: Sequence, means: Sequence, mean: np.ndarray) -> np.ndarray:
    """Return flags of the results that change with a number whose error is not known."""
    moved, any_unknown = [], False
    for operand, value in zip(operands, means):
        unknown = ~np.isfinite(operand.error) if isinstance(operand, Estimate) else np.array(False)
        any_unknown |= bool(unknown.any())
        irregular = 1 + np.modf(0.618 * np.arange(np.size(value)))[0].reshape(np.shape(value))  # for sums to change
        moved.append(np.where(unknown, value + 0.01 * irregular * (np.abs(value) + 1e-3), value))
    return function(*moved) != mean if any_unknown else np.zeros(mean.shape, bool)

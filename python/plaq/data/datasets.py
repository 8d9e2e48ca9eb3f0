"""Results as an xarray.Dataset: quantities by name, with errors beside them and the names of axes.

An axis of vectors is labelled by the vectors in words, and has coordinates ``<axis>_x`` and ``<axis>_y``. An axis that
differs from temperature to temperature, as frequencies do, or moves with time, is a dimension ``<axis>_index`` with the
coordinate ``<axis>`` [T or time, index]. Axes of one name that differ between quantities are numbered: ``time_2``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.formatting import vector
from plaq.data.optional import package
from plaq.data.recorded import Recorded

if TYPE_CHECKING:
    from xarray import Dataset

COMPONENTS = "xyz"
Quantity = Estimate | Recorded


class Coordinates:
    """Coordinates of a dataset by name, as (dimensions, values, attributes); equal ones are shared."""

    def __init__(self):
        self.by_name: dict[str, tuple[tuple[str, ...], np.ndarray, dict[str, str]]] = {}

    def add(self, name: str, along: tuple[str, ...], values: np.ndarray, unit: str) -> tuple[str, str]:
        """Add a coordinate; return its name, and that of its last dimension, numbered if others have them already."""
        for suffix in ("", *(f"_{number}" for number in range(2, len(self.by_name) + 3))):
            dimensions = (*along[:-1], along[-1] + suffix)
            there = self.by_name.setdefault(name + suffix, (dimensions, values, {"units": unit} if unit else {}))
            if there[0] == dimensions and np.array_equal(there[1], values, equal_nan=values.dtype.kind == "f"):
                return name + suffix, dimensions[-1]
        raise AssertionError(name)

    def dimension(self, axis: Axis, is_record: bool, first: str) -> str:
        """Return the dimension of an axis that is the same everywhere; ``first`` is that which it may move with."""
        values = np.asarray(axis.values)
        if values.ndim == 1:
            return self.add(axis.name, (axis.name,), values, axis.unit)[1]
        if is_record:
            return self.add(axis.name, (first, f"{axis.name}_index"), values, axis.unit)[1]
        labels = np.array([vector(entry, axis.unit) for entry in values])
        name, dimension = self.add(axis.name, (axis.name,), labels, "")
        for component, column in zip(COMPONENTS, values.T):
            self.add(f"{name}_{component}", (dimension,), column, axis.unit)
        return dimension


def dataset(quantities: Mapping[str, Quantity]) -> Dataset:
    """Return quantities by name as a dataset; an estimate has ``<name>_error`` beside it."""
    coordinates, variables = Coordinates(), {}
    for name, quantity in quantities.items():
        is_record = isinstance(quantity, Recorded)
        dimensions: list[str] = []
        for axis in quantity.axes:
            dimensions.append(coordinates.dimension(axis, is_record, dimensions[0] if dimensions else ""))
        values = [quantity.values] if is_record else [quantity.mean, quantity.error]
        add_variables(variables, name, tuple(dimensions), values, [quantity])
    return package("xarray").Dataset(variables, coordinates.by_name)


def dataset_along(axis: Axis, beside: Mapping[str, tuple[np.ndarray, str]],
                  estimates: Sequence[Mapping[str, Estimate]]) -> Dataset:
    """Return estimates by name for each place on an axis; where there is none, or its own axis ends, values are nan.

    ``beside`` has further coordinates along the axis by name, as (values, unit).
    """
    coordinates, variables = Coordinates(), {}
    coordinates.add(axis.name, (axis.name,), np.asarray(axis.values), axis.unit)
    for name, (values, unit) in beside.items():
        coordinates.add(name, (axis.name,), np.asarray(values), unit)
    for name in dict.fromkeys(name for of_place in estimates for name in of_place):
        found = {i: of_place[name] for i, of_place in enumerate(estimates) if name in of_place}
        shape = np.max([e.shape for e in found.values()], axis=0).astype(int).tolist()
        dimensions = [axis.name]
        for number, length in enumerate(shape):
            axes = {i: e.axes[number] for i, e in found.items()}
            one = max(axes.values(), key=lambda axis: len(axis.values))
            if all(np.array_equal(other.values, one.values[: len(other.values)]) for other in axes.values()):
                dimensions.append(coordinates.dimension(one, False, ""))
            else:
                values = stacked({i: np.asarray(a.values, float) for i, a in axes.items()}, len(estimates), [length])
                dimensions.append(coordinates.add(one.name, (axis.name, f"{one.name}_index"), values, one.unit)[1])
        parts = [stacked({i: getattr(e, part) for i, e in found.items()}, len(estimates), shape)
                 for part in ("mean", "error")]
        add_variables(variables, name, tuple(dimensions), parts, list(found.values()))
    return package("xarray").Dataset(variables, coordinates.by_name)


def stacked(values: Mapping[int, np.ndarray], places: int, shape: Sequence[int]) -> np.ndarray:
    """Return arrays by place in one array [place, ...], nan where there is nothing."""
    whole = np.full((places, *shape), np.nan, np.result_type(float, *(array.dtype for array in values.values())))
    for place, array in values.items():
        whole[(place, *map(slice, array.shape))] = array
    return whole


def add_variables(variables: dict, name: str, dimensions: tuple[str, ...], values: Sequence[np.ndarray],
                  quantities: Sequence[Quantity]) -> None:
    """Add values, and errors if there are any, with unit, formula and notes as attributes."""
    one = quantities[0]
    notes = "; ".join(dict.fromkeys(quantity.note for quantity in quantities if quantity.note))
    for suffix, array, formula in zip(("", "_error"), values, (one.convention, f"error of {name}")):
        attributes = {"units": one.unit, "long_name": formula, "note": notes}
        variables[name + suffix] = (dimensions, array, {key: text for key, text in attributes.items() if text})

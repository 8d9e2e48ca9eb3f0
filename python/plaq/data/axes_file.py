"""Axes of an array in HDF5, as dimension scales, so that other programs know the array's dimensions by name.

An axis of numbers or texts is a dataset with its name, the values along it, and the attribute ``unit``. An axis of
vectors, as momenta, has the numbers 0, 1, ... there, and the components in ``<name>_x``, ``<name>_y`` and ``<name>_z``.
An axis of a record that moves with its first one has the values [first axis, along it] in ``<name>_of_<first>``.
Leave-one-out values have the scale ``bin``.
"""

from __future__ import annotations

from collections.abc import Sequence

import h5py
import numpy as np

from plaq.data.estimate import Axis

ARRAYS = ("mean", "error", "bias", "values")
BIN = "bin"
COMPONENTS = "xyz"
OF_SCALES = ("CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST")  # attributes that HDF5 writes for them


def write_axes(group: h5py.Group, axes: Sequence[Axis]) -> None:
    """Write the axes of the arrays that are in the group, and name the dimensions of these."""
    names = [axis.name for axis in axes]
    group.attrs["axes"] = names or h5py.Empty(h5py.string_dtype())
    for axis in axes:
        values = np.asarray(axis.values)
        if values.ndim == 1:
            texts = values.dtype.kind == "U"
            group.create_dataset(axis.name, data=values.astype(object) if texts else values,
                                 dtype=h5py.string_dtype() if texts else None)
        elif "values" in group:
            group[axis.name] = np.arange(axis.size)
            group[f"{axis.name}_of_{names[0]}"] = values
        else:
            group[axis.name] = np.arange(len(values))
            for component, column in zip(COMPONENTS, values.T):
                group[f"{axis.name}_{component}"] = column
        group[axis.name].attrs["unit"] = axis.unit
    if "jackknife" in group:
        group[BIN] = np.arange(len(group["jackknife"]))
    name_dimensions(group)


def name_dimensions(group: h5py.Group) -> None:
    """Make the axes of a group the scales of its arrays, in place of those that a copy has brought along."""
    for item in group.values():
        for attribute in set(OF_SCALES) & set(item.attrs):
            del item.attrs[attribute]
    names = axis_names(group)
    dimensions = {array: names for array in ARRAYS if array in group}
    if BIN in group:
        dimensions["jackknife"] = [BIN, *names]
    beside = {f"{name}_{component}": [name] for name in names for component in COMPONENTS}
    beside |= {f"{name}_of_{names[0]}": [names[0], name] for name in names}
    beside = {array: along for array, along in beside.items() if array in group}
    for name in [*names, *([BIN] if BIN in group else [])]:
        group[name].make_scale(name)
    for array, along in (dimensions | beside).items():
        for dimension, name in zip(group[array].dims, along):
            dimension.attach_scale(group[name])
        if beside and array in dimensions:
            group[array].attrs["coordinates"] = " ".join(beside)  # as netCDF names further coordinates


def read_axes(group: h5py.Group) -> tuple[Axis, ...]:
    """Return the axes of the arrays in a group, of a file of version 2 too."""
    names = axis_names(group)
    if names and f"axis_{names[0]}" in group:
        return tuple(Axis(name, group[f"axis_{name}"][()], group[f"axis_{name}"].attrs["unit"]) for name in names)
    axes = []
    for name in names:
        texts = h5py.check_string_dtype(group[name].dtype)
        values = group[name].asstr()[()].astype(str) if texts else group[name][()]
        if f"{name}_of_{names[0]}" in group:
            values = group[f"{name}_of_{names[0]}"][()]
        elif f"{name}_{COMPONENTS[0]}" in group:
            columns = [group[f"{name}_{component}"][()] for component in COMPONENTS if f"{name}_{component}" in group]
            values = np.stack(columns, axis=-1)
        axes.append(Axis(name, values, group[name].attrs["unit"]))
    return tuple(axes)


def axis_names(group: h5py.Group) -> list[str]:
    names = group.attrs["axes"]
    return [] if isinstance(names, h5py.Empty) else [str(name) for name in names]

"""Series as observables of pyerrors, with all their measurements, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plaq.data.optional import package
from plaq.errors import InputError
from plaq.lqcd.analysis.averages import split


def to_observables(series: np.ndarray, ensemble: str, replicas: Sequence[int] = (),
                   numbers: Sequence[int] | None = None) -> Any:
    """Return a pyerrors.Obs of a real series [configuration], or an array of them of one [configuration, ...].

    Chains have the names ``ensemble|r1``, ... ; numbers : those of the configurations, by default 1, 2, ... in each
    chain. ImportError in one line without pyerrors.
    """
    pyerrors = package("pyerrors")
    parts = split(np.asarray(series, float), replicas)
    counted = ([np.arange(1, len(part) + 1) for part in parts] if numbers is None
               else split(np.asarray(numbers), replicas))
    names = [f"{ensemble}|r{i}" for i in range(1, len(parts) + 1)] if len(parts) > 1 else [ensemble]
    found = np.empty(parts[0].shape[1:], dtype=object)
    for at in np.ndindex(found.shape):
        found[at] = pyerrors.Obs([part[(slice(None), *at)] for part in parts], names,
                                 idl=[[int(n) for n in those] for those in counted])
    return found[()]


def from_observables(observables: Any) -> tuple[np.ndarray, list[int]]:
    """Return (series [configuration, ...], measurements of each chain) of a pyerrors.Obs, or of an array of them.

    Of a derived observable the series has its first-order changes around the value. InputError for observables of
    several ensembles, of covariances, or of different configurations.
    """
    array = np.asarray(observables, dtype=object)
    first = array.flat[0]
    if len(first.e_names) != 1 or first.cov_names:
        raise InputError("observables of one ensemble make a series, not those of "
                         f"{', '.join(map(str, first.e_names))}")
    chains = sorted(first.names)
    for one in array.flat:
        if sorted(one.names) != chains or any(list(one.idl[name]) != list(first.idl[name]) for name in chains):
            raise InputError("observables with different configurations make no common series")
    columns = [np.concatenate([one.deltas[name] + one.r_values[name] for name in chains]) for one in array.flat]
    series = np.stack(columns, axis=-1).reshape(-1, *array.shape)
    return series, [first.shape[name] for name in chains]

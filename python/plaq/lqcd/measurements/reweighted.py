"""Averages with reweighting factors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaq.data.estimate import Estimate
from plaq.data.recorded import Recorded
from plaq.lqcd.analysis.averages import average


def factors(logarithms: np.ndarray) -> np.ndarray:
    """Return [configuration]: means over the sources of [configuration, source], over their average."""
    means = np.exp(logarithms - logarithms.max()).mean(axis=1)
    return means / means.mean()


def reweighting_estimates(table: Any, series: Mapping[str, Recorded]) -> tuple[dict[str, Estimate], list[str]]:
    """Return the scatter of the factors and the reweighted plaquette of a table [reweighting.NAME], and sentences."""
    w, plaquette = factors(series["log_factor"].values), series["plaquette"].values
    results = {
        "plaquette": average("plaquette", np.stack([w * plaquette, w], axis=1), lambda mean: mean[0] / mean[1],
                             convention="Re tr P / 3, reweighted: <P w> / <w>"),
        "variance": average("variance", np.stack([w**2, w], axis=1), lambda mean: mean[0] / mean[1]**2 - 1,
                            convention="of the factors over their squared mean, <w^2> / <w>^2 - 1"),
    }
    return results, [f"factors from {w.min():.3g} to {w.max():.3g} of their mean, relative variance "
                     f"{results['variance']}", f"reweighted plaquette = {results['plaquette']}"]

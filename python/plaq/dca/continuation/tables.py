"""Tables of spectra, for the terminal, the report and notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plaq.data.estimate import with_error
from plaq.data.formatting import format_number, momentum
from plaq.data.page import table
from plaq.dca.continuation.one_function import is_fit
from plaq.dca.continuation.spectra import SpectralPoint
from plaq.dca.units import over

if TYPE_CHECKING:
    from plaq.dca.continuation.run_spectra import Spectra

HEIGHT = 0.05  # of the largest value: a lower maximum is no peak


def spectrum_rows(spectra: Spectra) -> list[tuple[str, ...]]:
    """Return rows: T, K, A(K, 0), peaks below and above 0, weight below 0, chi2/data, verdict."""
    return [row for point in spectra.points for row in point_rows(point)]


def point_rows(point: SpectralPoint) -> list[tuple[str, ...]]:
    A, omega = point.estimates["A"], point.omega
    weights = np.gradient(omega)
    fits: dict[str, list[dict]] = {}
    for row in point.fits:
        if row["function"].split()[0] == "G" and row["main"]:
            fits.setdefault(row["momentum"], []).append(row)
    rows = []
    for k in np.unique(point.representatives):
        name, values = momentum(A.axes[0].values[k]), A.mean[k]
        middle = len(omega) // 2
        fit = max(fits[name], key=lambda row: row["chi2"] / row["data"])  # the worst of all orbitals
        below = values[:middle] @ weights[:middle] + 0.5 * values[middle] * weights[middle]
        verdict = "fits" if all(is_fit(row["chi2"], row["data"]) for row in fits[name]) else "DOES NOT FIT"
        rows.append((f"{point.T:g}", name, with_error(values[middle], A.error[k, middle]),
                     peak(omega, values, omega < 0), peak(omega, values, omega > 0), f"{below:.4f}",
                     f"{fit['chi2']:.1f}/{fit['data']}", verdict))
    return rows


def peak(omega: np.ndarray, values: np.ndarray, side: np.ndarray) -> str:
    """Return the position of the highest maximum on one side of 0; empty if there is none."""
    maximum = np.zeros(len(values), dtype=bool)
    maximum[1:-1] = (values[1:-1] >= values[:-2]) & (values[1:-1] > values[2:])
    maximum &= side & (values > HEIGHT * values.max())
    return f"{omega[maximum][np.argmax(values[maximum])]:.2f}" if maximum.any() else ""


def heads(unit: str) -> list[str]:
    """Return the headings of `spectrum_rows`."""
    return [over("T", unit), "K", "A(K,0)", "peak below", "peak above", "weight below", "χ²/data", "verdict"]


def spectrum_table(spectra: Spectra) -> str:
    """Return the table of peaks and weights as HTML."""
    rows = spectrum_rows(spectra)
    return table(heads(spectra.unit), rows, failed={i for i, row in enumerate(rows) if row[-1] != "fits"})


def fit_table(spectra: Spectra) -> str:
    """Return the table of chi2 of all functions and methods as HTML."""
    rows = [(f"{point.T:g}", row["function"], row["momentum"], row["method"], format_number(row["chi2"], ".1f"),
             str(row["data"]), str(row["groups"]), f"{row['shrinkage']:g}",
             row["why"] or ("fits" if is_fit(row["chi2"], row["data"]) else "does not fit"))
            for point in spectra.points for row in point.fits]
    head = [over("T", spectra.unit), "function", "K", "method", "χ²", "data", "groups", "shrinkage", "verdict"]
    return table(head, rows, failed={i for i, row in enumerate(rows) if row[-1] != "fits"})

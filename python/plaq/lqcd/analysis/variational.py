r"""Generalised eigenvalue problem for matrices of correlators (Blossier et al., arXiv:0902.1265).

$C(t)\,v_n = \lambda_n(t, t_0)\,C(t_0)\,v_n$ has $\lambda_n = e^{-E_n(t - t_0)}$ up to corrections of order
$e^{-(E_{N+1} - E_n)t}$ for $t_0 \ge t/2$, so $E_n(t) = \ln\lambda_n(t)/\lambda_n(t+1)$.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from plaq.data.estimate import Axis, Estimate
from plaq.errors import InputError
from plaq.lqcd.analysis.averages import average


def symmetric(matrices: np.ndarray) -> np.ndarray:
    """Return the hermitian parts of matrices [..., n, n]."""
    return (matrices + matrices.conj().swapaxes(-1, -2)) / 2


def solve_gevp(matrices: np.ndarray, t0: int) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues [t, n], from the largest down, and vectors [t, component, n] with v^+ C(t0) v = 1.

    matrices : C [t, n, n], hermitian parts of which are taken. Those of times at which there is no solution are nan.
    InputError if C(t0) is not positive definite.
    """
    C = symmetric(matrices)
    if not np.linalg.eigvalsh(C[t0]).min() > 0:
        raise InputError(f"C(t0) at t0 = {t0} is not positive definite: take another t0, or fewer operators")
    values, vectors = np.full(C.shape[:2], np.nan), np.full(C.shape, np.nan, C.dtype)
    for t in range(len(C)):
        if np.isfinite(C[t]).all():
            found, v = scipy.linalg.eigh(C[t], C[t0])
            values[t], vectors[t] = found[::-1], v[:, ::-1]
    return values, vectors


def principal_correlators(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return v_n^+ C(t) v_n, [..., t, n], with the same vectors [component, n] at all times."""
    return np.einsum("in,...tij,jn->...tn", vectors.conj(), symmetric(matrices), vectors).real


def optimal_correlators(series: np.ndarray, t0: int, reference: int) -> np.ndarray:
    """Return correlators [configuration, t, n] of the operators that the vectors at t = ``reference`` define.

    series : [configuration, t, n, n]. Each of them is dominated by one state, and can be fitted like any correlator
    (`fit_correlator`). The vectors come from the average; that they fluctuate changes energies in second order.
    """
    _, vectors = solve_gevp(series.mean(axis=0), t0)
    if not t0 < reference < series.shape[1]:
        raise InputError(f"the reference time {reference} is not between t0 = {t0} and {series.shape[1]}")
    return principal_correlators(series, vectors[reference])


def gevp_energies(name: str, series: np.ndarray, t0: int, *, reference: int | None = None,
                  replicas: Sequence[int] | None = None) -> Estimate:
    """Return energies [t, state] in 1/a, for t0 < t < T/2, from series [configuration, T, n, n].

    With ``reference``, states are followed from the vectors there by their largest overlap; by default they are sorted
    by eigenvalues at each time.
    """
    half = series.shape[1] // 2
    if not 0 <= t0 < half - 1:
        raise InputError(f"t0 = {t0} is not allowed: 0 <= t0 < T/2 - 1 = {half - 1}")
    times = np.arange(t0 + 1, half)
    _, vectors = solve_gevp(series.mean(axis=0)[:half + 1], t0)

    def energies(C: np.ndarray) -> np.ndarray:
        try:
            values, v = solve_gevp(C[:half + 1], t0)
        except InputError:
            return np.full((len(times), C.shape[-1]), np.nan)
        if reference is not None:
            values = np.stack([values[t, follow(vectors[reference], v[t], C[t0])] for t in range(len(values))])
        with np.errstate(all="ignore"):
            return np.log(values[times] / values[times + 1])

    return average(name, series, energies, replicas, unit="1/a",
                   axes=[Axis("t", times, "a"), Axis("state", np.arange(series.shape[-1]))],
                   convention=f"ln lambda(t, t0) / lambda(t + 1, t0), t0 = {t0}")


def follow(reference: np.ndarray, vectors: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """Return the order of vectors [component, n] by their overlaps with those of reference, each taken once."""
    if not np.isfinite(vectors).all():
        return np.arange(vectors.shape[1])
    overlap, order = np.abs(reference.conj().T @ symmetric(metric) @ vectors), []
    for row in overlap:
        row[order] = -1
        order.append(int(np.argmax(row)))
    return np.array(order)

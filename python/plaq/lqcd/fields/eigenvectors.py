r"""Eigenvectors of $\hat M^+\hat M$ on odd sites, and solves that begin from them.

Thick-restart Lanczos (Wu and Simon, SIAM J. Matrix Anal. Appl. 22, 602 (2000)) for a Chebyshev polynomial of the
operator, which is large below a given number and small above it. All sums over sites are exact, so the bits do not
depend on ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic

import numpy as np

from plaq.errors import RunError
from plaq.lqcd.fields.linear_operator import LinearOperator, Vector


@dataclass(frozen=True)
class Eigenvectors(Generic[Vector]):
    r"""Orthonormal ``vectors`` of eigenvalues ``values``, ascending, of a hermitian N such as $\hat M^+\hat M$.

    ``residuals`` are $|N v - \lambda v|$.
    """

    values: np.ndarray
    vectors: list[Vector]
    residuals: np.ndarray

    def inverse(self, phi: Vector) -> Vector:
        r"""Return $\sum_k v_k (v_k, \phi) / \lambda_k$, the part of $N^{-1}\phi$ in their space. Collective."""
        out = phi.like()
        for value, v in zip(self.values, self.vectors):
            out.add(v, v.dot(phi) / value)
        return out


def lanczos(apply: Callable[[Vector], Vector], start: Vector, count: int, size: int, residual: float,
            restarts: int) -> tuple[np.ndarray, list[Vector], np.ndarray]:
    """Return (values, vectors, residuals) of the ``count`` largest eigenvalues of a hermitian operator.

    size : vectors of the Krylov space. residual : of each pair over the largest eigenvalue, at which restarts end.
    RunError if ``restarts`` do not reach it. Collective.
    """
    basis = [start.copy().scale(1 / math.sqrt(start.norm2()))]
    projected = np.zeros((size, size), complex)
    kept = 0
    for _ in range(restarts):
        left = None
        for j in range(kept, size):
            left = apply(basis[j])
            projected[:len(basis), j] += orthogonalise(left, basis)
            norm = math.sqrt(left.norm2())
            if j + 1 < size:
                basis.append(left.scale(1 / norm))
        values, rotation = np.linalg.eigh(_from_upper(projected))
        values, rotation = values[::-1], rotation[:, ::-1]
        residuals = norm * np.abs(rotation[-1])
        if (residuals[:count] <= residual * abs(values[0])).all():
            return values[:count], _rotate(basis, rotation[:, :count]), residuals[:count]
        kept = min(count + (size - count) // 2, size - 1)
        basis = [*_rotate(basis, rotation[:, :kept]), left.scale(1 / norm)]
        projected = np.zeros((size, size), complex)
        projected[np.arange(kept), np.arange(kept)] = values[:kept]
    raise RunError(f"Lanczos has not found {count} eigenvectors in {restarts} restarts of {size} vectors: the largest "
                   f"residual is {residuals[:count].max() / abs(values[0]):.2g}, not {residual:.2g}")


def orthogonalise(left: Vector, basis: list[Vector]) -> np.ndarray:
    """Subtract the part of a vector in the space of orthonormal ones, and return its components."""
    components = np.zeros(len(basis), complex)
    for _ in range(2):  # twice is enough (Kahan and Parlett)
        for i, v in enumerate(basis):
            overlap = v.dot(left)
            components[i] += overlap
            left.add(v, -overlap)
    return components


def _from_upper(projected: np.ndarray) -> np.ndarray:
    """Return the hermitian matrix of the triangle above the diagonal, and of the diagonal."""
    upper = np.triu(projected, 1)
    return upper + upper.conj().T + np.diag(projected.diagonal().real)


def _rotate(basis: list[Vector], rotation: np.ndarray) -> list[Vector]:
    """Return sums of the basis with the columns of a matrix."""
    out = []
    for column in rotation.T:
        sum_ = basis[0].like()
        for factor, v in zip(column, basis):
            sum_.add(v, factor)
        out.append(sum_)
    return out


def lowest_eigenvectors(matrix: LinearOperator[Vector], count: int, *, above: float | None = None, degree: int = 20,
                        size: int | None = None, residual: float = 1e-8, restarts: int = 100,
                        seed: int = 1) -> Eigenvectors[Vector]:
    r"""Return the ``count`` smallest eigenvalues of $\hat M^+\hat M$ with their vectors.

    above : the polynomial is small between this number, somewhat larger than the eigenvalues in question, and the
    largest eigenvalue; by default a tenth of the latter. degree : of the polynomial. size : of the Krylov space.
    residual : $|N v - \lambda v|$ over the largest eigenvalue. Collective. RunError if it is not reached.
    """
    start = matrix.zeros(odd=True).pseudofermion(seed, 0, 0)
    return smallest_of(matrix.normal, start, count, 1.05 * extreme_eigenvalue(matrix), above=above, degree=degree,
                       size=size, residual=residual, restarts=restarts)


def smallest_of(normal: Callable[[Vector], Vector], start: Vector, count: int, largest: float, *,
                above: float | None = None, degree: int = 20, size: int | None = None, residual: float = 1e-8,
                restarts: int = 100) -> Eigenvectors[Vector]:
    r"""Return `lowest_eigenvectors` of any N whose eigenvalues are not below 0, nor above ``largest``.

    They are in the space that N makes of ``start``. Collective. RunError as there.
    """
    low = largest / 10 if above is None else above
    size = size or 2 * count + 20
    while True:
        tolerance = residual / degree
        _, vectors, _ = lanczos(_filter(normal, degree, low, largest), start, count, size, tolerance, restarts)
        found = diagonalise(vectors, normal)
        if found.values[-1] < low or degree == 1:
            return found
        low = 1.5 * float(found.values[-1])  # those above the first number may not be the smallest
        degree = degree if low < largest / 2 else 1


def _filter(normal: Callable[[Vector], Vector], degree: int, low: float,
            largest: float) -> Callable[[Vector], Vector]:
    """Return T_n(x), x = -1 ... 1 of the numbers from low to largest, of an operator; falling if n = 1."""

    def filtered(psi: Vector) -> Vector:
        scale, shift = 2 / (largest - low), (largest + low) / (largest - low)
        step = lambda v: normal(v).scale(scale).add(v, -shift)
        before, now = psi, step(psi)
        for _ in range(degree - 1):
            before, now = now, step(now).scale(2.0).add(before, -1.0)
        return now if degree % 2 == 0 else now.scale(-1.0)

    return filtered


def diagonalise(vectors: list[Vector], apply: Callable[[Vector], Vector]) -> Eigenvectors[Vector]:
    """Return the eigenvectors of a hermitian operator in the space of orthonormal vectors. Collective."""
    images = [apply(v) for v in vectors]
    small = np.array([[v.dot(image) for image in images] for v in vectors])
    values, rotation = np.linalg.eigh(_from_upper(small))
    vectors, images = _rotate(vectors, rotation), _rotate(images, rotation)
    residuals = np.array([math.sqrt(image.copy().add(v, -value).norm2())
                          for image, v, value in zip(images, vectors, values)])
    return Eigenvectors(values, vectors, residuals)


def extreme_eigenvalue(matrix: LinearOperator[Vector], residual: float = 1e-3, seed: int = 1) -> float:
    r"""Return the largest eigenvalue of $\hat M^+\hat M$ to about ``residual``$^2$ of itself. Collective."""
    return largest_of(matrix.normal, matrix.zeros(odd=True).pseudofermion(seed, 0, 1), residual)


def largest_of(normal: Callable[[Vector], Vector], start: Vector, residual: float = 1e-3) -> float:
    """Return `extreme_eigenvalue` of any N. Collective."""
    values, *_ = lanczos(normal, start, 1, 24, residual, 60)
    return float(values[0])


def extreme_eigenvalues(matrix: LinearOperator[Vector]) -> tuple[float, float]:
    r"""Return the smallest and the largest eigenvalue of $\hat M^+\hat M$ on odd sites. Collective."""
    found = lowest_eigenvectors(matrix, 1, size=24, residual=1e-5, restarts=200)
    return float(found.values[0]), extreme_eigenvalue(matrix)

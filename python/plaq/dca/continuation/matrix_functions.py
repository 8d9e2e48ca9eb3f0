"""Continuation of a function with orbitals: its spectral matrix S_ab(omega), which is Hermitian and positive.

f_ab(iw) = int S_ab(x)/(iw - x) dx. For every vector u the function u+ f u has the positive spectrum u+ S u. In the
basis of the eigenvectors of f at the lowest frequency, the modes i, off-diagonal elements are small, and zero where
symmetry alone makes the modes, as for bonding and antibonding orbitals. Continued are

    u = e_i                       S_ii
    u = (e_i +- e_j)/sqrt 2       half their difference is Re S_ij
    u = (e_i +- i e_j)/sqrt 2     half their difference is -Im S_ij

where f_ij has such a part. Each is continued by itself, so that S has the integrals of the data, and may have a small
negative eigenvalue at some frequencies. Where the diagonal is the result, as of G, orbitals are taken in place of
modes. Functions that symmetry makes equal are continued once.

Source: Tomczak, Biermann, J. Phys.: Condens. Matter 19, 365206 (2007), for sums of elements.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plaq.data.propagation import scatter, stretched
from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.one_function import NORM_ERROR, Choice, Continued, Matsubara, continued

NEGLIGIBLE = 1e-9  # of the largest element: smaller ones are zero
LEAST_VARIANCE = 1e-3  # of the Gaussian default model


@dataclass(frozen=True)
class MatrixFunction:
    """Function of Matsubara frequencies with orbitals, without its value at infinite frequency.

    omega [w] > 0; values, errors [a, b, w] complex; samples [sample, a, b, w], leave-one-out values, or None; norm [a,
    b] : integral of S, with norm_samples [sample, a, b] or None. Mean and mean square of the Gaussian default model
    are center [a, b], None for 0, and second [a, b].
    """

    omega: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    samples: np.ndarray | None
    norm: np.ndarray
    norm_samples: np.ndarray | None
    second: np.ndarray
    center: np.ndarray | None = None

    def along(self, u: np.ndarray) -> Matsubara:
        """Return the function u+ f u of a u of length 1; its norm is as uncertain as that of the samples."""
        number = lambda f: float(element(f[..., None], u)[0].real)
        norm, center = number(self.norm), 0.0 if self.center is None else number(self.center)
        variance = max(number(self.second) - center**2, LEAST_VARIANCE)
        values, samples, norm_error = element(self.values, u), None, NORM_ERROR
        errors = element(self.errors, np.abs(u))
        if self.samples is not None:
            deviations = self.samples - self.samples.mean(axis=0)
            samples = element(self.samples, u)
            errors = scatter(element(stretched(deviations, self.errors), u))  # larger where chains disagree
        if self.norm_samples is not None:
            norms = element(self.norm_samples[..., None], u)[..., 0].real
            norm_error = max(NORM_ERROR, float(scatter(norms - norms.mean(axis=0))) / norm)
        return Matsubara(self.omega, values, errors, samples, norm, center, variance, norm_error)


@dataclass(frozen=True)
class SpectralMatrix:
    """Spectral matrix [a, b, x], its samples [sample, a, b, x] or None, and the continuations that it is made of.

    found : of modes and of their sums, by name; noise : modes whose norm is negative, which are left out.
    """

    matrix: np.ndarray
    samples: np.ndarray | None
    found: dict[str, Continued]
    modes: tuple[str, ...]
    noise: tuple[str, ...] = ()

    def different(self) -> dict[str, Continued]:
        """Return the continuations, those of equal functions once."""
        return {name: one for i, (name, one) in enumerate(self.found.items())
                if not any(one is other for other in list(self.found.values())[:i])}

    def diagonal(self) -> list[dict[str, np.ndarray | None]]:
        """Return error, band of variants and other methods of each mode."""
        return [{"error": one.error, "low": one.low, "high": one.high} | one.beside
                for one in (self.found[name] for name in self.modes)]

    def trace(self, part: str) -> np.ndarray:
        """Return the sum of a part of `Continued` over the modes [x]: of the band of variants, or of another method."""
        of = [self.found[name] for name in self.modes if name in self.found]
        return sum((getattr(one, part) if part in ("low", "high") else one.beside[part] for one in of),
                   np.zeros(self.matrix.shape[-1]))


def element(f: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return u+ f u [..., w] of f [..., a, b, w]."""
    return np.einsum("a,...abw,b->...w", u.conj(), f, u)


def modes(f: np.ndarray, names: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the basis [a, i] of the modes of f [a, b, w], and their names: those of orbitals that do not mix."""
    bands, floor = len(f), NEGLIGIBLE * np.abs(f).max()
    if np.abs(f[~np.eye(bands, dtype=bool)]).max(initial=0.0) <= floor:
        return np.eye(bands), tuple(names)
    lowest = (f[..., 0] - f[..., 0].conj().T) / 2j
    vectors = np.linalg.eigh(lowest if np.abs(lowest.imag).max() > floor else lowest.real)[1]
    return vectors, tuple(f"mode {i + 1}" for i in range(bands))


def same(f: Matsubara, g: Matsubara) -> bool:
    """Return whether two functions are equal but for rounding."""
    floor = NEGLIGIBLE * np.abs(f.values).max()
    close = lambda a, b: a is b or (a is not None and b is not None and np.abs(a - b).max() <= floor)
    return bool(close(f.values, g.values) and close(f.samples, g.samples)
                and np.allclose((f.norm, f.mean, f.variance), (g.norm, g.mean, g.variance), NEGLIGIBLE, NEGLIGIBLE))


def spectral_matrix(grid: Grid, function: MatrixFunction, choice: Choice, names: Sequence[str],
                    hotter: np.ndarray | None = None, by_orbital: bool = False) -> SpectralMatrix:
    """Return the spectral matrix of a function with orbitals of these names.

    hotter [a, b, x] : that of the next higher temperature, as a default model; by_orbital : whether the modes are the
    orbitals.
    """
    basis, labels = (np.eye(len(names)), tuple(names)) if by_orbital else modes(function.values, names)
    inside = np.einsum("ai,abw,bj->ijw", basis.conj(), function.values, basis)
    floor, found, known = NEGLIGIBLE * np.abs(inside).max(), {}, []
    sizes = np.einsum("ai,ab,bi->i", basis.conj(), function.norm, basis).real
    least = NEGLIGIBLE * np.abs(sizes).max()
    present = [i for i in range(len(basis)) if sizes[i] > least]
    noise = tuple(labels[i] for i in range(len(basis)) if sizes[i] < -least)

    def spectra(name: str, u: np.ndarray, beside: bool) -> np.ndarray:
        """Continue u+ f u and return its spectra [1 + sample, x]."""
        model = None if hotter is None else np.maximum(element(hotter, u).real, 0.0)
        f = function.along(u)
        one = next((one for g, other, one in known if same(f, g) and (model is other or np.allclose(model, other))),
                   None) or continued(grid, f, choice, model, beside)
        known.append((f, model, one))
        found[name] = one
        return one.spectrum[None] if one.samples is None else np.concatenate([one.spectrum[None], one.samples])

    diagonal = {i: spectra(labels[i], basis[:, i], True) for i in present}
    count = max(map(len, diagonal.values()), default=1)
    s = np.zeros((count, len(basis), len(basis), len(grid.omega)), dtype=complex)
    for i, rows in diagonal.items():
        s[:, i, i] = rows
    for i, j in itertools.combinations(present, 2):
        parts = (inside[i, j] + inside[j, i]) / 2, (inside[i, j] - inside[j, i]) / 2j
        for factor, sign, part in zip((1, 1j), ("", "i "), parts):
            if np.abs(part).max() <= floor:
                continue
            plus, minus = (spectra(f"{labels[i]} {mark} {sign}{labels[j]}", (basis[:, i] + way * factor * basis[:, j])
                                   / np.sqrt(2), False) for mark, way in (("+", 1), ("-", -1)))
            s[:, i, j] += np.conj(factor) * (plus - minus) / 2
        s[:, j, i] = s[:, i, j].conj()
    s = np.einsum("ai,sijx,bj->sabx", basis, s, basis.conj())
    has_samples = all(one.samples is not None for one in found.values()) and len(s) > 1
    return SpectralMatrix(s[0], s[1:] if has_samples else None, found, labels, noise)

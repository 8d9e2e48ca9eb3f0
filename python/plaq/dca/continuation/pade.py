"""Padé: the mean of many rational functions G(z) = P(z)/Q(z) that fit the values at the first frequencies.

Q has the degree r and P the degree r - 1, with the leading coefficient that gives the known norm of the spectrum. The
2 r - 1 other coefficients follow by least squares, weighted by errors, from the values at M frequencies that begin with
one of the first ones. Functions whose spectrum is negative, or has another norm on the grid, are left out. The mean
is that of all r and M whose chi2, integrated back, is less than `ALIKE` times the least one, and the band their
scatter. Poles are seen at a distance of one step of the grid above the real axis.

Source: Schoett, Locht, Lundin, Granaes, Eriksson, Di Marco, Phys. Rev. B 93, 075104 (2016).
"""

from __future__ import annotations

import numpy as np

from plaq.dca.continuation.data import Whitened
from plaq.dca.continuation.kernel import Grid

DEGREES = range(1, 9)
STARTS = range(3)
NOISE = 0.3  # relative, with which a value is not used
NEGATIVE = 0.02  # of the largest value: a spectrum may be so far below 0
NORM = 0.1  # relative deviation of the norm on the grid
ALIKE = 4.0


class NoFunction(ValueError):
    """No rational function has a spectrum that may be one."""


def pade_spectrum(grid: Grid, data: Whitened, omega_n: np.ndarray, values: np.ndarray, errors: np.ndarray,
                  norm: float) -> tuple[np.ndarray, np.ndarray]:
    """Return (mean, scatter) [x] of the spectra of the rational functions; NoFunction if there is none.

    values, errors [w] complex at omega_n [w], a selection of the frequencies from the first one on.
    """
    scale = norm / np.abs(values[0])  # of frequencies, so that coefficients are of the order of 1
    good = np.hypot(errors.real, errors.imag) < NOISE * np.abs(values)
    most = len(omega_n) if good.all() else int(np.argmin(good))
    found = []
    for start in STARTS:
        for degree in DEGREES:
            for end in range(start + degree, most + 1):
                spectrum = rational(grid, omega_n[start:end], values[start:end], errors[start:end], norm, degree, scale)
                total = grid.integral(spectrum)
                if spectrum.min() >= -NEGATIVE * spectrum.max() and abs(total - norm) < NORM * norm:
                    spectrum = np.maximum(spectrum, 0.0)
                    spectrum = spectrum * norm / grid.integral(spectrum)
                    found.append((data.chi2(spectrum), spectrum))
    if not found:
        raise NoFunction("no rational function has a positive spectrum of the right norm")
    least = min(chi2 for chi2, _ in found)
    alike = [spectrum for chi2, spectrum in found if chi2 <= ALIKE * least]
    return np.mean(alike, axis=0), np.std(alike, axis=0)


def rational(grid: Grid, omega_n: np.ndarray, values: np.ndarray, errors: np.ndarray, norm: float, degree: int,
             scale: float) -> np.ndarray:
    """Return -Im P(omega)/Q(omega)/pi [x] of the rational function of one degree that fits these values."""
    z, f = 1j * omega_n / scale, values * scale
    powers = z[:, None] ** np.arange(degree + 1)
    # P - f Q = 0 with the leading coefficients norm and 1: linear in the others.
    weight = 1 / ((np.hypot(errors.real, errors.imag) * scale + 1e-7 * np.abs(f)) * np.abs(z) ** degree)
    matrix = np.hstack([powers[:, :-2] if degree > 1 else powers[:, :0], -f[:, None] * powers[:, :-1]])
    right = f * powers[:, -1] - norm * powers[:, degree - 1]
    solution = np.linalg.lstsq(matrix * weight[:, None], right * weight, rcond=1e-12)[0]
    p, q = np.append(solution[: degree - 1], norm), np.append(solution[degree - 1 :], 1.0)
    x = (grid.omega + 1j * np.gradient(grid.omega)) / scale
    spectrum = -np.imag(np.polyval(p[::-1], x) / np.polyval(q[::-1], x)) / np.pi / scale
    return np.nan_to_num(spectrum, nan=-1.0)

"""Spectra chi''(q, omega) of the susceptibilities of a temperature, at the momenta of the lattice that the run has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.formatting import momentum
from plaq.data.propagation import scatter
from plaq.data.recorded import Recorded
from plaq.dca.continuation.bosonic import dynamic, moving, why_not
from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.one_function import Choice, Continued, continued, fit_rows
from plaq.dca.physics.point import Point

NAMES = {"chi_s": "S^z", "chi_c": "density"}


def susceptibilities(point: Point, choice: Choice, grid: Grid
                     ) -> tuple[dict[str, Estimate], dict[str, Recorded], list[dict[str, Any]]]:
    """Return chi_s_imag and chi_c_imag [q, omega], their bands and other methods, and a record for each fit.

    q are the momenta of chi at which it moves; there is nothing where the run has too few bosonic frequencies, or where
    Padé is asked for, which takes no bosonic function.
    """
    estimates, recorded, fits = {}, {}, []
    for name, of in NAMES.items():
        if name not in point or why_not(point[name]) or choice.method == "pade":
            continue
        chi, window = point[name], point[f"{name}_window"]
        places = moving(chi)
        rules = replace(choice, model="gaussian", alpha="classic")
        found = [continued(grid, dynamic(chi, window, at), rules) for at in places]
        momenta = chi.axes[0].values[places]
        axes = Axis("q", momenta, "1/a"), Axis("omega", grid.omega, "t")
        label = f"chi''(q, omega) of {of} on the lattice; chi(0) = 2/pi int_0 chi''/omega domega"
        imaginary = f"{name}_imag"
        estimates[imaginary] = odd_estimate(imaginary, found, grid, axes, label)
        numbered = Axis("q", np.arange(len(places))), axes[1]
        parts = {part: [getattr(one, part) for one in found] for part in ("low", "high")}
        parts |= {method: [one.beside[method] for one in found] for method in found[0].beside}
        for part, values in parts.items():
            recorded[f"{imaginary}_{part}"] = Recorded(f"{imaginary}_{part}", odd(np.array(values), grid), numbered,
                                                       convention=f"chi''(q, omega), {part} of {choice.method}"
                                                       if part in ("low", "high") else f"chi''(q, omega) by {part}")
        for q, one in zip(momenta, found):
            fits += fit_rows(name, momentum(q), one)
    return estimates, recorded, fits


def odd(spectra: np.ndarray, grid: Grid) -> np.ndarray:
    """Return chi'' = pi omega S [..., x] of spectra S, made even."""
    return np.pi * grid.omega * (spectra + spectra[..., ::-1]) / 2


def odd_estimate(name: str, found: list[Continued], grid: Grid, axes: tuple[Axis, Axis], label: str) -> Estimate:
    """Return chi'' [q, omega] with the error by jackknife."""
    mean = odd(np.array([one.spectrum for one in found]), grid)
    if any(one.samples is None for one in found):
        return Estimate(name, mean, np.zeros_like(mean), None, axes, "1/t", label)
    samples = odd(np.stack([one.samples for one in found], axis=1), grid)
    return Estimate(name, mean, scatter(samples - samples.mean(axis=0)), samples, axes, "1/t", label)

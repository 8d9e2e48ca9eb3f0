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
from plaq.dca.continuation.one_function import Choice, continued, fit_rows
from plaq.dca.physics.point import Point

NAMES = {"chi_s": "S^z", "chi_c": "density"}
LABEL = "chi''(q, omega) of {} on the lattice; chi(0) = 2/pi int_0 chi''/omega domega"


def susceptibilities(point: Point, choice: Choice, grid: Grid
                     ) -> tuple[dict[str, Estimate], dict[str, Recorded], list[dict[str, Any]]]:
    """Return chi_s_imag and chi_c_imag [q, omega], their bands and other methods, and a record for each fit.

    Where chi is resolved by orbital there are also chi_s_imag_orbital and chi_c_imag_orbital [q, orbital, omega].

    q are the momenta of chi at which it moves; there is nothing where the run has too few bosonic frequencies, or where
    Padé is asked for, which takes no bosonic function.
    """
    estimates, recorded, fits = {}, {}, []
    rules = replace(choice, model="gaussian", alpha="classic")
    for name, of in NAMES.items():
        if name not in point or why_not(point[name]) or choice.method == "pade":
            continue
        chi, window = point[name], point[f"{name}_window"]
        places = moving(chi)
        found = [continued(grid, dynamic(chi, window, at), rules) for at in places]
        momenta = chi.axes[0].values[places]
        axes = Axis("q", momenta, "1/a"), Axis("omega", grid.omega, "t")
        imaginary = f"{name}_imag"
        estimates[imaginary] = odd_estimate(imaginary, found, grid, axes, LABEL.format(of))
        numbered = Axis("q", np.arange(len(places))), axes[1]
        parts = {part: [getattr(one, part) for one in found] for part in ("low", "high")}
        parts |= {method: [one.beside[method] for one in found] for method in found[0].beside}
        for part, values in parts.items():
            recorded[f"{imaginary}_{part}"] = Recorded(f"{imaginary}_{part}", odd(np.array(values), grid), numbered,
                                                       convention=f"chi''(q, omega), {part} of {choice.method}"
                                                       if part in ("low", "high") else f"chi''(q, omega) by {part}")
        for q, one in zip(momenta, found):
            fits += fit_rows(name, momentum(q), one)
        if f"{name}_orbital" in point:
            resolved, more = of_orbitals(point, name, grid, rules)
            estimates[resolved.name] = resolved
            fits += more
    return estimates, recorded, fits


def of_orbitals(point: Point, name: str, grid: Grid, rules: Choice) -> tuple[Estimate, list[dict[str, Any]]]:
    """Return chi''_aa [q, orbital, omega] of one susceptibility, and a record for each fit.

    The diagonal elements have positive spectra. What the frequency window adds to chi counts as a further error of each
    in proportion to its part of chi.
    """
    whole, resolved, window = point[name], point[f"{name}_orbital"], point[f"{name}_window"]
    places, names = moving(whole), resolved.axes[2].values
    found, fits = [], []
    for at in places:
        row = []
        for a, orbital in enumerate(names):
            part = replace(whole, mean=resolved.mean[..., a, a].real, error=resolved.error[..., a, a].real,
                           jackknife=None if resolved.jackknife is None else resolved.jackknife[..., a, a].real)
            share = replace(window, mean=window.mean * part.mean / whole.mean)
            row.append(continued(grid, dynamic(part, share, at), rules))
            fits += fit_rows(f"{name}_orbital", f"{momentum(whole.axes[0].values[at])} {orbital}", row[-1])
        found.append(row)
    axes = (Axis("q", whole.axes[0].values[places], "1/a"), Axis("orbital", names), Axis("omega", grid.omega, "t"))
    label = LABEL.format(f"{NAMES[name]} of an orbital with itself")
    return odd_estimate(f"{name}_imag_orbital", found, grid, axes, label), fits


def odd(spectra: np.ndarray, grid: Grid) -> np.ndarray:
    """Return chi'' = pi omega S [..., x] of spectra S, made even."""
    return np.pi * grid.omega * (spectra + spectra[..., ::-1]) / 2


def odd_estimate(name: str, found: list[Any], grid: Grid, axes: tuple[Axis, ...], label: str) -> Estimate:
    """Return chi'' [q, omega], or [q, orbital, omega] of a list for each q, with the error by jackknife."""
    nested = [one if isinstance(one, list) else [one] for one in found]
    shape = tuple(len(axis.values) for axis in axes)
    mean = odd(np.array([[one.spectrum for one in row] for row in nested]), grid).reshape(shape)
    if any(one.samples is None for row in nested for one in row):
        return Estimate(name, mean, np.zeros_like(mean), None, axes, "1/t", label)
    samples = np.stack([np.stack([one.samples for one in row], axis=1) for row in nested], axis=1)
    samples = odd(samples, grid).reshape(len(samples), *shape)
    return Estimate(name, mean, scatter(samples - samples.mean(axis=0)), samples, axes, "1/t", label)

"""Continuation of one function of Matsubara frequencies by a method, with errors, variants and the fit to the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plaq.data.propagation import scatter
from plaq.dca.continuation import maxent, pade, stochastic
from plaq.dca.continuation.bosonic import Bosonic
from plaq.dca.continuation.data import Numbers, Whitened, whitened
from plaq.dca.continuation.kernel import Grid

METHODS = ("maxent", "stochastic", "pade")
MODELS = ("flat", "gaussian", "hotter")
NORM_ERROR = 1e-4  # relative, with which a known norm is imposed
UNFIT = 5.0  # standard deviations of chi2 above the number of data


@dataclass(frozen=True)
class Choice:
    """Method and its settings: default model and rule for alpha are those of maximum entropy."""

    method: str = "maxent"
    model: str = "flat"
    alpha: str = "chi2kink"


@dataclass(frozen=True)
class Matsubara:
    """Function of Matsubara frequencies whose spectrum is positive, without its value at infinite frequency.

    omega [w] > 0; values, errors [w] complex; samples [sample, w], leave-one-out values, or None; norm : integral of
    the spectrum; mean, variance : of the spectrum, which the Gaussian default model has; norm_error : relative.
    """

    omega: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    samples: np.ndarray | None
    norm: float
    mean: float
    variance: float
    norm_error: float = NORM_ERROR

    rules = maxent.CHOICES

    def numbers(self, grid: Grid) -> Numbers:
        """Return real and imaginary parts as integrals of the spectrum."""
        real = lambda f: np.concatenate([f.real, f.imag], axis=-1)
        samples = None if self.samples is None else real(self.samples)
        return Numbers(grid.matsubara_kernel(self.omega), real(self.values), real(self.errors), samples)

    def known(self, grid: Grid) -> Numbers:
        """Return the norm."""
        return Numbers(grid.weights[None], np.array([self.norm]), np.array([self.norm_error * self.norm]), None)


@dataclass(frozen=True)
class Continued:
    """Spectrum of a function, by one choice and beside others.

    spectrum, error [x]; samples [sample, x] of the jackknife, or None; low, high [x] : band of the variants of the
    method; beside : spectra of other methods by name; chi2 : of all of them by name; data : number of components of the
    data; groups : number of samples; shrinkage : of their covariance.
    """

    choice: Choice
    spectrum: np.ndarray
    error: np.ndarray
    samples: np.ndarray | None
    low: np.ndarray
    high: np.ndarray
    beside: dict[str, np.ndarray]
    chi2: dict[str, float]
    data: int
    groups: int
    shrinkage: float
    missing: dict[str, str] = field(default_factory=dict)

    @property
    def fits(self) -> bool:
        """Whether the spectrum, integrated back, is compatible with the data."""
        return is_fit(self.chi2[self.choice.method], self.data)


def is_fit(chi2: float, size: int) -> bool:
    return chi2 <= size + UNFIT * np.sqrt(2 * size)


def fit_rows(name: str, momentum: str, one: Continued) -> list[dict[str, Any]]:
    """Return a record for each method of one function at one momentum."""
    head = {"function": name, "momentum": momentum}
    tail = {"data": one.data, "groups": one.groups, "shrinkage": one.shrinkage}
    found = [{**head, "method": method, "main": method == one.choice.method, "chi2": chi2, "why": "", **tail}
             for method, chi2 in one.chi2.items()]
    return found + [{**head, "method": method, "main": False, "chi2": np.nan, "why": why, **tail}
                    for method, why in one.missing.items()]


def continued(grid: Grid, function: Matsubara | Bosonic, choice: Choice, hotter: np.ndarray | None = None,
              beside: bool = True) -> Continued:
    """Return the spectrum of a function; ``hotter`` is that of the next higher temperature, as a default model.

    Of maximum entropy the band covers all default models and rules for alpha, of Padé the rational functions, of the
    stochastic mean nothing beside itself. With ``beside`` other methods are applied too, without errors.
    """
    data = whitened(grid, function.numbers(grid), function.norm, function.known(grid))
    models = default_models(grid, function, hotter)
    rows = [data.values, *data.samples]
    low = high = None
    if choice.method == "maxent":
        spectra, low, high = by_entropy(grid, function, data, rows, models, choice)
    elif choice.method == "stochastic":
        spectra = stochastic.stochastic_spectra(grid, data, rows)
    else:
        spectra, spread = by_pade(grid, data, function)
        low, high = np.maximum(spectra[0] - spread, 0.0), spectra[0] + spread
    spectrum, samples = spectra[0], spectra[1:] if len(spectra) > 1 else None
    error = np.zeros_like(spectrum) if samples is None else scatter(samples - samples.mean(axis=0))
    further, missing = others(grid, function, data, models, choice) if beside else ({}, {})
    chi2 = {name: data.chi2(values) for name, values in {choice.method: spectrum, **further}.items()}
    return Continued(choice, spectrum, error, samples, spectrum if low is None else low,
                     spectrum if high is None else high, further, chi2, data.size, len(data.samples), data.shrinkage,
                     missing)


def default_models(grid: Grid, function: Matsubara | Bosonic, hotter: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return the default models by name, with the norm of the spectrum."""
    models = {"flat": grid.flat(), "gaussian": grid.gaussian(function.mean, function.variance)}
    if hotter is not None:
        raised = hotter + 1e-4 * hotter.max()  # so that no frequency is excluded
        models["hotter"] = raised / grid.integral(raised)
    return {name: function.norm * model for name, model in models.items()}


def by_entropy(grid: Grid, function: Matsubara | Bosonic, data: Whitened, rows: list[np.ndarray],
               models: Mapping[str, np.ndarray], choice: Choice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return spectra [1 + sample, x] by maximum entropy, and the band over default models and rules for alpha."""
    chosen = choice.model if choice.model in models else "gaussian"  # of the hottest temperature
    solver = {name: maxent.MaxEnt(grid, data.kernel, model) for name, model in models.items()}
    variants = {(name, rule): scan.chosen(rule) for name, scan in
                ((name, solver[name].scan(data.values)) for name in models) for rule in function.rules}
    spectra = [variants[chosen, choice.alpha], *(solver[chosen].scan(row).chosen(choice.alpha) for row in rows[1:])]
    every = np.array(list(variants.values()))
    return np.array(spectra), every.min(axis=0), every.max(axis=0)


def by_pade(grid: Grid, data: Whitened, function: Matsubara) -> tuple[np.ndarray, np.ndarray]:
    """Return spectra [1 + sample, x] by Padé, and their scatter; nan for samples without a rational function."""
    mean, spread = pade.pade_spectrum(grid, data, function.omega, function.values, function.errors, function.norm)
    found = [mean]
    for row in [] if function.samples is None else function.samples:
        try:
            found.append(pade.pade_spectrum(grid, data, function.omega, row, function.errors, function.norm)[0])
        except pade.NoFunction:
            found.append(np.full_like(mean, np.nan))
    return np.array(found), spread


def others(grid: Grid, function: Matsubara | Bosonic, data: Whitened, models: Mapping[str, np.ndarray], choice: Choice
           ) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the spectra of the other methods, and why there is none of some."""
    beside, missing = {}, {}
    for method in METHODS:
        if method == choice.method:
            continue
        if method == "maxent":
            beside[method] = maxent.MaxEnt(grid, data.kernel, models["flat"]).scan(data.values).chosen(choice.alpha)
        elif method == "stochastic":
            beside[method] = stochastic.stochastic_spectra(grid, data, [data.values])[0]
        elif isinstance(function, Matsubara):
            try:
                beside[method] = pade.pade_spectrum(grid, data, function.omega, function.values, function.errors,
                                                    function.norm)[0]
            except pade.NoFunction as error:
                missing[method] = str(error)
    return beside, missing

"""Masses and amplitudes of hadrons from their correlators."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.errors import InputError
from plaq.lqcd.analysis.averages import average
from plaq.lqcd.analysis.correlator_fits import fit_correlator
from plaq.lqcd.analysis.model_averages import average_models, scan_windows
from plaq.lqcd.measurements.correlators import effective_mass, exponential_mass


def correlator_estimates(correlators: Mapping[str, np.ndarray], first: int | None,
                         model: str = "cosh") -> tuple[dict[str, Estimate], list[str]]:
    """Return averages, effective masses and masses of mesons {name: [configuration, T]}, and sentences.

    model : "cosh", or "exp" of states that do not come round the lattice.
    """
    results: dict[str, Estimate] = {}
    sentences = []
    for name, values in correlators.items():
        times = np.arange(values.shape[1])
        half = len(times) // 2
        of_mass, mass_times, formula = (
            (effective_mass, times[1:half], "cosh m = (C(t-1) + C(t+1)) / 2 C(t)") if model == "cosh" else
            (lambda c, half=half: exponential_mass(c)[:half], times[:half], "ln C(t) / C(t+1)"))
        results[name] = average(name, values, axes=[Axis("t", times, "a")],
                                convention="sum over space of the two-point function, t from the source")
        results[f"mass_{name}"] = average(f"mass_{name}", values, of_mass, unit="1/a",
                                          axes=[Axis("t", mass_times, "a")], convention=f"effective mass, {formula}")
        found, sentence = mass_estimates(name, values, results[name], first, model)
        results |= found
        sentences.append(sentence)
    return results, sentences


def mass_estimates(name: str, series: np.ndarray, mean: Estimate, first: int | None,
                   model: str = "cosh") -> tuple[dict[str, Estimate], str]:
    """Return mass and amplitude of a hadron by a fit for t >= ``first``, and a sentence.

    Without ``first`` the mass is an average over windows and one or two states (`plaq.lqcd.analysis.model_averages`).
    ``mean`` is the average of the correlators ``series`` [configuration, T]. model : in `plaq.lqcd.analysis.models`.
    """
    if not mean.supported:
        return {}, f"no mass of {name}: a fit takes errors of its correlator, and there are none"
    if first is not None:
        one = fit_correlator(name, series, first, model=model)
        if one is None:
            return {}, f"no mass of {name}: no {model} fits its correlator for t >= {first}"
        sentence = (f"mass of {name} = {one['mass']} / a, from a {model} for t >= {first}; {one['mass'].fit}, "
                    f"{one.weighting}")
        return {f"fit_{name}": one["mass"], f"amplitude_{name}": one["amplitude"]}, sentence
    fits = scan_windows(name, series, model)
    try:
        mass, size = (average_models(fits, parameter) for parameter in ("mass", "amplitude"))
    except InputError as error:
        return {}, f"no mass of {name}: {error}"
    best = mass.best
    return ({f"fit_{name}": mass.value, f"amplitude_{name}": size.value},
            f"mass of {name} = {mass.value} / a, from {len(mass.fits)} fit{'s' * (len(mass.fits) > 1)}, whose choice "
            f"makes {mass.systematic:.1g} of the error; most weight has {best.model.text} for t from {best.x[0]:g} to "
            f"{best.x[-1]:g}, {best['mass'].fit}, {best.weighting}")

"""Spectra of general models: A_aa(K, omega) of every orbital, and the density of states by orbital.

Diagonal elements of G have a positive spectrum of the norm 1, and are continued one by one. Equivalent momenta have
the same with their orbitals exchanged, which saves continuations.
"""

from __future__ import annotations

import numpy as np

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.one_function import Continued, Matsubara, continued, fit_rows
from plaq.dca.continuation.spectra import Settings, SpectralPoint, derived, estimate
from plaq.dca.lattice.model import Model
from plaq.dca.parameters import Parameters
from plaq.dca.physics.orbitals import SPINS
from plaq.dca.physics.point import Point
from plaq.dca.units import in_units

LEAST_VARIANCE = 1e-3  # of the Gaussian default model
Element = tuple[int, int, int]  # (spin, index of K, orbital)


def orbital_spectra_of(point: Point, parameters: Parameters, settings: Settings, grid: Grid,
                       hotter: SpectralPoint | None = None) -> SpectralPoint:
    """Return all spectra of a temperature; ``hotter`` is the next higher one, for its default model."""
    model = Model.of(parameters)
    ways = model.group.action.irreducible()
    functions = diagonal_elements(point, model)
    bands, spins = len(model.lattice.orbitals), model.spins
    wanted = [(s, k, a) for s in range(spins) for k in sorted({way[0] for way in ways}) for a in range(bands)]
    found = {at: continued(grid, functions[at], settings.choice, before(hotter, at, spins)) for at in wanted}

    def everywhere(part: str) -> np.ndarray | None:
        """Return one array [..., spin, K, orbital, x] of all elements; None where some have none."""
        values = {at: getattr(one, part) for at, one in found.items()}
        if any(value is None for value in values.values()):
            return None
        images = model.group.action.operations
        return np.stack([np.stack([np.stack([values[s, first, images[index].orbitals[a]] for a in range(bands)], -2)
                                   for first, index, _ in ways], -3) for s in range(spins)], -4)

    momenta = Axis("K", np.array(model.cluster.momenta), "1/a")
    omega, orbital = Axis("omega", grid.omega, "t"), Axis("orbital", np.array(model.lattice.orbitals))
    spin = [Axis("spin", np.array(SPINS))] if spins == 2 else []
    mean, error, samples = (trimmed(everywhere(part), spins) for part in ("spectrum", "error", "samples"))
    whole = lambda f: None if f is None else (f.mean(axis=-4) if spins == 2 else f).sum(axis=-2)
    over_momenta = lambda f: None if f is None else f.mean(axis=-3)
    words = "of the cluster's G; omega is relative to mu"
    estimates = {
        "A": derived("A", whole(mean), whole(samples), (momenta, omega), "1/t",
                     f"sum of A_aa(K, omega) over orbitals a, one spin, {words}"),
        "A_orbital": estimate("A_orbital", mean, error, samples, (*spin, momenta, orbital, omega), "1/t",
                              f"A_aa(K, omega), spectrum {words}"),
        "dos": derived("dos", whole(mean).mean(axis=-2), None if samples is None else whole(samples).mean(axis=-2),
                       (omega,), "1/t", "mean of A over K: density of states of a cell, one spin"),
        "dos_orbital": derived("dos_orbital", over_momenta(mean), over_momenta(samples), (*spin, orbital, omega), "1/t",
                               "density of states of each orbital, one spin")}
    first = np.array([way[0] for way in ways])
    result = SpectralPoint(point.index, point.T, estimates, records(everywhere, whole, spins, grid),
                           fits(found, model, spins), first)
    result.estimates = in_units(result.estimates, parameters.unit)
    return result


def trimmed(values: np.ndarray | None, spins: int) -> np.ndarray | None:
    """Return [..., spin, K, orbital, x] without the axis of a single spin."""
    return values if values is None or spins == 2 else values[..., 0, :, :, :]


def diagonal_elements(point: Point, model: Model) -> dict[Element, Matsubara]:
    """Return the diagonal elements of G.

    Mean and variance are those of the band with Sigma at infinite frequency; the variance has the moment of Sigma
    from its largest frequency.
    """
    g, spins, bands, coarse = point["G"], model.spins, len(model.lattice.orbitals), model.coarse_graining
    shape = (spins, model.cluster.size, bands, bands, -1)
    reshaped = lambda f: np.reshape(f, shape)
    values, errors, sigma = reshaped(g.mean), reshaped(g.error), reshaped(point["Sigma"].mean)
    samples = None if g.jackknife is None else np.array([reshaped(sample) for sample in g.jackknife])
    omega = g.axes[-1].values
    h = coarse.h_mean + np.reshape(point["Sigma_infinity"].mean, shape[:-1])
    spread = coarse.h_second - coarse.h_mean @ coarse.h_mean + h @ h
    elements = {}
    for s, k, a in np.ndindex(shape[:3]):
        center = h[s, k, a, a].real - point.mu
        moment = max(-sigma[s, k, a, a, -1].imag * omega[-1], 0.0)
        variance = (spread[s, k, a, a] - h[s, k, a, a] ** 2).real + moment
        elements[s, k, a] = Matsubara(omega, values[s, k, a, a], errors[s, k, a, a],
                                      None if samples is None else samples[:, s, k, a, a], 1.0, center,
                                      max(variance, LEAST_VARIANCE))
    return elements


def before(hotter: SpectralPoint | None, at: Element, spins: int) -> np.ndarray | None:
    """Return the spectrum of the next higher temperature [x]."""
    if hotter is None:
        return None
    return hotter.estimates["A_orbital"].mean[at if spins == 2 else at[1:]]


def records(everywhere, whole, spins: int, grid: Grid) -> dict[str, Recorded]:
    """Return the band of the sum over orbitals."""
    parts = {"low": "least", "high": "largest"}
    values = {name: whole(trimmed(everywhere(name), spins)) for name in parts}
    numbered = Axis("K", np.arange(len(values["low"]))), Axis("omega", grid.omega, "t")
    return {f"A_{name}": Recorded(f"A_{name}", values[name], numbered,
                                  convention=f"sum of the {words} A_aa of all variants of the method")
            for name, words in parts.items()}


def fits(found: dict[Element, Continued], model: Model, spins: int) -> list[dict]:
    """Return a record for each element, momentum and method; the function is named "G" with spin and orbital."""
    table = []
    for (s, k, a), one in found.items():
        of = " ".join(filter(None, ("G", SPINS[s] if spins == 2 else "", str(model.lattice.orbitals[a]))))
        table += fit_rows(of, model.cluster.names[k], one)
    return table

"""Spectra of general models: A_aa(K, omega) of every orbital, Sigma_ab(K, omega), A(k, omega) along a path.

Diagonal elements of G have a positive spectrum of the norm 1, and are continued one by one. Sigma is continued as a
matrix (plaq.dca.continuation.matrix_functions). Equivalent momenta have the same with their orbitals exchanged, which
saves continuations.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.dca.continuation.dynamic import susceptibilities
from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.matrix_functions import MatrixFunction, SpectralMatrix, spectral_matrix
from plaq.dca.continuation.one_function import METHODS, Continued, Matsubara, continued, fit_rows
from plaq.dca.continuation.path_spectra import along_path
from plaq.dca.continuation.spectra import (
    LEAST_MOMENT,
    PATH_POINTS,
    Settings,
    SpectralPoint,
    add_path,
    derived,
    estimate,
)
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.algebra import Matrices
from plaq.dca.lattice.chemical_potential import cutoff
from plaq.dca.lattice.model import Model
from plaq.dca.lattice.path import path
from plaq.dca.parameters import Parameters
from plaq.dca.physics.orbitals import SPINS
from plaq.dca.physics.point import Point
from plaq.dca.units import in_units

NOISE = "taken as constant: its noise is larger than its spectrum"
LEAST_VARIANCE = 1e-3  # of the Gaussian default model
Element = tuple[int, int, int]  # (spin, index of K, orbital)
Matrix = tuple[np.ndarray, np.ndarray | None]  # retarded function [S, K, a, b, x], samples [sample, S, K, a, b, x]


def orbital_spectra_of(point: Point, parameters: Parameters, settings: Settings, grid: Grid,
                       hotter: SpectralPoint | None = None) -> SpectralPoint:
    """Return all spectra of a temperature; ``hotter`` is the next higher one, for its default model."""
    model = Model.of(parameters)
    ways = model.group.action.irreducible()
    functions = diagonal_elements(point, model)
    bands, spins = len(model.lattice.orbitals), model.spins
    first = np.array([way[0] for way in ways])
    wanted = [(s, k, a) for s in range(spins) for k in np.unique(first).tolist() for a in range(bands)]
    found = {at: continued(grid, functions[at], settings.choice, before(hotter, at, spins)) for at in wanted}

    def everywhere(part: str) -> np.ndarray | None:
        """Return one array [..., spin, K, orbital, x] of all elements; None where some have none."""
        values = {at: one.beside.get(part) if part in METHODS else getattr(one, part) for at, one in found.items()}
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
    matrices = {} if weak(point) else {"Sigma": self_energy(point, parameters, model, grid)}
    if settings.periodisation == "green":
        matrices["Gbar"] = cluster_green(point, model)
    of_matrices = {name: {(s, k): spectral_matrix(grid, function[s, k], settings.choice, model.lattice.orbitals,
                                                  spectrum_before(hotter, name, s, k, spins))
                          for s in range(spins) for k in np.unique(first).tolist()}
                   for name, function in matrices.items()}
    sigma = retarded_sigma(point, model, of_matrices.get("Sigma"), grid)
    estimates["Sigma"] = shown_sigma(sigma, model, momenta, omega)
    numbered = Axis("K", np.arange(len(first))), omega
    recorded = records({part: values for part in ("low", "high", *METHODS)
                        if (values := whole(trimmed(everywhere(part), spins))) is not None}, "A", "A_aa", numbered)
    if "Sigma" in of_matrices:
        recorded |= records(traces(of_matrices["Sigma"], first, spins), "Sigma", "-Im Sigma_aa/pi", numbered)
    tests = fits(found, of_matrices, model, spins, settings.choice.method)
    result = SpectralPoint(point.index, point.T, estimates, recorded, tests, first)
    if not model.coarse_graining.isolated:
        along = path(model.lattice, PATH_POINTS)
        green = retarded(of_matrices["Gbar"], model, grid) if "Gbar" in of_matrices else None
        add_path(result, along, along_path(model.cluster, along, grid, point, settings.periodisation, sigma, green))
    responses, more, tested = susceptibilities(point, settings.choice, grid)
    result.estimates = in_units(result.estimates | responses, parameters.unit)
    result.recorded |= more
    result.fits += tested
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


def whole_function(point: Point, name: str, model: Model) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return mean, error [S, K, a, b, ...] and samples [sample, S, K, a, b, ...] of an observable with orbitals."""
    value, bands = point[name], len(model.lattice.orbitals)
    rest = value.mean.shape[-1:] if value.axes[-1].name == "omega" else ()
    shape = (model.spins, model.cluster.size, bands, bands, *rest)
    return value.mean.reshape(shape), value.error.reshape(shape), (
        None if value.jackknife is None else value.jackknife.reshape(-1, *shape))


def weak(point: Point) -> bool:
    """Return whether Sigma is its value at infinite frequency."""
    sigma = point["Sigma"]
    rest = np.abs(sigma.mean - point["Sigma_infinity"].mean[..., None]).max()
    return bool(rest * sigma.axes[-1].values[0] < LEAST_MOMENT)


def self_energy(point: Point, parameters: Parameters, model: Model, grid: Grid
                ) -> dict[tuple[int, int], MatrixFunction]:
    """Return Sigma at each (spin, K) without its value at infinite frequency; the norm is -Sigma(0+) - Sigma(beta-).

    The variance of the spectrum is a guess: the square of a quarter of the grid.
    """
    mesh = matsubara.mesh(point.beta, cutoff(parameters, model.lattice, point.T))
    algebra = Matrices(model.cluster, len(model.lattice.orbitals))
    norm = lambda f: -algebra.to_momenta(mesh.at_tau(algebra.to_cells(f), [0, point.beta])).sum(axis=-1)
    sigma, error, samples = whole_function(point, "Sigma", model)
    constant, _, constants = whole_function(point, "Sigma_infinity", model)
    sigma = sigma - constant[..., None]
    if samples is not None:
        samples = samples - (constant if constants is None else constants)[..., None]
    variance = (grid.omega[-1] / 4) ** 2
    return of_matrices(point["Sigma"].axes[-1].values, sigma, error, samples, norm(sigma),
                       None if samples is None else norm(samples), variance)


def cluster_green(point: Point, model: Model) -> dict[tuple[int, int], MatrixFunction]:
    """Return G at each (spin, K) as a matrix."""
    g, error, samples = whole_function(point, "G", model)
    one = np.broadcast_to(np.eye(g.shape[2]), g.shape[:-1])
    variance = float(np.abs(model.coarse_graining.h_second).max()) + LEAST_VARIANCE
    return of_matrices(point["G"].axes[-1].values, g, error, samples, one, None, variance)


def of_matrices(omega: np.ndarray, values: np.ndarray, errors: np.ndarray, samples: np.ndarray | None, norm: np.ndarray,
                norms: np.ndarray | None, variance: float) -> dict[tuple[int, int], MatrixFunction]:
    """Return the functions of each (spin, K) from arrays [S, K, a, b, ...]."""
    return {at: MatrixFunction(omega, values[at], errors[at], None if samples is None else samples[:, at[0], at[1]],
                               norm[at], None if norms is None else norms[:, at[0], at[1]], variance)
            for at in np.ndindex(values.shape[:2])}


def spectrum_before(hotter: SpectralPoint | None, name: str, spin: int, k: int, spins: int) -> np.ndarray | None:
    """Return the spectral matrix [a, b, x] of Sigma at the next higher temperature."""
    if hotter is None or name != "Sigma":
        return None
    sigma = hotter.estimates["Sigma"].mean
    sigma = sigma[spin, k] if spins == 2 else sigma[k]
    sigma = sigma[None, None] if sigma.ndim == 1 else sigma
    return -(sigma - sigma.swapaxes(0, 1).conj()) / (2j * np.pi)


def retarded(found: Mapping[tuple[int, int], SpectralMatrix], model: Model, grid: Grid) -> Matrix:
    """Return the retarded functions of all spins and K, and their samples, of spectral matrices of some K."""
    action, bands = model.group.action, len(model.lattice.orbitals)

    def everywhere(of: Mapping[tuple[int, int], np.ndarray]) -> np.ndarray:
        """Return [S, K, a, b, ...] of matrices [a, b, ...] of the first momentum of each orbit."""
        rest = next(iter(of.values())).shape[2:]
        whole = np.zeros((model.spins, model.cluster.size, bands, bands, *rest), dtype=complex)
        for at, matrix in of.items():
            whole[at] = matrix
        for K, way in enumerate(action.irreducible()):
            if way[0] != K:
                whole[:, K] = action.from_irreducible(whole, K, way)
        return whole

    mean = grid.retarded(everywhere({at: one.matrix for at, one in found.items()}))
    if any(one.samples is None for one in found.values()):
        return mean, None
    samples = everywhere({at: np.moveaxis(one.samples, 0, 2) for at, one in found.items()})
    return mean, grid.retarded(np.moveaxis(samples, 4, 0))


def retarded_sigma(point: Point, model: Model, found: Mapping | None, grid: Grid) -> Matrix:
    """Return Sigma(K, omega + i0) with its value at infinite frequency, and samples."""
    constant, _, constants = whole_function(point, "Sigma_infinity", model)
    if found is None:
        return np.repeat(constant[..., None] + 0j, len(grid.omega), axis=-1), None
    mean, samples = retarded(found, model, grid)
    if samples is not None:
        samples = samples + (constant if constants is None else constants)[..., None]
    return mean + constant[..., None], samples


def shown_sigma(sigma: Matrix, model: Model, momenta: Axis, omega: Axis) -> Estimate:
    """Return Sigma with the axes that G has in the results."""
    orbitals = np.array(model.lattice.orbitals)
    spin = [Axis("spin", np.array(SPINS))] if model.spins == 2 else []
    inner = [Axis("orbital", orbitals), Axis("orbital'", orbitals)] if len(orbitals) > 1 else []
    axes = (*spin, momenta, *inner, omega)
    shape = tuple(len(axis.values) for axis in axes)
    mean, samples = sigma
    return derived("Sigma", mean.reshape(shape), None if samples is None else samples.reshape(-1, *shape), axes, "t",
                   "Sigma_ab(K, omega + i0), as a matrix in the orbitals, with its value at infinite frequency")


def traces(found: Mapping[tuple[int, int], SpectralMatrix], first: np.ndarray, spins: int) -> dict[str, np.ndarray]:
    """Return band and other methods of the trace of spectral matrices [K, x], mean of both spins."""
    every = [one for matrix in found.values() for one in matrix.found.values()]
    parts = ["low", "high", *(method for method in METHODS if all(method in one.beside for one in every))]
    return {part: np.mean([[found[s, k].trace(part) for k in first] for s in range(spins)], axis=0) for part in parts}


def records(values: Mapping[str, np.ndarray], name: str, what: str, axes: tuple[Axis, Axis]) -> dict[str, Recorded]:
    """Return band and other methods of the sum over orbitals [K, x]."""
    words = {"low": f"least {what} of all variants", "high": f"largest {what} of all variants"}
    return {f"{name}_{part}": Recorded(f"{name}_{part}", value, axes, convention="sum over orbitals of the "
                                       + words.get(part, f"{what} by {part}")) for part, value in values.items()}


def fits(found: Mapping[Element, Continued], matrices: Mapping[str, Mapping[tuple[int, int], SpectralMatrix]],
         model: Model, spins: int, method: str) -> list[dict]:
    """Return a record for each function, momentum and method.

    Functions are named "G" with spin and orbital, "Sigma" with spin and mode, or sum of modes.
    """
    named = lambda *parts: " ".join(filter(None, parts))
    of_spin = lambda s: SPINS[s] if spins == 2 else ""
    table = []
    for (s, k, a), one in found.items():
        table += fit_rows(named("G", of_spin(s), str(model.lattice.orbitals[a])), model.cluster.names[k], one)
    for name, of_momenta in matrices.items():
        for (s, k), matrix in of_momenta.items():
            of_mode = lambda mode: named(name, of_spin(s), mode if len(model.lattice.orbitals) > 1 else "")
            for mode, one in matrix.found.items():
                table += fit_rows(of_mode(mode), model.cluster.names[k], one)
            table += [{"function": of_mode(mode), "momentum": model.cluster.names[k], "method": method, "main": True,
                       "chi2": np.nan, "why": NOISE, "data": 0, "groups": 0, "shrinkage": 0.0}
                      for mode in matrix.noise]
    return table

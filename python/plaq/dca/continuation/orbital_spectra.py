"""Spectra of general models: A_ab(K, omega) and Sigma_ab(K, omega) of orbitals, A(k, omega) along a path.

Both are continued as matrices (plaq.dca.continuation.matrix_functions), so that diagonal elements of G, which have a
positive spectrum of the norm 1, are continued one by one. Equivalent momenta have the same with their orbitals
exchanged, which saves continuations.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.dca.continuation.dynamic import susceptibilities
from plaq.dca.continuation.kernel import Grid
from plaq.dca.continuation.matrix_functions import MatrixFunction, SpectralMatrix, spectral_matrix
from plaq.dca.continuation.one_function import METHODS, fit_rows
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
Matrix = tuple[np.ndarray, np.ndarray | None]  # retarded function [S, K, a, b, x], samples [sample, S, K, a, b, x]


def orbital_spectra_of(point: Point, parameters: Parameters, settings: Settings, grid: Grid,
                       hotter: SpectralPoint | None = None) -> SpectralPoint:
    """Return all spectra of a temperature; ``hotter`` is the next higher one, for its default model."""
    model = Model.of(parameters)
    ways = model.group.action.irreducible()
    bands, spins = len(model.lattice.orbitals), model.spins
    first = np.array([way[0] for way in ways])
    matrices = {"G": cluster_green(point, model)}
    if not weak(point):
        matrices["Sigma"] = self_energy(point, parameters, model, grid)
    of_matrices = {name: {(s, k): spectral_matrix(grid, function[s, k], settings.choice, model.lattice.orbitals,
                                                  spectrum_before(hotter, name, s, k, spins), by_orbital=name == "G")
                          for s in range(spins) for k in np.unique(first).tolist()}
                   for name, function in matrices.items()}

    def everywhere(part: str) -> np.ndarray | None:
        """Return a part of `Continued` [spin, K, orbital, x] of all orbitals; None where some have none."""
        values = {at: [of.get(part) for of in one.diagonal()] for at, one in of_matrices["G"].items()}
        if any(value is None for of_orbitals in values.values() for value in of_orbitals):
            return None
        images = model.group.action.operations
        return np.stack([np.stack([np.stack([values[s, first][images[index].orbitals[a]] for a in range(bands)], -2)
                                   for first, index, _ in ways], -3) for s in range(spins)], -4)

    momenta = Axis("K", np.array(model.cluster.momenta), "1/a")
    omega, orbital = Axis("omega", grid.omega, "t"), Axis("orbital", np.array(model.lattice.orbitals))
    spin = [Axis("spin", np.array(SPINS))] if spins == 2 else []
    matrix, of_samples = whole_matrices(of_matrices["G"], model)
    mean, error, samples = (trimmed(f, spins) for f in (diagonal(matrix), everywhere("error"), diagonal(of_samples)))
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
    if np.any(matrix * (1 - np.eye(bands))[..., None]):
        inner = Axis("orbital", np.array(model.lattice.orbitals)), Axis("orbital'", np.array(model.lattice.orbitals))
        matrix, of_samples = (f if f is None or spins == 2 else f[..., 0, :, :, :, :] for f in (matrix, of_samples))
        estimates["A_matrix"] = derived("A_matrix", matrix, of_samples, (*spin, momenta, *inner, omega), "1/t",
                                        f"A_ab(K, omega), Hermitian, spectrum {words}")
    sigma = retarded_sigma(point, model, of_matrices.get("Sigma"), grid)
    estimates["Sigma"] = shown_sigma(sigma, model, momenta, omega)
    numbered = Axis("K", np.arange(len(first))), omega
    recorded = records({part: values for part in ("low", "high", *METHODS)
                        if (values := whole(trimmed(everywhere(part), spins))) is not None}, "A", "A_aa", numbered)
    if "Sigma" in of_matrices:
        recorded |= records(traces(of_matrices["Sigma"], first, spins), "Sigma", "-Im Sigma_aa/pi", numbered)
    tests = fits(of_matrices, model, spins, settings.choice.method)
    result = SpectralPoint(point.index, point.T, estimates, recorded, tests, first)
    if not model.coarse_graining.isolated:
        along = path(model.lattice, PATH_POINTS)
        green = retarded(of_matrices["G"], model, grid) if settings.periodisation == "green" else None
        add_path(result, along, along_path(model.cluster, along, grid, point, settings.periodisation, sigma, green))
    responses, more, tested = susceptibilities(point, settings.choice, grid)
    result.estimates = in_units(result.estimates | responses, parameters.unit)
    result.recorded |= more
    result.fits += tested
    return result


def trimmed(values: np.ndarray | None, spins: int) -> np.ndarray | None:
    """Return [..., spin, K, orbital, x] without the axis of a single spin."""
    return values if values is None or spins == 2 else values[..., 0, :, :, :]


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
    second = np.broadcast_to(np.eye(sigma.shape[2]) * (grid.omega[-1] / 4) ** 2, sigma.shape[:-1])
    return of_matrices(point["Sigma"].axes[-1].values, sigma, error, samples, norm(sigma),
                       None if samples is None else norm(samples), second)


def cluster_green(point: Point, model: Model) -> dict[tuple[int, int], MatrixFunction]:
    """Return G at each (spin, K) as a matrix.

    Mean and variance are those of the band with Sigma at infinite frequency; the variance has the moment of Sigma
    from its largest frequency.
    """
    g, error, samples = whole_function(point, "G", model)
    one = np.broadcast_to(np.eye(g.shape[2]), g.shape[:-1])
    coarse, omega = model.coarse_graining, point["G"].axes[-1].values
    h = coarse.h_mean + whole_function(point, "Sigma_infinity", model)[0]
    tail = whole_function(point, "Sigma", model)[0][..., -1]
    moment = (tail - np.conj(np.swapaxes(tail, -1, -2))) * 1j / 2 * omega[-1]
    center = h - point.mu * one
    second = coarse.h_second - coarse.h_mean @ coarse.h_mean + center @ center + moment
    return of_matrices(omega, g, error, samples, one, None, second, center)


def of_matrices(omega: np.ndarray, values: np.ndarray, errors: np.ndarray, samples: np.ndarray | None, norm: np.ndarray,
                norms: np.ndarray | None, second: np.ndarray, center: np.ndarray | None = None
                ) -> dict[tuple[int, int], MatrixFunction]:
    """Return the functions of each (spin, K) from arrays [S, K, a, b, ...]."""
    return {at: MatrixFunction(omega, values[at], errors[at], None if samples is None else samples[:, at[0], at[1]],
                               norm[at], None if norms is None else norms[:, at[0], at[1]], second[at],
                               None if center is None else center[at])
            for at in np.ndindex(values.shape[:2])}


def spectrum_before(hotter: SpectralPoint | None, name: str, spin: int, k: int, spins: int) -> np.ndarray | None:
    """Return the spectral matrix [a, b, x] of G or Sigma at the next higher temperature."""
    if hotter is None:
        return None
    at = (spin, k) if spins == 2 else k
    if name == "G":
        if "A_matrix" in hotter:
            return hotter.estimates["A_matrix"].mean[at]
        of_orbitals = hotter.estimates["A_orbital"].mean[at]
        return np.eye(len(of_orbitals))[..., None] * of_orbitals
    sigma = hotter.estimates["Sigma"].mean[at]
    sigma = sigma[None, None] if sigma.ndim == 1 else sigma
    return -(sigma - sigma.swapaxes(0, 1).conj()) / (2j * np.pi)


def whole_matrices(found: Mapping[tuple[int, int], SpectralMatrix], model: Model) -> Matrix:
    """Return the spectral matrices of all spins and K, and their samples, from those of some K."""
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

    mean = everywhere({at: one.matrix for at, one in found.items()})
    if any(one.samples is None for one in found.values()):
        return mean, None
    return mean, np.moveaxis(everywhere({at: np.moveaxis(one.samples, 0, 2) for at, one in found.items()}), 4, 0)


def diagonal(f: np.ndarray | None) -> np.ndarray | None:
    """Return f_aa [..., a, x] of f [..., a, b, x], which are real."""
    return None if f is None else np.moveaxis(np.diagonal(f.real, axis1=-3, axis2=-2), -1, -2)


def retarded(found: Mapping[tuple[int, int], SpectralMatrix], model: Model, grid: Grid) -> Matrix:
    """Return the retarded functions of all spins and K, and their samples, of spectral matrices of some K."""
    mean, samples = whole_matrices(found, model)
    return grid.retarded(mean), None if samples is None else grid.retarded(samples)


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


def fits(matrices: Mapping[str, Mapping[tuple[int, int], SpectralMatrix]], model: Model, spins: int, method: str
         ) -> list[dict]:
    """Return a record for each function, momentum and method.

    Functions are named with their spin and orbital or mode, or a sum of these.
    """
    named = lambda *parts: " ".join(filter(None, parts))
    of_spin = lambda s: SPINS[s] if spins == 2 else ""
    table = []
    for name, of_momenta in matrices.items():
        for (s, k), matrix in of_momenta.items():
            of_mode = lambda mode: named(name, of_spin(s), mode if len(model.lattice.orbitals) > 1 else "")
            for mode, one in matrix.different().items():
                table += fit_rows(of_mode(mode), model.cluster.names[k], one)
            table += [{"function": of_mode(mode), "momentum": model.cluster.names[k], "method": method, "main": True,
                       "chi2": np.nan, "why": NOISE, "data": 0, "groups": 0, "shrinkage": 0.0}
                      for mode in matrix.noise]
    return table

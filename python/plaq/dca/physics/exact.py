"""`solver.kind = "ed"`: the isolated cluster exactly, as a point with vanishing errors."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from plaq.data.estimate import Estimate
from plaq.data.statistics import Resampled
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.chemical_potential import cutoff
from plaq.dca.physics import orbitals, single_particle, two_particle
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.lattice_estimates import lattice_estimates
from plaq.dca.physics.point import Point
from plaq.dca.physics.vertex_estimates import PartsEstimate
from plaq.dca.solver import ed
from plaq.dca.solver.choices import SUMS, measured_as
from plaq.dca.solver.ed.model import exact_cluster
from plaq.dca.solver.ed.pairs import densities, density_pairs
from plaq.dca.units import in_units


def exact_point(parameters, model, index, channels=(), window=0, exchanged=()):
    """Return observables of the isolated cluster at a temperature of the run, with errors 0.

    channels : (kind, transfer index, bosonic index) of the two-particle functions; window : their positive frequencies;
    exchanged : the functions that the decomposition of the pairing vertex needs, if asked for.
    """
    started = time.perf_counter()
    T = parameters.dca.temperatures[index]
    beta, dca = 1 / T, parameters.dca
    mesh = matsubara.mesh(beta, cutoff(parameters, model.lattice, T))
    exact = solved(model, dca.mu if dca.mu is not None else 0.0, beta)
    if dca.mu is None:
        exact = exact.at_density(dca.density)
    evaluation = Evaluation(model, mesh, 0.0, exact.mu, None)
    labels = evaluation.equations.labels(evaluation)
    values = (of_orbitals if model.general else of_one_band)(exact, evaluation)
    estimates = {name: Estimate(name, value, np.zeros_like(value), **labels[name]) for name, value in values.items()}
    functions = {which: exact_function(exact, *which, window) for which in channels}
    for (kind, q, m), g4 in functions.items():
        name = f"G4_{kind}_q{q}_m{m}"
        convention = two_particle.CHANNELS[kind]
        half = (kind, q, m) == ("pp", 0, 0)
        if half:  # as the solver measures it: real, w > 0
            name, convention, g4 = "G4_pp", two_particle.PAIRING, g4[:, window:].real
        axes = two_particle.two_particle_axes(evaluation, window, half)
        estimates[name] = Estimate(name, g4, np.zeros_like(g4), axes=axes, unit="1/t^2", convention=convention)
    if model.momenta is not None:
        estimates |= exact_response(evaluation, values["G"], functions, window)
    if exchanged:
        model.coarse_graining.prepare(np.pi / beta)
        pairing = functions["pp", 0, 0][:, window:].real
        needed = [functions[which] if which in functions else exact_function(exact, *which, window)
                  for which in exchanged]
        parts = PartsEstimate(evaluation, window, exchanged)
        found = parts.values(*with_bath(evaluation, values["G"]), pairing, *needed)
        estimates |= {name: Estimate(name, found[name], np.zeros_like(found[name]), **label)
                      for name, label in parts.labels().items()}
    seconds = {"exact": time.perf_counter() - started}
    return Point(index, T, beta, exact.mu, in_units(estimates, parameters.unit), [], seconds,
                 representatives=model.group.representatives)


def solved(model, mu, beta):
    """Return the isolated cluster of a `Model`."""
    cluster = model.cluster
    if model.general:
        return exact_cluster(cluster, model.interaction, mu, beta)
    return ed.ExactCluster(cluster.hopping_matrix(), model.U, mu, beta, fourier=cluster.fourier)


def of_one_band(exact, evaluation):
    """Return observables of one band by name."""
    cluster, U, omega = evaluation.model.cluster, evaluation.model.U, evaluation.mesh.omega
    density = exact.density
    to_sites = lambda f: np.asarray(f)[:, 0]  # R_i - R_0 = R_i: the origin is the first site
    values = averages(exact) | {
        "G": exact.to_momentum(exact.green_iw(omega)),
        "G_tau": exact.to_momentum(exact.green_tau(np.linspace(0, exact.beta, single_particle.TAU_POINTS))).real,
        "Sigma_infinity": np.full(cluster.size, U * density / 2),
        "Sigma_moment": np.full(cluster.size, U**2 * density / 2 * (1 - density / 2)),
        "spin_square": exact.spin_correlation().sum() / cluster.size,
        "charge_square": exact.charge_correlation().sum() / cluster.size,
        "spin_correlation": to_sites(exact.spin_correlation()),
        "charge_correlation": to_sites(exact.charge_correlation()),
        "spin_susceptibility": cluster.to_momenta(to_sites(exact.spin_susceptibility())).real,
        "charge_susceptibility": cluster.to_momenta(to_sites(exact.charge_susceptibility())).real,
    }
    values["Sigma"] = 1j * omega + exact.mu - cluster.energies[:, None] - 1 / values["G"]
    return values


def averages(exact):
    """Return numbers that every model has."""
    return {"sign": 1.0, "mu": exact.mu, "density": exact.density, "double_occupancy": exact.double_occupancy,
            "energy_kinetic": exact.kinetic_energy, "energy_potential": exact.potential_energy,
            "energy": exact.total_energy}


def of_orbitals(exact, evaluation):
    """Return observables of a general model by name, as `plaq.dca.physics.orbitals` shows them."""
    equations, model, omega = evaluation.equations, evaluation.model, evaluation.mesh.omega
    algebra, shape = equations.algebra, (model.spins, model.cluster.size, equations.bands, equations.bands, -1)
    in_momenta = lambda f, x: np.reshape([exact.to_momentum(f(x, spin)) for spin in range(model.spins)], shape)
    tau = np.linspace(0, exact.beta, single_particle.TAU_POINTS)
    g, g_tau = in_momenta(exact.green_iw, omega), in_momenta(exact.green_tau, tau)
    bare = algebra.at_frequencies_of(1j * omega + exact.mu) - model.coarse_graining.h_mean[..., None]
    density = densities(exact)
    values = averages(exact) | {
        "G": g, "Sigma": bare - algebra.inverse(g), "G_tau": g_tau.real if equations.even else g_tau,
        "Sigma_infinity": equations.mean_field(density, np.eye(equations.bands) + g_tau[..., 0]),
        **orbitals.densities(density),
        **orbitals.pair_correlations(equations, exact.beta, density, *density_pairs(exact))}
    return orbitals.presented(equations, values)


def exact_function(exact, kind, q, m, window):
    """Return the two-particle function [K, n, K', n'], n of both signs."""
    n = np.arange(-window, window)
    if kind not in SUMS or kind == "transverse":
        return ed.two_particle(exact, kind, q, m, n)
    return sum(factor * ed.two_particle(exact, part, q, m, n) for part, factor in measured_as(kind).items())


def with_bath(evaluation, g):
    """Return (evaluation, m) of G [K, w], as `Evaluation.sample` does."""
    cluster, mesh, shift = evaluation.model.cluster, evaluation.mesh, evaluation.equations.shift
    g0 = 1 / (1j * mesh.omega + evaluation.mu - shift - cluster.energies[:, None])
    return replace(evaluation, g0=g0), (g0 - g) / g0**2


def exact_response(evaluation, g, functions, window):
    """Return the response at the momenta asked for, which are those of the cluster, by the vertex in the window."""
    evaluation, m = with_bath(evaluation, g)
    functions = {("magnetic" if kind == "transverse" else kind, q, nu): g4 for (kind, q, nu), g4 in functions.items()}

    def resample(which, prepare, function):
        values = function(evaluation, m, functions[which], prepare(evaluation, m, functions[which]))
        return {name: Resampled(value, np.zeros_like(value), np.zeros_like(value), None)
                for name, value in values.items()}

    return lattice_estimates(evaluation, window, list(functions), resample)

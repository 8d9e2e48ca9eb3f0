"""`solver.kind = "ed"`: the isolated cluster exactly, as a point with vanishing errors."""

from __future__ import annotations

import time

import numpy as np

from plaq.data.estimate import Estimate
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.chemical_potential import cutoff
from plaq.dca.physics import orbitals, single_particle
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.exact_pairs import exact_pairs
from plaq.dca.physics.point import Point
from plaq.dca.solver import ed
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
    if channels:
        estimates |= exact_pairs(exact, evaluation, values["G"], channels, window, exchanged)
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

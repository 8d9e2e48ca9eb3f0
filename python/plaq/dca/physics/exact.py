"""`solver.kind = "ed"`: the isolated cluster exactly, as a point with vanishing errors."""

from __future__ import annotations

import time

import numpy as np

from plaq.data.estimate import Estimate
from plaq.dca.lattice import matsubara
from plaq.dca.physics import single_particle, two_particle
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.point import Point
from plaq.dca.solver import ed
from plaq.dca.units import in_units


def exact_point(parameters, model, index, channels=(), window=0):
    """Return observables of the isolated cluster at a temperature of the run, with errors 0.

    channels : (kind, transfer index, bosonic index) of the two-particle functions; window : their positive frequencies.
    """
    started = time.perf_counter()
    T = parameters.dca.temperatures[index]
    cluster, U, mu, beta = model.cluster, model.U, parameters.dca.mu, 1 / T
    mesh = matsubara.mesh(beta, matsubara.frequency_cutoff(cluster.lattice, U, mu))
    exact = ed.ExactCluster(cluster.hopping_matrix(), U, mu, beta, fourier=cluster.fourier)
    evaluation = Evaluation(model, mesh, 0.0, mu, None)
    labels = single_particle.single_particle_labels(evaluation)
    density = exact.density
    to_sites = lambda f: np.asarray(f)[:, 0]  # R_i - R_0 = R_i: the origin is the first site
    values = {
        "sign": 1.0, "mu": mu, "density": density, "double_occupancy": exact.double_occupancy,
        "energy_kinetic": exact.kinetic_energy, "energy_potential": exact.potential_energy,
        "energy": exact.total_energy,
        "G": exact.to_momentum(exact.green_iw(mesh.omega)),
        "G_tau": exact.to_momentum(exact.green_tau(np.linspace(0, beta, single_particle.TAU_POINTS))).real,
        "Sigma_infinity": np.full(cluster.size, U * density / 2),
        "Sigma_moment": np.full(cluster.size, U**2 * density / 2 * (1 - density / 2)),
        "spin_square": exact.spin_correlation().sum() / cluster.size,
        "charge_square": exact.charge_correlation().sum() / cluster.size,
        "spin_correlation": to_sites(exact.spin_correlation()),
        "charge_correlation": to_sites(exact.charge_correlation()),
        "spin_susceptibility": cluster.to_momenta(to_sites(exact.spin_susceptibility())).real,
        "charge_susceptibility": cluster.to_momenta(to_sites(exact.charge_susceptibility())).real,
    }
    bare = 1j * mesh.omega + mu - cluster.energies[:, None]
    values["Sigma"] = bare - 1 / values["G"]
    estimates = {name: Estimate(name, value, np.zeros_like(value), **labels[name]) for name, value in values.items()}
    n = np.arange(-window, window)
    for kind, q, m in channels:
        g4 = ed.two_particle(exact, kind, q, m, n)
        name = f"G4_{kind}_q{q}_m{m}"
        convention = two_particle.CHANNELS[kind]
        half = (kind, q, m) == ("pp", 0, 0)
        if half:  # as the solver measures it: real, w > 0
            name, convention, g4 = "G4_pp", two_particle.PAIRING, g4[:, window:].real
        axes = two_particle.two_particle_axes(evaluation, window, half)
        estimates[name] = Estimate(name, g4, np.zeros_like(g4), axes=axes, unit="1/t^2", convention=convention)
    return Point(index, T, beta, mu, in_units(estimates, parameters.unit), [], {"exact": time.perf_counter() - started},
                 representatives=model.group.representatives)

"""`solver.kind = "ed"`: the isolated cluster exactly, as a point with vanishing errors."""

from __future__ import annotations

import time

import numpy as np

from plaq.data.estimate import Estimate
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.symmetry import PointGroup
from plaq.dca.physics import observables
from plaq.dca.physics.point import Point
from plaq.dca.solver.ed import ExactCluster, two_particle
from plaq.dca.units import in_units


def exact_point(parameters, cluster, index, channels=(), window=0):
    """Observables of the isolated cluster at a temperature of the run, errors 0.

    channels: (kind, transfer index, bosonic index) of the two-particle functions, window: their positive frequencies.
    """
    started = time.perf_counter()
    T = parameters.dca.temperatures[index]
    U, mu, beta = parameters.model.U, parameters.dca.mu, 1 / T
    mesh = matsubara.mesh(beta, matsubara.frequency_cutoff(cluster.lattice, U, mu))
    ed = ExactCluster(cluster.hopping_matrix(), U, mu, beta, fourier=cluster.fourier)
    setting = observables.Setting(cluster, None, mesh, None, U, 0.0, mu, None)
    labels = observables.single_particle_labels(setting)
    density = ed.density
    to_sites = lambda f: np.asarray(f)[:, 0]  # R_i - R_0 = R_i: the origin is the first site
    values = {
        "sign": 1.0, "mu": mu, "density": density, "double_occupancy": ed.double_occupancy,
        "energy_kinetic": ed.kinetic_energy, "energy_potential": ed.potential_energy, "energy": ed.total_energy,
        "G": ed.to_momentum(ed.green_iw(mesh.omega)),
        "G_tau": ed.to_momentum(ed.green_tau(np.linspace(0, beta, observables.TAU_POINTS))).real,
        "Sigma_infinity": np.full(cluster.size, U * density / 2),
        "Sigma_moment": np.full(cluster.size, U**2 * density / 2 * (1 - density / 2)),
        "spin_square": ed.spin_correlation().sum() / cluster.size,
        "charge_square": ed.charge_correlation().sum() / cluster.size,
        "spin_correlation": to_sites(ed.spin_correlation()),
        "charge_correlation": to_sites(ed.charge_correlation()),
        "spin_susceptibility": cluster.to_momenta(to_sites(ed.spin_susceptibility())).real,
        "charge_susceptibility": cluster.to_momenta(to_sites(ed.charge_susceptibility())).real,
    }
    bare = 1j * mesh.omega + mu - cluster.energies[:, None]
    values["Sigma"] = bare - 1 / values["G"]
    found = {name: Estimate(name, value, np.zeros_like(value), **labels[name]) for name, value in values.items()}
    n = np.arange(-window, window)
    for kind, q, m in channels:
        g4 = two_particle(ed, kind, q, m, n)
        name = f"G4_{kind}_q{q}_m{m}"
        convention = observables.CHANNELS[kind]
        half = (kind, q, m) == ("pp", 0, 0)
        if half:  # as the solver measures it: real, w > 0
            name, convention, g4 = "G4_pp", observables.PAIRING, g4[:, window:].real
        found[name] = Estimate(name, g4, np.zeros_like(g4), axes=observables.two_particle_axes(setting, window, half),
                               unit="1/t^2", convention=convention)
    return Point(index, T, beta, mu, in_units(found, parameters.unit), [], {"exact": time.perf_counter() - started},
                 representatives=PointGroup(cluster).representatives)

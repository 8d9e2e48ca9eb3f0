"""Observables that need no two-particle function: Sigma, G, energies, equal-time correlations, susceptibilities."""

from __future__ import annotations

import numpy as np

from plaq.data import statistics
from plaq.data.estimate import Axis
from plaq.trace.session import region

TAU_POINTS = 65


@region("self-energy")
def self_energy(evaluation, measured):
    """Return Sigma for the next iteration and the density, both `Resampled`; cheap enough for every iteration."""
    equations = evaluation.equations
    bath = measured.in_bath(evaluation.g0, evaluation.sigma_0, equations.algebra).bath

    def function(w, g, f, n):
        sampled, m = evaluation.sample(w, g, f)
        return {"Sigma": sampled.dyson(m)[1] + evaluation.hartree(n / w), "density": equations.filling(n / w)}

    resampled = statistics.jackknife(function, measured.norm, bath.ratio, bath.inverse_g0,
                                     measured.correlations["density"], weights=measured.weights)
    return resampled["Sigma"], resampled["density"]


def single_particle(evaluation, m, sign, order, sums):
    """Return everything that needs no two-particle function, from sign-free averages."""
    cluster, mesh, U = evaluation.model.cluster, evaluation.mesh, evaluation.model.U
    beta = mesh.beta
    g, sigma = evaluation.dyson(m)
    density, docc, holes = sums["density"], sums["double_occupancy"], sums["equal_time"]
    sigma = sigma + evaluation.hartree(density)
    on_lattice = evaluation.on_lattice(sigma)
    filling = density if evaluation.target_density is None else evaluation.target_density
    if evaluation.model.coarse_graining.isolated:  # G at low frequencies has many times the noise of n_K
        kinetic = 2 / cluster.size * cluster.energies @ (1 - holes)
    else:
        eps_gbar = evaluation.model.coarse_graining.eps_gbar(on_lattice.lattice_z(sigma))
        kinetic = 2 / cluster.size * mesh.equal_time(eps_gbar).sum()
    expected_order = evaluation.K + beta * U * cluster.size * (density / 2 - docc)
    return {
        "sign": sign, "mu": on_lattice.mu, "density": density, "double_occupancy": docc, "expansion_order": order,
        "order_identity": order - expected_order,
        "energy_kinetic": kinetic, "energy_potential": U * docc, "energy": kinetic + U * docc,
        "G": g, "Sigma": sigma,
        "Sigma_infinity": np.full(cluster.size, U * filling / 2),
        "Sigma_moment": np.full(cluster.size, U**2 * filling / 2 * (1 - filling / 2)),
        "G_tau": mesh.at_tau(g, np.linspace(0, beta, TAU_POINTS), ends=np.stack([-holes, holes - 1], axis=-1)),
        "spin_square": sums["spin"].sum(), "charge_square": sums["charge"].sum() - cluster.size * density**2,
        "spin_correlation": sums["spin"], "charge_correlation": sums["charge"] - density**2,
        "spin_susceptibility": cluster.to_momenta(sums["static_spin"]).real,
        "charge_susceptibility": cluster.to_momenta(sums["static_charge"] - beta * density**2).real,
    }


def single_particle_labels(evaluation):
    momenta = Axis("K", np.array(evaluation.model.cluster.momenta), "1/a")
    sites = Axis("R", np.array(evaluation.model.cluster.sites), "a")
    k_w = [momenta, Axis("omega", evaluation.mesh.omega, "t")]
    k_tau = [momenta, Axis("tau", np.linspace(0, evaluation.mesh.beta, TAU_POINTS), "1/t")]
    isolated = evaluation.model.coarse_graining.isolated
    return {
        "sign": {"convention": "average sign of the configurations' weights"},
        "mu": {"unit": "t",
               "convention": "chemical potential: given, or that of the lattice with Sigma and the wanted density"},
        "density": {"convention": "<n_up + n_down> per site"},
        "double_occupancy": {"convention": "<n_up n_down> per site"},
        "expansion_order": {"convention": "<k>, vertices in a configuration"},
        "order_identity": {"convention": "<k> - K - beta U N_c (n/2 - D); zero within errors in a correct run"},
        "energy_kinetic": {"unit": "t", "convention": "2/N_c sum_K eps_K n_K, per site" if isolated else
                           "2 T/N_c sum_K,w <eps G>_patch e^(iw0+), per site"},
        "energy_potential": {"unit": "t", "convention": "U <n_up n_down>, per site"},
        "energy": {"unit": "t", "convention": "kinetic + potential, per site, without -mu n"},
        "G": {"axes": k_w, "unit": "1/t", "convention": "cluster G(K, iw), w > 0 sampling points; G(-iw) = G(iw)*"},
        "Sigma": {"axes": k_w, "unit": "t", "convention": "1/bath - 1/G with the Hartree term U n/2, n as asked for"},
        "Sigma_infinity": {"axes": [momenta], "unit": "t", "convention": "U n/2: Sigma at infinite frequency"},
        "Sigma_moment": {"axes": [momenta], "unit": "t^2",
                         "convention": "U^2 n/2 (1 - n/2): coefficient of 1/(iw) in Sigma"},
        "G_tau": {"axes": k_tau,
                  "convention": "G(K, tau) = -<T c(tau) c+(0)>; ends, 0+ and beta-, by n_K at equal times"},
        "spin_square": {"convention": "<(sum_i S^z_i)^2>/N_c, equal times"},
        "charge_square": {"convention": "(<(sum_i n_i)^2> - <sum_i n_i>^2)/N_c, equal times"},
        "spin_correlation": {"axes": [sites], "convention": "<S^z_R S^z_0>, equal times"},
        "charge_correlation": {"axes": [sites], "convention": "<n_R n_0> - n^2, equal times"},
        "spin_susceptibility": {"axes": [momenta], "unit": "1/t",
                                "convention": "int_0^beta dtau <S^z(tau) S^z> at q = K on the cluster, per site"},
        "charge_susceptibility": {"axes": [momenta], "unit": "1/t",
                                  "convention": "int_0^beta dtau <n(tau) n>_connected at q = K, per site"},
    }


def one_configuration(evaluation, measurements):
    """Return the least error of each observable: the contribution of one configuration of another total S^z or N.

    Without a bath both are conserved. A sector that no chain visited leaves means of exactly 0, whose bins do not
    scatter.
    """
    least = 1 / (evaluation.model.cluster.size * measurements)
    at_zero = evaluation.mesh.beta * least * np.isclose(np.abs(evaluation.model.cluster.momenta).sum(axis=1), 0)
    return {"spin_square": least, "charge_square": least, "spin_susceptibility": at_zero,
            "charge_susceptibility": at_zero}

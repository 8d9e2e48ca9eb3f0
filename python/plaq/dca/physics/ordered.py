"""Equations of a phase of broken symmetry: functions are matrices of a spinor (plaq.dca.lattice.spinor)."""

from __future__ import annotations

import numpy as np

from plaq.data.estimate import Axis
from plaq.dca.lattice.spinor import Spinors, normal_interaction
from plaq.dca.physics import general, hartree, orbitals
from plaq.dca.physics.order import OrderParameter
from plaq.dca.physics.single_particle import TAU_POINTS
from plaq.dca.solver import choices, ctint


class Ordered(general.General):
    """`plaq.dca.physics.equations.Equations` of one orbital where pairs or spins may order.

    n_s = n_a, or 1 - n_a of a hole: n = empty + sum tau_a n_a, and 2 S^z = n_1 - tau_2 n_2 up to a constant.
    """

    def __init__(self, model):
        super().__init__(model)
        self.spinor = spinor = model.spinor
        self.algebra = Spinors(spinor)
        self.order = OrderParameter(spinor.pattern, model.cluster.size)
        self.normal = normal_interaction(model.interaction, spinor.tau)
        spin = np.array([1.0, -spinor.tau[1]]) / 2
        self.weights = {"charge": np.outer(spinor.tau, spinor.tau), "spin": np.outer(spin, spin)}

    @property
    def first_mu(self) -> float:
        return float(self.shift[0, 0, 0, 0, 0])

    def expected_order(self, parameters, beta: float, filling: float) -> float:
        return choices.expected_order(parameters, self.model.cluster, beta, filling)

    def filling(self, density: np.ndarray) -> float:
        return float(self.spinor.empty + density[0] @ self.spinor.tau)

    def hartree(self, target: float, density: np.ndarray) -> np.ndarray:
        """Return the correction of the Hartree term from density [spin, a] to a ``target``, times tau."""
        missing = np.full((2, 1), (target - self.filling(density)) / 2)
        return (hartree.potential(self.normal, missing)[0, 0] * np.diag(self.spinor.tau))[None, None, ..., None]

    def mean_field(self, density: np.ndarray, occupations: np.ndarray) -> np.ndarray:
        """Return Sigma at infinite frequency, with the one-particle terms of the spinors' interaction."""
        ends = hartree.potential(self.model.interaction, np.full((2, 2), 0.5))[0]
        return super().mean_field(density, occupations) + self.shift[..., 0] - np.diag(ends)

    def single_particle(self, evaluation, m, sign, order, averages):
        return observables(self, evaluation, m, sign, order, averages)

    def labels(self, evaluation):
        return labels(self, evaluation)


def observables(equations, evaluation, m, sign, order, averages):
    """Return everything that needs no two-particle function, from averages without sign."""
    mesh, holes, spinor = evaluation.mesh, averages["equal_time"], equations.spinor
    densities = averages["density"]
    g, sigma = evaluation.dyson(m)
    sigma = sigma + evaluation.hartree(densities)
    on_lattice = evaluation.on_lattice(sigma)
    occupations = np.eye(2) - holes
    filling = equations.filling(densities)
    target = filling if evaluation.target_density is None else evaluation.target_density
    infinite = equations.mean_field(densities + spinor.tau * (target - filling) / 2, occupations)
    kinetic = kinetic_energy(equations, on_lattice, sigma, occupations)
    potential = potential_energy(equations, averages)
    expected = ctint.expected_order(evaluation.model, averages, mesh.beta, evaluation.K)
    slope = 1 - sigma[0, :, 0, 0, 0].imag / mesh.omega[0]
    values = {
        "sign": sign, "mu": on_lattice.mu, "density": filling, "expansion_order": order,
        "order_identity": order - expected, "energy_kinetic": kinetic, "energy_potential": potential,
        "energy": kinetic + potential, "order_parameter": equations.order.value(holes),
        "order_amplitude": -holes[0, :, 0, 1].real,
        "G": g[0, :, 0, 0], "G_anomalous": -g[0, :, 0, 1],
        "Sigma": sigma[0, :, 0, 0], "Sigma_anomalous": -sigma[0, :, 0, 1],
        "Sigma_infinity": infinite[0, :, 0, 0].real, "gap": -sigma[0, :, 0, 1, 0].real / slope,
        "G_tau": orbitals.in_time(equations, mesh, g, holes)[0, :, 0, 0].real,
        "double_occupancy": opposite_spins(spinor.tau, densities[0], averages["pairs"][0, 0, 0, 0, 1], 0, 1),
    }
    return values | pair_correlations(equations, mesh.beta, densities[0], averages)


def opposite_spins(tau, n, product, a, b):
    """Return <n_s n_s'> of electrons from <n_a n_b> and densities n [a] of components, of which holes have 1 - n."""
    one, other = (n[x] if tau[x] > 0 else 1 - n[x] for x in (a, b))
    return one * other + tau[a] * tau[b] * (product - n[a] * n[b])


def kinetic_energy(equations, on_lattice, sigma, occupations):
    """Return <H_0> per site, of holes eps (1 - n); isolated from occupations."""
    coarse, size = on_lattice.model.coarse_graining, on_lattice.model.cluster.size
    if coarse.isolated:
        spinors = np.einsum("skab,skba->", coarse.h_mean, occupations).real
    else:
        h_gbar = coarse.h_gbar(on_lattice.lattice_z(sigma))
        spinors = on_lattice.mesh.equal_time(np.einsum("skaaw->w", h_gbar))
    return float((spinors + equations.spinor.empty * coarse.h_mean[0, :, 0, 0].sum().real) / size)


def potential_energy(equations, averages):
    """Return <H_int> per site."""
    tau, n = equations.spinor.tau, averages["density"][0]
    return float(sum(tau[p.a] * tau[p.b] * p.value * opposite_spins(tau, n, product, p.a, p.b)
                     for p, product in zip(equations.model.interaction.pairs, averages["vertices"])))


def pair_correlations(equations, beta, density, averages):
    """Return correlations at equal times and static susceptibilities of charge and of S^z."""
    cluster, values = equations.model.cluster, {}
    apart = np.outer(density, density)
    for kind, weight in equations.weights.items():
        equal = np.einsum("ab,rab->r", weight, averages["pairs"][0, 0] - apart)
        integral = cluster.to_momenta(np.einsum("ab,rab->r", weight, averages["static"][0, 0] - beta * apart))
        values |= {f"{kind}_square": equal.sum(), f"{kind}_correlation": equal,
                   f"{kind}_susceptibility": integral.real}
    return values


def labels(equations, evaluation):
    """Return axes, unit and convention of each observable."""
    cluster, mesh = evaluation.model.cluster, evaluation.mesh
    momenta, sites = Axis("K", np.array(cluster.momenta), "1/a"), Axis("R", np.array(cluster.sites), "a")
    functions, energies = ("G", "G_anomalous", "Sigma", "Sigma_anomalous"), (
        "mu", "energy_kinetic", "energy_potential", "energy", "Sigma", "Sigma_anomalous", "Sigma_infinity", "gap")
    axes = {**dict.fromkeys(functions, [momenta, Axis("omega", mesh.omega, "t")]),
            "G_tau": [momenta, Axis("tau", np.linspace(0, mesh.beta, TAU_POINTS), "1/t")],
            **dict.fromkeys(("Sigma_infinity", "gap", "order_amplitude"), [momenta]),
            **{f"{kind}_correlation": [sites] for kind in ("spin", "charge")},
            **{f"{kind}_susceptibility": [momenta] for kind in ("spin", "charge")}}
    units = dict.fromkeys(energies, "t") | dict.fromkeys(
        ("G", "G_anomalous", "spin_susceptibility", "charge_susceptibility"), "1/t")
    conventions = CONVENTIONS | (OF_PAIRS if equations.spinor.order.is_paired else OF_SPINS)
    return {name: {"axes": axes.get(name, []), "unit": units.get(name, ""), "convention": convention}
            for name, convention in conventions.items()}


CONVENTIONS = {
    "sign": "average sign of the configurations' weights",
    "mu": "chemical potential: given, or that of the lattice with Sigma and the wanted density",
    "density": "<n_up + n_dn> per site",
    "expansion_order": "<k>, vertices in a configuration",
    "order_identity": "<k> + beta N_c <H_int with alphas>; zero within errors in a correct run",
    "energy_kinetic": "<H_0> per site",
    "energy_potential": "<H_int> per site",
    "energy": "kinetic + potential, per site, without -mu n",
    "G": "G_up(K, iw) of the cluster, w > 0 sampling points; G(-iw) = G(iw)*",
    "Sigma": "1/bath - 1/G, element 11, that of spin up, with the Hartree term of the density asked for",
    "Sigma_infinity": "Hartree and Fock terms of Sigma: element 11 at infinite frequency",
    "gap": "-Re Sigma12(K, i pi T) / (1 - Im Sigma11(K, i pi T)/(pi T))",
    "G_tau": "G_up(K, tau) = -<T c(tau) c+(0)>",
    "double_occupancy": "<n_up n_dn> per site",
    "spin_square": "<(sum S^z)^2>/N_c connected, equal times",
    "charge_square": "<(sum n)^2>/N_c connected, equal times",
    "spin_correlation": "<S^z_R S^z_0>, connected, equal times; z is across ordered spins",
    "charge_correlation": "<n_R n_0>, connected, equal times",
    "spin_susceptibility": "int_0^beta dtau <S^z(tau) S^z>_connected at q = K, per site; z is across ordered spins",
    "charge_susceptibility": "int_0^beta dtau <n(tau) n>_connected at q = K, per site",
}
OF_PAIRS = {
    "order_parameter": "1/N_c sum_K f(K) Re <c_-K,dn c_K,up>, f = 1 (s) or (cos K_x - cos K_y)/2 (d)",
    "order_amplitude": "Re <c_-K,dn c_K,up>, equal times",
    "G_anomalous": "-G12(K, iw) of the spinor (c_K,up, c+_-K,dn)",
    "Sigma_anomalous": "-Sigma12(K, iw) of the spinor, the gap function before renormalisation",
}
OF_SPINS = {
    "order_parameter": "staggered magnetisation <(-1)^i S_i> per site, 1/2 at most",
    "order_amplitude": "Re <c+_K+Q,dn c_K,up>, equal times, spins along x",
    "G_anomalous": "-G12(K, iw) of the spinor (c_K,up, c_K+Q,dn), spins along x",
    "Sigma_anomalous": "-Sigma12(K, iw) of that spinor: half of Sigma of spins against m less that of spins along m",
}

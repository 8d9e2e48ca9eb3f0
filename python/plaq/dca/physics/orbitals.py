"""Observables of a general model without two-particle functions, per cell; axes of spins and orbitals have names.

Axes of length 1 of spins and orbitals are left out, so that one orbital with equal spins has the axes of one band.
"""

from __future__ import annotations

import numpy as np

from plaq.data.estimate import Axis
from plaq.dca.lattice.interaction import DN, UP
from plaq.dca.physics.single_particle import TAU_POINTS
from plaq.dca.solver import ctint

SPINS = ("up", "down")
INNER = ("spin", "spin'", "orbital", "orbital'")  # axes that are left out where they have length 1


def single_particle(equations, evaluation, m, sign, order, averages):
    """Return everything that needs no two-particle function, from averages without sign."""
    model, mesh = evaluation.model, evaluation.mesh
    density, holes = averages["density"], averages["equal_time"]
    g, sigma = evaluation.dyson(m)
    sigma = sigma + evaluation.hartree(density)
    on_lattice = evaluation.on_lattice(sigma)
    occupations = np.eye(equations.bands) - holes
    filling = density + missing(equations, evaluation, density)
    potential = float(np.array([term.value for term in equations.terms]) @ averages["vertices"])
    kinetic = kinetic_energy(equations, on_lattice, sigma, occupations)
    expected = ctint.expected_order(model, averages, mesh.beta, evaluation.K)
    values = {
        "sign": sign, "mu": on_lattice.mu, "density": equations.filling(density), "expansion_order": order,
        "order_identity": order - expected,
        "energy_kinetic": kinetic, "energy_potential": potential, "energy": kinetic + potential,
        "G": g, "Sigma": sigma, "Sigma_infinity": equations.mean_field(filling, occupations),
        "G_tau": in_time(equations, mesh, g, holes), **densities(density),
    }
    values |= pair_correlations(equations, mesh.beta, density, averages["pairs"], averages["static"])
    return presented(equations, values)


def densities(density):
    """Return the observables that densities [spin, a] are."""
    magnetisation = (density[UP] - density[DN]) / 2
    return {"density_orbital": density.sum(axis=0), "density_spin": density, "magnetisation": magnetisation.sum(),
            "magnetisation_orbital": magnetisation}


def presented(equations, values):
    """Return the observables that are shown, with the axes that they have."""
    return {name: trimmed(equations, value, AXES[name]) for name, value in values.items() if name in shown(equations)}


def missing(equations, evaluation, density):
    """Return the correction of the density [spin, a] to the one asked for, as in the Hartree term of Sigma."""
    if evaluation.target_density is None:
        return 0.0
    return equations.missing(evaluation.target_density, density)


def kinetic_energy(equations, on_lattice, sigma, occupations):
    """Return <H_0> per cell: (2/S) T/N_c sum_S,K,w Tr <h G>_patch e^(iw0+); isolated from occupations."""
    model, mesh = on_lattice.model, on_lattice.mesh
    both = 2 / (model.spins * model.cluster.size)
    coarse = model.coarse_graining
    if coarse.isolated:  # G at low frequencies has many times the noise of occupations
        return float(both * np.einsum("skab,skba->", coarse.h_mean, occupations).real)
    h_gbar = coarse.h_gbar(on_lattice.lattice_z(sigma))
    return float(both * mesh.equal_time(np.einsum("skaaw->w", h_gbar)))


def in_time(equations, mesh, g, holes):
    """Return G(K, tau) [S, K, a, b, tau] with its ends by <c_a c+_b> at equal times; real where the model is even."""
    algebra = equations.algebra
    before = algebra.to_cells(holes[..., None])[..., 0].real
    after = before - np.eye(equations.bands) * (np.arange(equations.model.cluster.size) == 0)[:, None, None]
    ends = np.stack([-before, after], axis=-1)
    values = algebra.to_momenta(mesh.at_tau(algebra.to_cells(g), np.linspace(0, mesh.beta, TAU_POINTS), ends=ends))
    return values.real if equations.even else values


def pair_correlations(equations, beta, density, pairs, static):
    """Return correlations at equal times and static susceptibilities from <n n> [s, s', R, a, b] and its integral."""
    cluster = equations.model.cluster
    signs = {"charge": np.ones((2, 2)), "spin": np.array([[1, -1], [-1, 1]]) / 4}
    apart = np.einsum("sa,tb->stab", density, density)[:, :, None]
    double = np.diagonal(pairs[UP, DN, 0])
    values = {"density_pairs": pairs, "double_occupancy": double.sum(), "double_occupancy_orbital": double}
    for kind, sign in signs.items():
        equal = np.einsum("st,strab->rab", sign, pairs - apart)
        integral = cluster.to_momenta(np.einsum("st,strab->rab", sign, static - beta * apart))
        values |= {f"{kind}_square": equal.sum(), f"{kind}_correlation": equal.sum(axis=(1, 2)),
                   f"{kind}_correlation_orbital": equal,
                   f"{kind}_susceptibility": integral.sum(axis=(1, 2)).real,
                   f"{kind}_susceptibility_orbital": integral.real if equations.even else integral}
    return values


FUNCTION = ("spin", "K", "orbital", "orbital'")
AXES = {
    **dict.fromkeys(("sign", "mu", "density", "expansion_order", "order_identity", "energy_kinetic",
                     "energy_potential", "energy", "magnetisation", "double_occupancy", "spin_square",
                     "charge_square"), ()),
    "G": (*FUNCTION, "omega"), "Sigma": (*FUNCTION, "omega"), "Sigma_infinity": FUNCTION, "G_tau": (*FUNCTION, "tau"),
    "density_orbital": ("orbital",), "density_spin": ("spin", "orbital"), "magnetisation_orbital": ("orbital",),
    "double_occupancy_orbital": ("orbital",), "density_pairs": ("spin", "spin'", "R", "orbital", "orbital'"),
    **{f"{kind}_correlation{of}": ("R", *inner) for kind in ("spin", "charge")
       for of, inner in (("", ()), ("_orbital", ("orbital", "orbital'")))},
    **{f"{kind}_susceptibility{of}": ("K", *inner) for kind in ("spin", "charge")
       for of, inner in (("", ()), ("_orbital", ("orbital", "orbital'")))},
}


def shown(equations) -> set[str]:
    """Return the names of observables that are not the same number twice."""
    spins, bands = equations.model.spins, equations.bands
    hidden = {name for name in AXES if name.endswith("_orbital") and bands == 1}
    if spins == 1:
        hidden |= {"density_spin", "magnetisation", "magnetisation_orbital"}
    return AXES.keys() - hidden


def trimmed(equations, value, names):
    """Return an array without its axes of length 1 of spins and orbitals."""
    if not names:
        return value
    value = np.asarray(value)
    out = tuple(i for i, name in enumerate(names) if name in INNER and value.shape[i] == 1)
    return np.squeeze(value, axis=out)


def labels(equations, evaluation):
    """Return axes, unit and convention of each observable of `single_particle`."""
    cluster, mesh = evaluation.model.cluster, evaluation.mesh
    spins, orbital = np.array(SPINS), np.array(evaluation.model.lattice.orbitals)
    axes = {"K": Axis("K", np.array(cluster.momenta), "1/a"), "R": Axis("R", np.array(cluster.sites), "a"),
            "omega": Axis("omega", mesh.omega, "t"), "tau": Axis("tau", np.linspace(0, mesh.beta, TAU_POINTS), "1/t"),
            "spin": Axis("spin", spins), "spin'": Axis("spin'", spins),
            "orbital": Axis("orbital", orbital), "orbital'": Axis("orbital'", orbital)}
    single = evaluation.model.spins == 1

    def along(name):
        kept = [axis for axis in AXES[name] if not (axis.startswith("orbital") and len(orbital) == 1)]
        if single and name in ("G", "Sigma", "Sigma_infinity", "G_tau"):
            kept.remove("spin")
        return [axes[axis] for axis in kept]

    isolated = evaluation.model.coarse_graining.isolated
    units = dict.fromkeys(("mu", "energy_kinetic", "energy_potential", "energy", "Sigma", "Sigma_infinity"), "t")
    units |= {"G": "1/t"} | {name: "1/t" for name in AXES if "susceptibility" in name}
    conventions = CONVENTIONS | {"energy_kinetic": CONVENTIONS["energy_kinetic"][isolated]}
    return {name: {"axes": along(name), "unit": units.get(name, ""), "convention": conventions[name]}
            for name in shown(equations)}


CONVENTIONS = {
    "sign": "average sign of the configurations' weights",
    "mu": "chemical potential: given, or that of the lattice with Sigma and the wanted density",
    "density": "electrons per cell, both spins, all orbitals",
    "expansion_order": "<k>, vertices in a configuration",
    "order_identity": "<k> + beta N_c <H_int with alphas>; zero within errors in a correct run",
    "energy_kinetic": ("T/N_c sum_s,K,w Tr <h G>_patch e^(iw0+), per cell, with energies of orbitals and fields",
                       "1/N_c sum_s,K Tr h(K) n(K), per cell, with energies of orbitals and fields"),
    "energy_potential": "<H_int>, per cell",
    "energy": "kinetic + potential, per cell, without -mu n",
    "G": "cluster G_ab(K, iw), w > 0 sampling points; G(-iw) = G(iw)^dagger",
    "Sigma": "1/bath - 1/G, matrices; Hartree term of the density asked for",
    "Sigma_infinity": "Hartree, Fock and exchange terms: Sigma at infinite frequency",
    "G_tau": "G_ab(K, tau) = -<T c_a(tau) c+_b(0)>; ends, 0+ and beta-, by densities at equal times",
    "density_orbital": "electrons of an orbital, both spins",
    "density_spin": "<n_as>",
    "magnetisation": "<S^z> per cell, S^z = (n_up - n_down)/2",
    "magnetisation_orbital": "<S^z> of an orbital",
    "double_occupancy": "sum_a <n_a,up n_a,down>, per cell",
    "double_occupancy_orbital": "<n_a,up n_a,down>",
    "density_pairs": "<n_as(R) n_bs'(0)>, equal times",
    "spin_square": "<(sum S^z)^2>/N_c connected, equal times",
    "charge_square": "<(sum n)^2>/N_c connected, equal times",
    "spin_correlation": "<S^z_R S^z_0> of cells, connected, equal times",
    "charge_correlation": "<n_R n_0> of cells, connected, equal times",
    "spin_correlation_orbital": "<S^z_a(R) S^z_b(0)> connected, equal times",
    "charge_correlation_orbital": "<n_a(R) n_b(0)> connected, equal times",
    "spin_susceptibility": "int_0^beta dtau <S^z(tau) S^z> connected at q = K on the cluster, per cell",
    "charge_susceptibility": "int_0^beta dtau <n(tau) n> connected at q = K, per cell",
    "spin_susceptibility_orbital": "int_0^beta dtau <S^z_a(tau) S^z_b> connected at q = K on the cluster",
    "charge_susceptibility_orbital": "int_0^beta dtau <n_a(tau) n_b> connected at q = K on the cluster",
}

"""Checks of an input of ``plaq dca`` that involve several keys: one line with the key, its value, what is allowed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

from plaq.dca.inputs.table import LEAST_DENSITY, MOST_FREQUENCIES
from plaq.dca.lattice.hamiltonian import Hamiltonian
from plaq.dca.lattice.interaction import Torus
from plaq.dca.lattice.model_reader import read_hamiltonian
from plaq.dca.lattice.order import FEWEST_ITERATIONS, SEEDED, form_factor
from plaq.dca.lattice.table_of_states import check_states
from plaq.errors import InputError
from plaq.inputs.schema import shown, to_toml

MOST_CHAINS_DISTRIBUTED = 30_001  # with measurements sent between ranks: a chain's number is its messages' tag
FLATTEST = 1e-3  # least T over the band's steepest slope: below it coarse graining needs some 10^8 momenta
MOST_EXACT, MOST_EXACT_PAIRS = 8, 4  # sites times orbitals of exact diagonalisation; with two-particle functions
WIDEST = 1e8  # energies over T that Matsubara functions are made for


def refusal(source: str) -> Callable[[str], NoReturn]:
    """Return what raises InputError with a message on the input ``source``."""
    def refuse(message: str) -> NoReturn:
        raise InputError(f"{source}: {message}")

    return refuse


def check(values: Mapping[str, Any], source: str) -> None:
    """Check conditions that involve several keys."""
    model, dca, solver, pairs = (values[name] for name in ("model", "dca", "solver", "two_particle"))

    refuse = refusal(source)
    hamiltonian = read_hamiltonian(model, refuse, values["order"])
    pairs = replace(pairs, channels=wanted_channels(solver, pairs, hamiltonian))
    values = {**values, "two_particle": pairs}
    check_states(model, dca, pairs, hamiltonian.beyond_one_band, refuse)
    check_solver(solver, dca, pairs, hamiltonian, refuse)
    if hamiltonian.order is not None:
        check_order(solver, dca, pairs, hamiltonian, refuse)
    most = 2 * len(hamiltonian.orbitals) - LEAST_DENSITY
    if dca.density is not None and dca.density > most:
        refuse(f"dca.density = {dca.density} is not allowed: it must be a number in [{LEAST_DENSITY}, {most}]")
    if (dca.density is None) == (dca.mu is None):
        both = "both are given" if dca.mu is not None else "neither is given"
        refuse(f"exactly one of dca.density and dca.mu must be given: {both}")
    if dca.minimum_iterations > dca.iterations:
        refuse(f"dca.minimum_iterations = {dca.minimum_iterations} must be ≤ dca.iterations = {dca.iterations}")
    if dca.iterations == 1 and dca.mu is None:
        refuse("dca.iterations = 1 needs dca.mu instead of dca.density: the mu of a density takes several")
    if len(set(dca.temperatures)) != len(dca.temperatures):
        refuse(f"dca.temperatures = {shown(dca.temperatures)} must not repeat a value")
    if solver.bins % solver.chains and solver.chains % solver.bins:
        refuse(f"solver.bins = {solver.bins} and solver.chains = {solver.chains}: one must be a "
               "multiple of the other")
    least, name = max((solver.bins, "solver.bins"), (solver.chains, "solver.chains"))
    if solver.measurements < least:
        refuse(f"solver.measurements = {solver.measurements} must be ≥ {name} = {least}")
    first = solver.measurements_first
    if first != "auto" and not least <= first <= solver.measurements:
        refuse(f"solver.measurements_first = {first} must lie between {name} = {least} and "
               f"solver.measurements = {solver.measurements}")
    if pairs.measurements != "auto" and pairs.measurements < least:
        refuse(f"two_particle.measurements = {pairs.measurements} must be ≥ {name} = {least}")
    if pairs.frequencies != "auto" and pairs.omega_max is not None:
        refuse("two_particle.frequencies and two_particle.omega_max both set the window: give one of them")
    for name in ("channels", "bosonic"):
        given = getattr(pairs, name)
        if len(set(given)) != len(given):
            refuse(f"two_particle.{name} = {shown(given)} must not repeat a value")
    if pairs.omega_max is not None:
        check_window(pairs.omega_max, [T for T in dca.temperatures if T <= pairs.below], refuse)
    if pairs.transfers != "auto":
        check_transfers(pairs.transfers, hamiltonian, refuse)
    if pairs.momenta is not None:
        check_momenta(values, hamiltonian, refuse)
    check_scales(hamiltonian, dca, refuse)
    if pairs.decomposition:
        if hamiltonian.is_general or solver.kind == "ctint":
            refuse("two_particle.decomposition = true divides the vertex of one band with U ≥ 0 only: leave it out")
        check_decomposition(values, refuse)
    if values["run"].two_particle == "distributed" and pairs.samples:
        refuse('run.two_particle = "distributed" keeps no samples: two_particle.samples = true needs "local" or "auto"')
    if values["run"].two_particle == "distributed" and (hamiltonian.is_general or solver.kind == "ctint"):
        refuse('run.two_particle = "distributed" shares functions of one band by CT-AUX only: give "local" or "auto"')
    if values["run"].two_particle == "distributed" and solver.chains > MOST_CHAINS_DISTRIBUTED:
        refuse(f'run.two_particle = "distributed" allows at most {MOST_CHAINS_DISTRIBUTED} chains: '
               f'solver.chains = {solver.chains}')


def wanted_channels(solver: Any, pairs: Any, hamiltonian: Hamiltonian) -> tuple[str, ...]:
    """Return two_particle.channels, where it is "auto" that of the model and the solver."""
    if pairs.channels != "auto":
        return pairs.channels
    exact = solver.kind == "ed" and hamiltonian.modes > MOST_EXACT_PAIRS
    return () if exact or solver.kind == "ctint" or hamiltonian.is_general else ("pp",)


def check_solver(solver: Any, dca: Any, pairs: Any, hamiltonian: Hamiltonian, refuse) -> None:
    """Refuse a model that the solver does not take."""
    exact = solver.kind == "ed"
    if exact and not dca.isolated:
        refuse('solver.kind = "ed" solves isolated clusters only: it needs dca.isolated = true')
    if exact and hamiltonian.modes > MOST_EXACT:
        refuse(f'solver.kind = "ed" solves at most {MOST_EXACT} sites or orbitals: model.cluster has '
               f"{hamiltonian.modes}")
    measured = bool(pairs.channels) and min(dca.temperatures) <= pairs.below
    if exact and measured and hamiltonian.modes > MOST_EXACT_PAIRS:
        refuse(f'solver.kind = "ed" has two-particle functions of at most {MOST_EXACT_PAIRS} sites or orbitals, and '
               f"model.cluster has {hamiltonian.modes}: give two_particle.channels = []")
    if solver.kind == "ctaux" and (beyond := hamiltonian.beyond_one_band):
        refuse(f'solver.kind = "ctaux" takes one band with U ≥ 0 in two dimensions, and this model has {beyond}: give '
               'solver.kind = "ctint"')
    if measured and hamiltonian.spins == 2:
        refuse(f"two_particle.channels = {shown(pairs.channels)}: two-particle functions are there only where up and "
               "down are equivalent, and this model has a field, or hops that depend on the spin: give []")


def check_order(solver: Any, dca: Any, pairs: Any, hamiltonian: Hamiltonian, refuse) -> None:
    """Refuse an ordered phase that the solver or the cluster does not take."""
    order = hamiltonian.order
    if solver.kind == "ed":
        refuse(f'order.kind = "{order.kind}" needs solver.kind = "ctint": exact diagonalisation has no broken symmetry')
    if pairs.channels:
        refuse(f'order.kind = "{order.kind}": two-particle functions are those of the normal phase: give '
               "two_particle.channels = []")
    if not dca.isolated and dca.iterations < FEWEST_ITERATIONS:
        refuse(f'order.kind = "{order.kind}" needs dca.iterations of {FEWEST_ITERATIONS} or more: the first '
               f"{SEEDED} have a field")
    if abs(Torus(hamiltonian.vectors).size) == 1 and dca.isolated and not order.is_paired:
        refuse(f'order.kind = "{order.kind}" alternates from site to site: an isolated cluster needs two sites')
    if order.symmetry == "d":
        from plaq.dca.lattice.cluster import Cluster
        from plaq.dca.lattice.hopping import Lattice

        momenta = Cluster(Lattice(hamiltonian.table), hamiltonian.vectors).momenta
        if not any(form_factor("d", K) for K in momenta):
            refuse('order.symmetry = "d": cos K_x - cos K_y is 0 at all momenta of model.cluster = '
                   f"{to_toml(hamiltonian.vectors)}")


def check_scales(hamiltonian: Hamiltonian, dca: Any, refuse) -> None:
    """Refuse temperatures for which the band, U and mu are too steep or too wide."""
    coldest, steepest = min(dca.temperatures), hamiltonian.steepest
    if not dca.isolated and coldest < FLATTEST * steepest:
        refuse(f"dca.temperatures holds {coldest}: with a bath and this hopping, whose band is as steep as "
               f"{steepest:.4g} times a, at least {FLATTEST * steepest:.4g} is allowed, or the momenta to average "
               "over are too many")
    widest = hamiltonian.width + abs(dca.mu or 0.0)
    if coldest < widest / WIDEST:
        refuse(f"dca.temperatures holds {coldest}: with band, U and mu as wide as {widest:.4g} together, at least "
               f"{widest / WIDEST:.4g} is allowed")


def check_window(omega_max: float, temperatures: list[float], refuse) -> None:
    coldest = min(temperatures, default=float("inf"))
    count = omega_max / (2 * math.pi * coldest)
    if count > MOST_FREQUENCIES:
        refuse(f"two_particle.omega_max = {omega_max} holds {count:.0f} frequencies at T = {coldest}: "
               f"at most {MOST_FREQUENCIES} are allowed")


def check_decomposition(values: Mapping[str, Any], refuse: Callable) -> None:
    """Refuse a decomposition of the pairing vertex where that vertex, or what it is divided into, is not measured."""
    pairs = values["two_particle"]
    if not measures_pairing(pairs):
        refuse('two_particle.decomposition = true needs pairing at q = 0, nu = 0: "pp" in two_particle.channels, '
               "[0, 0] in transfers and 0 in bosonic")
    if values["run"].two_particle == "distributed":
        refuse('run.two_particle = "distributed" has no whole function on a rank: two_particle.decomposition = true '
               'needs "local" or "auto"')


def measures_pairing(pairs: Any) -> bool:
    """Return whether pp at q = 0, nu = 0 is among the two-particle functions: it alone is stored in its real form."""
    at_zero = pairs.transfers == "auto" or any(all(x % 2 == 0 for x in q) for q in pairs.transfers)
    return "pp" in pairs.channels and at_zero and 0 in pairs.bosonic


def transfers(hamiltonian: Hamiltonian, dca: Any, pairs: Any) -> list[list[float]]:
    """Return the transfers in pi/a that the input needs where it does not give them."""
    if pairs.momenta is None:
        return [[0.0] * hamiltonian.dimension]
    from plaq.dca.lattice.transfers import transfers_of

    return transfers_of(pairs, point_group(hamiltonian, dca.isolated))


def point_group(hamiltonian: Hamiltonian, isolated: bool):
    """Return the point group of the cluster, as the run has it."""
    from plaq.dca.lattice.cluster import Cluster
    from plaq.dca.lattice.hopping import Lattice
    from plaq.dca.lattice.symmetry import PointGroup

    cluster = Cluster(Lattice(hamiltonian.table, hamiltonian.orbitals, hamiltonian.positions), hamiltonian.vectors)
    return PointGroup(cluster, *((hamiltonian.interaction, isolated) if hamiltonian.is_general else ()))


def check_momenta(values: Mapping[str, Any], hamiltonian: Hamiltonian, refuse) -> None:
    """Refuse momenta of the lattice at which nothing can be evaluated."""
    pairs = values["two_particle"]
    if not isinstance(pairs.momenta, int):
        for q in pairs.momenta:
            if len(q) != hamiltonian.dimension:
                refuse(f"two_particle.momenta: {to_toml(q)} has {len(q)} component(s), and the lattice "
                       f"{hamiltonian.dimension}")
    if not set(pairs.channels) & {"pp", "magnetic", "charge", "transverse"}:
        refuse(f'two_particle.momenta needs "pp", "magnetic", "charge" or "transverse" in two_particle.channels = '
               f"{shown(pairs.channels)}")
    from plaq.dca.lattice.transfers import check_momenta

    isolated = values["dca"].isolated
    check_momenta(pairs, point_group(hamiltonian, isolated), isolated, refuse)


def check_transfers(transfers: tuple[tuple[float, ...], ...], hamiltonian: Hamiltonian, refuse) -> None:
    """Refuse a q that is no cluster momentum, q = 2 m/N_c with integers m for which cluster . m is a multiple of N_c.
    """
    vectors, dimension = hamiltonian.vectors, hamiltonian.dimension
    sites = abs(Torus(vectors).size)
    known = {}
    for q in transfers:
        if len(q) != dimension:
            refuse(f"two_particle.transfers: {to_toml(q)} has {len(q)} component(s), and the lattice {dimension}")
        exact = [x * sites / 2 for x in hamiltonian.momentum(q)]
        m = [round(value) for value in exact]
        near = max(abs(x - y) for x, y in zip(exact, m)) < 5e-7
        if not near or any(sum(x * y for x, y in zip(row, m)) % sites for row in vectors):
            refuse(f"two_particle.transfers: {to_toml(q)} pi/a is not a momentum of the cluster"
                   + _momenta_in_words(hamiltonian))
        first = known.setdefault(tuple(x % sites for x in m), q)
        if first is not q:
            refuse(f"two_particle.transfers: {to_toml(first)} and {to_toml(q)} are the same momentum of the "
                   "cluster: give it once")


def _momenta_in_words(hamiltonian: Hamiltonian) -> str:
    if hamiltonian.dimension != 2 or hamiltonian.is_doubled:
        return ""
    from plaq.dca.lattice.cluster import Cluster
    from plaq.dca.lattice.hopping import Lattice

    return "; these are " + " ".join(Cluster(Lattice.square(), hamiltonian.vectors).names)

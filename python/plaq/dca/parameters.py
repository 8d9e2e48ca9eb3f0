"""Parameters of ``plaq dca``: the table, checks across keys, and the frozen object that a run carries."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NoReturn

from plaq.dca.lattice import order
from plaq.dca.lattice.hamiltonian import Hamiltonian
from plaq.dca.lattice.interaction import Torus
from plaq.dca.lattice.model_reader import read_hamiltonian
from plaq.dca.lattice.order import FEWEST_ITERATIONS, SEEDED, form_factor
from plaq.dca.lattice.ready import READY
from plaq.dca.lattice.section import MOST_ORBITALS, ROWS
from plaq.dca.lattice.table_of_states import BETHE, check_states, read_states
from plaq.dca.lattice.wannier import read_hopping
from plaq.dca.units import unit_of
from plaq.errors import InputError
from plaq.inputs import parameters, running
from plaq.inputs.kinds import boolean, choice, devices, either, integer, list_of, one_of, real, text
from plaq.inputs.parameters import with_key
from plaq.inputs.schema import REQUIRED, Parameter, Schema, shown, to_toml

LEAST_DENSITY = 0.01  # of electrons and of holes
PROGRAM = "plaq dca"  # its name in logs and files

SECTIONS = {
    "model": "The Hubbard model, its lattice and its cluster.",
    "order": order.DOC,
    "dca": "Temperatures, filling and the self-consistency loop.",
    "solver": "The cluster solver and its statistics. `measurements` counts configurations over all chains.",
    "two_particle": "Two-particle Green's functions and the Bethe-Salpeter equation.",
    "run": running.DOC,
}

WARM_UP, WARM_UP_EXCHANGE = 200, 2000  # sweeps; the spin of two orbitals decorrelates within some 200
MOST_FREQUENCIES = 2048  # positive ones of a two-particle window

MOST_CHAINS_DISTRIBUTED = 30_001  # with measurements sent between ranks: a chain's number is its messages' tag
FLATTEST = 1e-3  # least T over the band's steepest slope: below it coarse graining needs some 10^8 momenta
MOST_EXACT, MOST_EXACT_PAIRS = 8, 4  # sites times orbitals of exact diagonalisation; with two-particle functions
WIDEST = 1e8  # energies over T that Matsubara functions are made for

_measurements = integer(1, 2 * 10**9)
_momentum = list_of(real("[-64, 64]"), 1, longest=3)

TABLE = [
    *ROWS,
    *order.ROWS,
    Parameter("dca", "temperatures", list_of(real("[1e-4, 1e4]"), shortest=1, longest=1000), REQUIRED, "t",
              "temperatures in the order they are run, each from the last one's self-energy"),
    Parameter("dca", "start", text(), None, "",
              "hash of the state of another run that the first temperature starts from, which `--from` sets"),
    Parameter("dca", "sigma", text(), "hartree", "",
              "initial self-energy of the first temperature: \"hartree\" is U n/2, \"zero\" none, "
              "else a file of K_x, K_y, omega, re, im as `plaq dca export` writes it"),
    Parameter("dca", "density", real(f"[{LEAST_DENSITY}, {2 * MOST_ORBITALS - LEAST_DENSITY}]"), None, "",
              "electrons per site, with orbitals per cell, both spins, for which mu is searched: 0.01 to 1.99 for each "
              "orbital; give density or mu"),
    Parameter("dca", "mu", real("[-1e5, 1e5]"), None, "t",
              "chemical potential; U/2 is half filling with particle-hole symmetry"),
    Parameter("dca", "isolated", boolean(), False, "", "solve the bare cluster: no bath, no loop"),
    Parameter("dca", "iterations", integer(1, 1000), 20, "",
              "largest number of iterations at one temperature, final ones included; 1 needs mu"),
    Parameter("dca", "minimum_iterations", integer(1, 1000), 1, "", "least number of iterations at one temperature"),
    Parameter("dca", "tolerance", real("(0, 1000]"), 1.5, "",
              "the approach may end when output and input self-energy, and the densities of cluster and lattice, "
              "differ by less than this many errors"),
    Parameter("solver", "kind", choice("auto", "ctaux", "ctint", "ed"), "auto", "",
              "ctaux: continuous-time auxiliary field, for one band with U ≥ 0; ctint: interaction expansion, for all "
              "models; ed: exact diagonalisation of an isolated cluster up to 8 orbitals; auto: ctaux where it can"),
    Parameter("solver", "measurements", _measurements, 100_000, "configurations",
              "measured in the final iterations, together"),
    Parameter("solver", "measurements_first", one_of("auto", _measurements), "auto", "configurations",
              "measured in each iteration of the approach; auto is a twentieth of measurements"),
    Parameter("solver", "chains", integer(1, 1_000_000), 16, "",
              "Markov chains; results depend on their number, not on the workers"),
    Parameter("solver", "bins", integer(64, 65536), 64, "", "bins for error bars, over all chains; "
              "this or `chains` must be a multiple of the other"),
    Parameter("solver", "warmup", one_of("auto", integer(0, 10**9)), "auto", "sweeps",
              f"before a chain measures for the first time; auto: {WARM_UP}, with kanamori {WARM_UP_EXCHANGE}, as "
              "spins then turn slowly"),
    Parameter("solver", "measure_every", one_of("auto", integer(1, 10**6)), "auto", "sweeps",
              "between two measurements"),
    Parameter("solver", "K", one_of("auto", real("[1e-3, 1e4]")), "auto", "",
              "constant of the expansion: cosh(gamma) = 1 + beta U N_c/(2K); auto: 1, or near half filling a number "
              "below 0"),
    Parameter("solver", "block_length", one_of("auto", integer(1, 4096)), "auto", "proposals",
              "in one submatrix update"),
    Parameter("solver", "precision", choice("double", "float"), "double", "",
              "of the walker's matrix; float is refreshed in double"),
    Parameter("solver", "seed", integer(0, 2**63 - 1), 1, "", "of all random numbers"),
    Parameter("two_particle", "channels",
              one_of("auto", list_of(choice("pp", "magnetic", "charge", "transverse", "upup", "updown"))), "auto", "",
              "two-particle functions to measure; an empty list for none; auto: pp of one band with U ≥ 0, else none"),
    Parameter("two_particle", "below", real("(0, inf]"), float("inf"), "t",
              "measured at temperatures up to this one"),
    Parameter("two_particle", "measurements", one_of("auto", _measurements), "auto", "configurations",
              "measured in the final iterations of those temperatures, in place of solver.measurements; the approach "
              "then has more in proportion; auto is solver.measurements"),
    Parameter("two_particle", "frequencies", one_of("auto", integer(1, MOST_FREQUENCIES)), "auto", "",
              "positive fermionic Matsubara frequencies in the window; auto is 16 unless omega_max is given"),
    Parameter("two_particle", "omega_max", real("(0, 1e9]"), None, "t",
              "instead of frequencies: the window's largest frequency"),
    Parameter("two_particle", "transfers", one_of("auto", list_of(_momentum, shortest=1)), "auto", "pi/a",
              "momentum transfers q: different momenta of the cluster; auto: those that momenta needs, else q = 0"),
    Parameter("two_particle", "bosonic", list_of(integer(-1000, 1000), shortest=1), [0], "",
              "bosonic frequency transfers nu = 2 pi m T, as m"),
    Parameter("two_particle", "momenta", either(integer(2, 1000), list_of(_momentum, shortest=1, longest=1000)), None,
              "pi/a", "momenta q of the lattice at which susceptibilities and leading eigenvalues are evaluated: "
              "a list, or a number of points on the path through the points of high symmetry"),
    Parameter("two_particle", "samples", boolean(), None, "",
              "true: keep the jackknife samples of two-particle functions in results.h5"),
    Parameter("two_particle", "decomposition", boolean(), None, "",
              "true: measure the magnetic and charge functions at all transfers of the cluster, and divide the pairing "
              "vertex into their exchange and the rest"),
    *running.rows([
        Parameter("run", "device", devices(), "none", "",
                  "devices on which chains walk and are measured: none for the workers, numbers of GPUs, or auto for "
                  "GPUs where there are some; changes results, within errors. Experimental"),
        Parameter("run", "two_particle", choice("auto", "local", "distributed"), "auto", "",
                  "sums of two-particle functions: local keeps all on every rank; distributed gives each rank part of "
                  "the rows, to which measurements are sent; auto distributes them where all would not fit a rank's "
                  "memory"),
        Parameter("run", "chains_in_flight", one_of("auto", integer(1, 4096)), "auto", "chains",
                  "that run at once on each rank; auto: as few as keep the workers busy"),
    ]),
]

SCHEMA = Schema(SECTIONS, TABLE)

MEASUREMENTS = ("solver.measurements", "solver.measurements_first", "two_particle.measurements")


class Parameters(parameters.Parameters):
    """Parameters of one run, checked and frozen: ``p.model.U``, ``p.dca.temperatures``, ``p.solver.chains``.

        Parameters(model={"U": 6}, dca={"temperatures": [1, 0.5], "density": 0.95})
    """

    SCHEMA = SCHEMA
    INSTEAD = {
        "dca.temperatures": "a run resumes with temperatures that are added after its last one",
        "dca.start": "a run that has begun resumes from its own copy of its start: leave --from out",
        "solver.measurements": "a finished run resumes with more measurements, never with fewer of a kind",
        "two_particle.measurements": "a finished run resumes with more measurements, never with fewer of a kind",
    }

    @classmethod
    def check(cls, values: Mapping[str, Any], source: str) -> None:
        check(values, source)

    @classmethod
    def resolved(cls, sections: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
        model, solver, pairs = (values[name] for name in ("model", "solver", "two_particle"))
        if model.lattice == "square":  # one input, one fingerprint
            sections = with_key(sections, "model", "lattice", None)
        if model.hopping_file is not None:  # a run has its hops, and needs the file no more
            hops = read_hopping(model.hopping_file, len(model.cluster), model.hopping_cutoff or 0.0)
            hopping = {d: m if len(m) > 1 else m[0][0] for d, m in hops.items()}
            for key, value in {"hopping": hopping, "hopping_file": None, "hopping_cutoff": None}.items():
                sections = with_key(sections, "model", key, value)
        hamiltonian = read_hamiltonian(model, _refusal(""), values["order"])
        if isinstance(model.density_of_states, str) and model.density_of_states != BETHE:
            sections = with_key(sections, "model", "density_of_states", read_states(model.density_of_states))
        if len(hamiltonian.orbitals) == 1 and not isinstance(model.U, float):  # by the name of the only orbital
            sections = with_key(sections, "model", "U", model.U[0][1])
        if solver.kind == "auto":
            sections = with_key(sections, "solver", "kind", "ctint" if hamiltonian.is_general else "ctaux")
        if pairs.channels == "auto":
            sections = with_key(sections, "two_particle", "channels", wanted_channels(solver, pairs, hamiltonian))
        if solver.warmup == "auto":
            exchanges = hamiltonian.interaction.exchanges
            sections = with_key(sections, "solver", "warmup", WARM_UP_EXCHANGE if exchanges else WARM_UP)
        if solver.measurements_first == "auto":
            first = max(solver.bins, solver.chains, solver.measurements // 20)
            sections = with_key(sections, "solver", "measurements_first", min(first, solver.measurements))
        if pairs.measurements == "auto":
            sections = with_key(sections, "two_particle", "measurements", solver.measurements)
        if pairs.transfers == "auto":
            sections = with_key(sections, "two_particle", "transfers", transfers(hamiltonian, values["dca"], pairs))
        if pairs.frequencies == "auto" and pairs.omega_max is None:
            sections = with_key(sections, "two_particle", "frequencies", 16)
        return sections

    def fingerprints(self) -> list[str]:
        """Return the fingerprints of the inputs that this one may resume: its own, and with fewer temperatures."""
        T = self.dca.temperatures
        return [self.replace(dca={"temperatures": list(T[:n])}).fingerprint() for n in range(len(T), 0, -1)]

    def family(self) -> str:
        """Return the hash of everything that determines the results of a temperature, except its measurements."""
        standard = {"measurements": 2 * 10**9, "measurements_first": "auto"}
        return self.replace(dca={"temperatures": [1.0]}, solver=standard,
                            two_particle={"measurements": "auto"}).fingerprint()

    def asked(self) -> tuple[int, int]:
        """Return the numbers of measurements without and with two-particle functions."""
        return self.solver.measurements, self.two_particle.measurements

    def may_grow(self, key: str, before: Parameters) -> bool:
        """Return whether ``key`` may differ from ``before``: by temperatures at the end, or by more measurements."""
        if key == "dca.temperatures":
            return self.dca.temperatures[:len(before.dca.temperatures)] == before.dca.temperatures
        more = self.asked() != before.asked() and all(a >= b for a, b in zip(self.asked(), before.asked()))
        return more and key in MEASUREMENTS

    @cached_property
    def hamiltonian(self) -> Hamiltonian:
        """H of the section [model], of every kind."""
        return read_hamiltonian(self.model, _refusal("Parameters"), self.order)

    @cached_property
    def is_general(self) -> bool:
        """Whether functions have spins and orbitals, [S, K, a, b, w], rather than [K, w] of one band."""
        return self.solver.kind == "ctint" or self.hamiltonian.is_general

    def hopping(self) -> dict[tuple[int, ...], Any]:
        """Return the hopping as `plaq.dca.lattice.hopping.Lattice` takes it, with both signs of every displacement.

        One band has ``{(dx, dy): amplitude}``; the amplitude enters H with its sign.
        """
        model = self.model
        if model.lattice is None and not self.hamiltonian.is_general:
            return hopping_table(model)
        return self.hamiltonian.table

    @property
    def unit(self) -> str:
        """Unit of energies: ``t``, or nothing (plaq.dca.units)."""
        model = self.model
        if isinstance(model.density_of_states, tuple):
            return ""
        if not self.hamiltonian.is_general:
            return unit_of(self.hopping())
        known = READY[model.lattice or "square"].amplitudes if model.hopping is None else ()
        return "t" if model.t == 1 and "t" in known else ""

    def measurements(self, temperature: float) -> tuple[int, int]:
        """Return the measurements at this temperature: of each of the first iterations, and of the final ones together.
        """
        solver = self.solver
        last = self.two_particle.measurements if self.measures_two_particle(temperature) else solver.measurements
        return max(solver.bins, solver.chains, solver.measurements_first * last // solver.measurements), last

    def measures_two_particle(self, temperature: float) -> bool:
        """Return whether two-particle functions are measured at this temperature."""
        return bool(self.two_particle.channels) and temperature <= self.two_particle.below


def hopping_table(model: Any) -> dict[tuple[int, int], float]:
    """Return ``{(dx, dy): amplitude}`` of one band, square or with a table of its own, in the order of its sums."""
    if model.hopping is not None:
        return {(s * dx, s * dy): amplitude for dx, dy, amplitude in model.hopping for s in (1, -1)}
    near = {d: -model.t for d in [(1, 0), (-1, 0), (0, 1), (0, -1)]}
    diagonal = {(x, y): -model.t_prime for x in (1, -1) for y in (1, -1)}
    return near | diagonal if model.t_prime else near


def _refusal(source: str) -> Callable[[str], NoReturn]:
    def refuse(message: str) -> NoReturn:
        raise InputError(f"{source}: {message}")

    return refuse


def check(values: Mapping[str, Any], source: str) -> None:
    """Check conditions that involve several keys."""
    model, dca, solver, pairs = (values[name] for name in ("model", "dca", "solver", "two_particle"))

    refuse = _refusal(source)
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
    if exact and pairs.channels and min(dca.temperatures) <= pairs.below:
        if hamiltonian.is_general:
            refuse('solver.kind = "ed" has two-particle functions of one band with U ≥ 0 only: give '
                   "two_particle.channels = []")
        if hamiltonian.modes > MOST_EXACT_PAIRS:
            refuse(f'solver.kind = "ed" has two-particle functions of at most {MOST_EXACT_PAIRS} sites, and '
                   f"model.cluster has {hamiltonian.modes}: give two_particle.channels = []")
    if solver.kind == "ctaux" and (beyond := hamiltonian.beyond_one_band):
        refuse(f'solver.kind = "ctaux" takes one band with U ≥ 0 in two dimensions, and this model has {beyond}: give '
               'solver.kind = "ctint"')
    expansion = solver.kind == "ctint" or (solver.kind == "auto" and hamiltonian.is_general)
    if expansion and pairs.channels and min(dca.temperatures) <= pairs.below and hamiltonian.spins == 2:
        refuse(f"two_particle.channels = {shown(pairs.channels)}: CT-INT measures two-particle functions only where up "
               "and down are equivalent, and this model has a field, or hops that depend on the spin: give []")


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
    if hamiltonian.dimension != 2:
        refuse(f"two_particle.momenta: responses at any q are of two dimensions, and this lattice has "
               f"{hamiltonian.dimension}: leave it out")
    if not isinstance(pairs.momenta, int) and any(len(q) != 2 for q in pairs.momenta):
        refuse(f"two_particle.momenta = {shown(pairs.momenta)}: each q has two components")
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

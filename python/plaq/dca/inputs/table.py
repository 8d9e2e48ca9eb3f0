"""Table of the parameters of ``plaq dca``: names, values allowed, defaults, units, descriptions."""

from __future__ import annotations

from plaq.dca.lattice import order
from plaq.dca.lattice.section import MOST_ORBITALS, ROWS
from plaq.inputs import running
from plaq.inputs.kinds import boolean, choice, devices, either, integer, list_of, one_of, real, text
from plaq.inputs.schema import REQUIRED, Parameter, Schema

LEAST_DENSITY = 0.01  # of electrons and of holes

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

"""Choices of the solver where the input says "auto".

A choice may change the bits of a result, so it follows from the input and from the Markov chains alone, never from a
clock: two machines, or two runs on a noisy one, choose the same. Speeds enter by the model below, with constants
that were measured once (benchmarks/README.md). A machine with other constants loses a little time and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.dca.lattice.particle_hole import at_half_filling


@dataclass(frozen=True)
class Rates:
    """Speed of one core in the two parts of the solver; the defaults are those that choices are made with."""

    walk: float = 5.5e10  # floating-point operations per second in the products of a sweep
    measure: float = 3e10  # the same in a measurement, counted for one of its two configurations
    proposal: float = 1e-6  # seconds beside products
    measurement: float = 6e-5
    element: float = 4e-9  # seconds for one complex element of G4 in a general channel, two configurations


LONGEST_INTERVAL = 16  # sweeps
FAST = 2.0  # sweeps: typical decay time of self-energies and eigenvalues
TYPICAL_TAU = 3.0  # sweeps: decay time of the slowest quantities where none was measured yet
PAIR_OF_TWO_FREQUENCIES, ELEMENT_WITH_ORBITALS = 3e-9, 3e-9  # seconds, of two-particle functions by CT-INT
WORM_EVERY, WORM_EVERY_ISOLATED = 10, 2  # sweeps
CHARGE_WORM_EVERY_ISOLATED = 2


def expansion_constant(parameters, cluster, beta):
    """Return k of the expansion at inverse temperature beta."""
    model, dca, solver = parameters.model, parameters.dca, parameters.solver
    if solver.K != "auto":
        return solver.K
    if dca.isolated:
        return 1.0
    symmetric = at_half_filling(parameters, cluster) is not None
    filling = 1.0 if symmetric else dca.density
    return constant_at(filling, symmetric, model.U, beta * cluster.size)


def constant_at(filling, symmetric, U, volume):
    """Return K where the cluster has a bath and holds ``filling`` electrons a site (None: not known).

    volume : beta N_c; symmetric : under exchange of particles and holes at half filling.

    Errors at equal time do not depend on K between 0.2 and 10. Below zero there are fewer vertices, and those where a
    site is empty or doubly occupied count negative. At half filling with that symmetry all weights stay positive. Near
    it K = -f U volume / 4 makes the sign smaller by exp(-0.03 f^2 volume), far from it by much more.
    """
    if filling is None or U == 0:
        return 1.0
    f = 1 / 3 if symmetric and filling == 1 else min(0.16 - 0.8 * abs(1 - filling), volume**-0.5)
    return -f * U * volume / 4 if f >= 0.02 else 1.0


def expected_order(parameters, cluster, beta, filling):
    """Return <k> = K + beta U N_c (n/2 - D), with D half of its uncorrelated value n^2/4.

    It is a first guess for the length of a sweep. In a general model every term of the interaction is counted so, all
    orbitals equally filled.
    """
    if parameters.is_general:
        h = parameters.hamiltonian
        filling /= len(h.orbitals)
        U = sum(abs(term.value) for term in (*h.interaction.pairs, *h.interaction.exchanges))
        constant = 1.0 if parameters.solver.K == "auto" else parameters.solver.K
    else:
        U, constant = parameters.model.U, expansion_constant(parameters, cluster, beta)
    return constant + beta * U * cluster.size * (filling / 2 - filling**2 / 8)


# Kinds of two-particle functions as sums of those that are measured. Transverse is magnetic by rotation of the spins,
# the others by the definition of magnetic and charge: docs/conventions.md.
SUMS = {"transverse": {"magnetic": 1.0}, "upup": {"charge": 0.5, "magnetic": 0.5},
        "updown": {"charge": 0.5, "magnetic": -0.5}}


def measured_as(kind):
    """Return {measured kind: factor} of a two-particle function."""
    return SUMS.get(kind, {kind: 1.0})


def measured_functions(functions):
    """Return the two-particle functions (kind, transfer index, bosonic index) to measure, once each, for those wanted.
    """
    return list(dict.fromkeys((part, q, m) for kind, q, m in functions for part in measured_as(kind)))


def window(parameters, beta):
    """Return positive fermionic frequencies of two-particle functions: given, or all up to omega_max."""
    two_particle = parameters.two_particle
    if two_particle.omega_max is None:
        return two_particle.frequencies
    return max(1, int((two_particle.omega_max * beta / np.pi + 1) / 2))


def block_length(solver, order):
    """Return proposals per submatrix update: large products against a larger B; a quarter of the order is fastest."""
    return int(np.clip(16 * round(order / 64), 16, 128)) if solver.block_length == "auto" else solver.block_length


def sweeps_between_worms(isolated):
    """Return the sweeps between moves of the total spin: a tenth of the time for them, half without a bath.

    Without a bath nothing else changes the total spin.
    """
    return WORM_EVERY_ISOLATED if isolated else WORM_EVERY


def sweeps_between_charge_worms(isolated):
    """Return the sweeps between moves of the particle number, which nothing else changes without a bath; 0: no moves.
    """
    return CHARGE_WORM_EVERY_ISOLATED if isolated else 0


def costs(order, sites, frequencies, window, channels=0, rates=Rates()):
    """Return (seconds of a sweep, seconds of a measurement) on one core.

    window: positive frequencies of G4, 0 for none; channels: two-particle functions beside pairing at q = 0.
    """
    walk = order * (6.5 * order**2 / rates.walk + rates.proposal)
    columns = 2 * frequencies + 4 * sites + 2 * window
    operations = 4 * order**2 * columns + 16 * window**2 * sites * (order + sites**2)
    elements = channels * (2 * sites * window) ** 2
    return walk, operations / rates.measure + elements * rates.element + rates.measurement


def expansion_costs(order, flavours, frequencies, reach=0, elements=0):
    """Return (seconds of a sweep, seconds of a measurement) of CT-INT on one core; flavours: sites times orbitals.

    reach: positive frequencies of two-particle functions with their shifts; elements: of all functions together.
    """
    walk = order * (3e-7 + 2.2e-8 * order + 2.6e-10 * order**2)
    pairs = (2 * flavours * reach) ** 2  # of a configuration's function in one block
    return walk, (4e-7 * flavours**2 + order * (frequencies * (5e-9 + 1e-10 * order) + 1.5e-8 * flavours)
                  + PAIR_OF_TWO_FREQUENCIES * pairs * flavours + ELEMENT_WITH_ORBITALS * elements)


def measure_every(solver, tau, walk, measure):
    """Return the sweeps from one measurement to the next that give small errors in a given time.

    walk, measure : seconds of a sweep and of a measurement; tau : decay time in sweeps, None where it is not known.

    With the costs w of a sweep and m of a measurement, the error squared after a fixed time is proportional to
    (e w + m) coth(e / 2 tau) for measurements e sweeps apart of a quantity with decay time tau. The slowest quantities
    lose little by a shorter e, the others much by a longer one. The product of both is minimised, for tau and for
    FAST where that is less.
    """
    if solver.measure_every != "auto":
        return solver.measure_every
    if tau is None:
        return 1
    intervals = np.arange(1, LONGEST_INTERVAL + 1)
    slow, fast = (1 / np.tanh(intervals / (2 * t)) for t in (tau, min(tau, FAST)))
    return int(intervals[np.argmin((intervals * walk + measure) ** 2 * slow * fast)])

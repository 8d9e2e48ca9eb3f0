"""Plan of the core for an input."""

from __future__ import annotations

import math

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.pic.inputs.cut_edges import cut_edges
from plaq.pic.inputs.emission import emitter_of
from plaq.pic.inputs.external import external_of
from plaq.pic.inputs.gas import scattering_of
from plaq.pic.inputs.reaction import reaction_of
from plaq.pic.inputs.secondary import secondary_of
from plaq.pic.inputs.setup import Setup
from plaq.pic.inputs.units import ATOMIC_FIELD, ATOMIC_TIME, ELECTRON_REST_ENERGY, HARTREE, VACUUM_PERMITTIVITY


def plan_of(setup: Setup, whole: bool = True) -> _core.pic.Plan:
    """Return the plan of the core. InputError where a value is not allowed.

    Not ``whole``, before a run: arrays with a number for each step or cell are only checked, where that is more than
    `Setup.samples` at a sample of them.
    """
    p, plan = setup.p, _core.pic.Plan()
    plan.cells, plan.lengths, plan.patches = list(setup.cells), list(setup.lengths), list(setup.patches)
    plan.dt, plan.order, plan.seed = setup.dt, p.solver.order, p.solver.seed
    plan.cylinder, plan.modes = setup.cylinder, p.grid.modes
    plan.low, plan.high = setup.sides("", 0), setup.sides("", 1)
    plan.particles_low, plan.particles_high = setup.sides("particles_", 0), setup.sides("particles_", 1)
    plan.layer = p.boundaries.layer
    plan.wall_temperature = p.boundaries.wall_temperature * setup.units.of("temperature")
    plan.species = [_core.pic.Species(name, species.charge, species.mass, species.pusher, setup.tracked(name),
                                      species.moves, species.test)
                    for name, species in p.species.items()]
    plan.filter_passes, plan.filter_compensation = p.fields.filter_passes, p.fields.filter_compensation
    plan.at_nodes = p.solver.gather == "momentum"
    plan.electrostatic = p.fields.solver == "electrostatic"
    potentials = setup.potentials_at(np.arange(0, setup.steps + 1, setup.sampled_step if not whole else setup.steps))[0]
    sides = potentials[:2 * setup.dimension].reshape(-1, 2)
    plan.potentials_low, plan.potentials_high = sides[:, 0].tolist(), sides[:, 1].tolist()
    plan.emitters = [emitter_of(setup, name, whole) for name in p.emission]
    plan.stencil = p.fields.stencil
    plan.antennas = [antenna for name in p.laser for antenna in antennas_of(setup, name, whole)]
    plan.conductors = conductors_of(setup, potentials[2 * setup.dimension:], whole)
    plan.permittivity = setup.permittivity(whole)
    plan.circuits = [circuit_of(setup, name) for name in p.circuit]
    if setup.units.density is not None:
        plan.coupling, plan.density_scale = setup.units.coupling(), setup.units.density_scale()
    names = list(p.species)
    plan.collision_pairs = [
        _core.pic.CollisionPair(*(names.index(name) for name in pair.between), pair.logarithm, pair.every)
        for pair in p.collision.values()]
    plan.scatterings = [scattering_of(setup, name, whole) for name in p.scattering]
    plan.reactions = [reaction_of(setup, name) for name in p.reaction]
    plan.resamplings = [*(_core.pic.Resampling(name, names.index(own.species), False, own.above, own.every, 0.0)
                          for name, own in p.merging.items()),
                        *(_core.pic.Resampling(name, names.index(own.species), True, own.below, own.every,
                                               setup.cell_volume / own.per_cell)
                          for name, own in p.splitting.items())]
    plan.secondaries = [secondary_of(setup, name) for name in p.secondary]
    plan.field_ionisations = [ionisation_of(setup, name) for name in p.ionisation]
    plan.external = external_of(setup, whole)
    plan.set_window(p.window.speed, p.window.start * setup.units.of("time"))
    return plan


def ionisation_of(setup: Setup, name: str) -> _core.pic.FieldIonisation:
    own, names, units = setup.p.ionisation[name], list(setup.p.species), setup.units
    return _core.pic.FieldIonisation(
        name, *(names.index(part) for part in (own.species, own.ions, own.electrons)),
        own.potential * units.of("temperature") * ELECTRON_REST_ENERGY / HARTREE,
        int(setup.p.species[own.ions].charge), own.l, ATOMIC_FIELD / units.in_si("E"),
        ATOMIC_TIME / units.in_si("time"))


def circuit_of(setup: Setup, name: str) -> _core.pic.Circuit:
    """Return the circuit, for an electrode of unit area: R A, L A, C/A."""
    own, si = setup.p.circuit[name], setup.p.units.system == "SI"
    time, length = (setup.units.in_si(quantity) if si else 1.0 for quantity in ("time", "length"))
    unit = (VACUUM_PERMITTIVITY if si else 1.0) * length ** (setup.weight_dimension - 2) * own.area  # of capacitance
    return _core.pic.Circuit(name, setup.electrodes.index(own.electrode), own.floating, own.resistance * unit / time,
                             own.inductance * unit / time**2, (own.capacitance or 0.0) / unit)


def antennas_of(setup: Setup, name: str, whole: bool) -> list[_core.pic.Antenna]:
    """Return the antenna of a beam, or those of the pulse of a file."""
    laser, length, omega = setup.p.laser[name], setup.length_unit, setup.laser_omega(name)
    centre = ([0.0] if setup.cylinder else [extent / 2 for extent in setup.lengths] if laser.centre == "auto"
              else [x * length for x in laser.centre])
    normal, direction, before, after = setup.directions.index(laser.normal), [0.0], 0, 0
    if name in setup.pulses:
        least = 4 * setup.spacing[normal]
        if 2 * math.pi / omega < least:
            raise InputError(f"{laser.file}: its wavelength is {2 * math.pi / omega / length:.6g}, and laser.{name} "
                             f"needs 4 cells to a wavelength, {least / length:.6g}")
        return setup.pulses[name].antennas(
            lambda phase, angle: _core.pic.Antenna(normal, laser.at * length, omega, phase, 1.0, angle, 0.0, 0.0,
                                                   centre, np.zeros(0), direction, 0),
            laser.start * setup.units.of("time"))
    if laser.direction != "normal":
        direction = (np.array(laser.direction) / math.hypot(*laser.direction)).tolist()
        ways = [sorted((-n * c, n * (extent - c)))  # along the direction, from the beam's axis to both ends
                for d, (n, c, extent) in enumerate(zip(direction, centre, setup.lengths)) if d != normal]
        before = max(0, math.ceil(sum(far for _, far in ways) / setup.dt) + 1)
        after = max(0, math.ceil(-sum(near for near, _ in ways) / setup.dt) + 1)
    every = 1 if whole else -(-(before + setup.steps + after) // setup.samples)
    envelope = setup.envelope(name, every, before, after)
    return [_core.pic.Antenna(normal, laser.at * length, omega, laser.phase, laser.a0 * omega, laser.angle,
                              (laser.waist or 0.0) * length, laser.focus * length, centre,
                              envelope if whole else envelope[:0], direction, before)]


def conductors_of(setup: Setup, potentials: np.ndarray, whole: bool) -> list[_core.pic.Conductor]:
    """Return the conductors; none where only a sample of the nodes was checked."""
    every = 1 if whole else setup.sampled_node
    nodes = {name: setup.conductor_nodes(name, every) for name in setup.p.conductor}
    cuts = setup.p.fields.solver == "electrostatic"
    return [_core.pic.Conductor(nodes[name], float(potential), cut_edges(setup, name, nodes) if cuts else [])
            for name, potential in zip(nodes, potentials) if every == 1]

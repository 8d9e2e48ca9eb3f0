"""Plan of the core for an input."""

from __future__ import annotations

import math

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.pic.inputs import loads
from plaq.pic.inputs.external import external_of
from plaq.pic.inputs.gas import scattering_of
from plaq.pic.inputs.secondary import secondary_of
from plaq.pic.inputs.setup import Setup
from plaq.pic.inputs.table import DIRECTIONS
from plaq.pic.inputs.units import ATOMIC_FIELD, ATOMIC_TIME, ELECTRON_REST_ENERGY, HARTREE

MOST_EMITTED = 1e8  # macro-particles, by a plate in a step


def plan_of(setup: Setup, whole: bool = True) -> _core.pic.Plan:
    """Return the plan of the core. InputError where a value is not allowed.

    Not ``whole``, before a run: arrays with a number for each step or cell are only checked, where that is more than
    `Setup.samples` at a sample of them.
    """
    p, plan = setup.p, _core.pic.Plan()
    plan.cells, plan.lengths, plan.patches = list(setup.cells), list(setup.lengths), list(setup.patches)
    plan.dt, plan.order, plan.seed = setup.dt, p.solver.order, p.solver.seed
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
    plan.antennas = [antenna_of(setup, name, whole) for name in p.laser]
    plan.conductors = [conductor for name, potential in zip(p.conductor, potentials[2 * setup.dimension:])
                       for conductor in conductor_of(setup, name, float(potential), whole)]
    if p.collision:
        plan.coupling, plan.density_scale = setup.units.coupling(), setup.units.density_scale()
    names = list(p.species)
    plan.collision_pairs = [
        _core.pic.CollisionPair(*(names.index(name) for name in pair.between), pair.logarithm, pair.every)
        for pair in p.collision.values()]
    plan.scatterings = [scattering_of(setup, name, whole) for name in p.scattering]
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


def emitter_of(setup: Setup, name: str, whole: bool) -> _core.pic.Emitter:
    plate = setup.p.emission[name]
    normal = np.array(plate.normal) / max(map(abs, plate.normal))
    normal /= math.hypot(*normal)
    flux = np.zeros(0) if plate.flux is None else setup.flux(name, 1 if whole else setup.sampled_step)
    if (most := loads.most_emitted(setup, name, flux)) > MOST_EMITTED:
        raise InputError(f"emission.{name}.per_cell = {plate.per_cell:g}: the plate would emit {most:.3g} "
                         f"macro-particles in a step, at most {MOST_EMITTED:.0e} are possible")
    return _core.pic.Emitter(
        list(setup.p.species).index(plate.species), [x * setup.length_unit for x in plate.at], normal.tolist(),
        (plate.half_width or 0.0) * setup.length_unit, flux if whole else flux[:1],
        setup.cell_volume / plate.per_cell, plate.temperature * setup.units.of("temperature"), plate.drift,
        plate.space_charge_limited)


def antenna_of(setup: Setup, name: str, whole: bool) -> _core.pic.Antenna:
    laser, length = setup.p.laser[name], setup.length_unit
    omega = 2 * math.pi / (laser.wavelength * length)
    envelope = setup.envelope(name, 1 if whole else setup.sampled_step)
    centre = ([extent / 2 for extent in setup.lengths] if laser.centre == "auto"
              else [x * length for x in laser.centre])
    return _core.pic.Antenna(DIRECTIONS.index(laser.normal), laser.at * length, omega, laser.phase,
                             laser.a0 * omega, laser.angle,
                             (laser.waist or 0.0) * length, laser.focus * length, centre,
                             envelope if whole else envelope[:0])


def conductor_of(setup: Setup, name: str, potential: float, whole: bool) -> list[_core.pic.Conductor]:
    """Return the conductor as a list, which is empty where only a sample of the nodes was checked."""
    every = 1 if whole else setup.sampled_node
    nodes = setup.conductor_nodes(name, every)
    return [_core.pic.Conductor(nodes, potential)] * (every == 1)

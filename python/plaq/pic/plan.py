"""What the core is asked to do, of an input."""

from __future__ import annotations

import math

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.pic import loads
from plaq.pic.setup import Setup
from plaq.pic.table import DIRECTIONS

MOST_EMITTED = 1e8  # macro-particles, by a plate in a step


def plan_of(setup: Setup, whole: bool = True) -> _core.pic.Plan:
    """Plan of the core. Before a run, not ``whole``: what has a number for each step or cell is only looked
    at, where that is more than `Setup.looks`. InputError where it is not as it has to be."""
    p, plan = setup.p, _core.pic.Plan()
    plan.cells, plan.lengths, plan.patches = list(setup.cells), list(setup.lengths), list(setup.patches)
    plan.dt, plan.order, plan.seed = setup.dt, p.solver.order, p.solver.seed
    plan.low, plan.high = setup.sides("", 0), setup.sides("", 1)
    plan.particles_low, plan.particles_high = setup.sides("particles_", 0), setup.sides("particles_", 1)
    plan.layer = p.boundaries.layer
    plan.wall_temperature = p.boundaries.wall_temperature * setup.units.of("temperature")
    plan.species = [_core.pic.Species(name, one.charge, one.mass, one.pusher, setup.tracked(name))
                    for name, one in p.species.items()]
    plan.electrostatic = p.fields.solver == "electrostatic"
    plan.potentials_low, plan.potentials_high = setup.potentials(0), setup.potentials(1)
    plan.emitters = [emitter_of(setup, name, whole) for name in p.emission]
    plan.stencil = p.fields.stencil
    plan.antennas = [antenna_of(setup, name, whole) for name in p.laser]
    plan.conductors = [one for name in p.conductor for one in conductor_of(setup, name, whole)]
    if p.collision:
        plan.coupling, plan.crowding = setup.units.coupling(), setup.units.crowding()
    names = list(p.species)
    plan.encounters = [_core.pic.Encounter(*(names.index(name) for name in one.between), one.logarithm, one.every)
                       for one in p.collision.values()]
    plan.ionisations = [ionising_of(setup, name, whole) for name in p.ionisation]
    plan.set_window(p.window.speed, p.window.start * setup.units.of("time"))
    return plan


def emitter_of(setup: Setup, name: str, whole: bool) -> _core.pic.Emitter:
    plate = setup.p.emission[name]
    normal = np.array(plate.normal) / max(map(abs, plate.normal))
    normal /= math.hypot(*normal)
    flux = np.zeros(0) if plate.flux is None else setup.flux(name, 1 if whole else setup.every)
    if (most := loads.most_emitted(setup, name, flux)) > MOST_EMITTED:
        raise InputError(f"emission.{name}.per_cell = {plate.per_cell:g}: the plate would give off {most:.3g} "
                         f"macro-particles in a step, at most {MOST_EMITTED:.0e} are possible")
    return _core.pic.Emitter(
        list(setup.p.species).index(plate.species), [x * setup.length_unit for x in plate.at], normal.tolist(),
        (plate.half_width or 0.0) * setup.length_unit, flux if whole else flux[:1],
        setup.cell_volume / plate.per_cell, plate.temperature * setup.units.of("temperature"), plate.drift,
        plate.space_charge_limited)


def antenna_of(setup: Setup, name: str, whole: bool) -> _core.pic.Antenna:
    laser, length = setup.p.laser[name], setup.length_unit
    omega = 2 * math.pi / (laser.wavelength * length)
    envelope = setup.envelope(name, 1 if whole else setup.every)
    centre = ([extent / 2 for extent in setup.lengths] if laser.centre == "auto"
              else [x * length for x in laser.centre])
    return _core.pic.Antenna(DIRECTIONS.index(laser.normal), laser.at * length, omega, laser.phase,
                             laser.a0 * omega, laser.angle,
                             (laser.waist or 0.0) * length, laser.focus * length, centre,
                             envelope if whole else envelope[:0])


def conductor_of(setup: Setup, name: str, whole: bool) -> list[_core.pic.Conductor]:
    """None where not all nodes have been looked at."""
    every = 1 if whole else setup.every_node
    nodes = setup.conductor_nodes(name, every)
    return [_core.pic.Conductor(nodes, setup.p.conductor[name].potential * setup.units.of("potential"))] * (every == 1)


def ionising_of(setup: Setup, name: str, whole: bool) -> _core.pic.Ionising:
    one, names, unit = setup.p.ionisation[name], list(setup.p.species), setup.units.of
    return _core.pic.Ionising(
        names.index(one.by), names.index(one.electrons), names.index(one.ions), one.loss * unit("temperature"),
        [energy * unit("temperature") for energy in one.energies],
        [area * unit("cross section") for area in one.cross_sections],
        gas_of(setup, name, whole), one.temperature * unit("temperature"))


def gas_of(setup: Setup, name: str, whole: bool) -> np.ndarray:
    """Its density in every cell, or one number."""
    if whole:
        return setup.gas(name)
    profile = setup.gas_profile(name)
    for places in setup.places() if profile.constant is None else ():
        loads.positive(f"ionisation.{name}.density", profile.text, profile.at(places), places, setup)
    return np.array([0.0 if profile.constant is None else profile.constant])

"""Plates of an input, [emission.NAME], as the core takes them: flux, laws of emission, profiles."""

from __future__ import annotations

import math

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.pic.inputs import loads
from plaq.pic.inputs.setup import Setup
from plaq.pic.inputs.units import ELECTRON_MASS, ELECTRON_REST_ENERGY, ELEMENTARY_CHARGE, PLANCK, SPEED_OF_LIGHT

MOST_EMITTED = 1e8  # macro-particles, by a plate in a step
ROUNDING = 1e-9
PROFILE_POINTS = {2: 4097, 3: 257}  # along a side of a plate


def emitter_of(setup: Setup, name: str, whole: bool) -> _core.pic.Emitter:
    """Return the plate; not ``whole``: without its flux in time."""
    plate = setup.p.emission[name]
    normal = np.array(plate.normal) / max(map(abs, plate.normal))
    normal /= math.hypot(*normal)
    flux = np.zeros(0) if plate.flux is None else setup.flux(name, 1 if whole else setup.sampled_step)
    if (most := loads.most_emitted(setup, name, flux)) > MOST_EMITTED:
        raise InputError(f"emission.{name}.per_cell = {plate.per_cell:g}: the plate would emit {most:.3g} "
                         f"macro-particles in a step, at most {MOST_EMITTED:.0e} are possible")
    emitter = _core.pic.Emitter(
        list(setup.p.species).index(plate.species), [x * setup.length_unit for x in plate.at], normal.tolist(),
        (plate.half_width or 0.0) * setup.length_unit, flux if whole else flux[:1],
        loads.emitted_weight(setup, name), plate.temperature * setup.units.of("temperature"), plate.drift,
        plate.space_charge_limited)
    corners = emitter.points(setup.dimension, 2)[:, :setup.dimension]
    for d, low, high, length in zip(setup.directions, corners.min(axis=0), corners.max(axis=0), setup.lengths):
        if low < -ROUNDING * length or high > (1 + ROUNDING) * length:
            reach = f"from {low / setup.length_unit:.6g} to {high / setup.length_unit:.6g} in {d}"
            raise InputError(f"emission.{name}.half_width = {plate.half_width:g} is not allowed: the plate would reach "
                             f"{reach}, and the box is from 0 to {length / setup.length_unit:.6g}")
    if plate.law is not None:
        emitter.set_law(plate.law, plate.work_function * setup.units.of("temperature"), plate.enhancement,
                        *constants_of(setup, name))
    if plate.profile != 1.0:
        emitter.profile = profile_of(setup, name, emitter)
    return emitter


def constants_of(setup: Setup, name: str) -> tuple[float, float]:
    """Return the factor and the exponent of the law in normalised units.

    Richardson: A T²/e, A = 4π e m_e k_B²/h³. Fowler and Nordheim: a = e³/(8π h), b = 8π √(2 m_e)/(3 e h)
    [Murphy and Good 1956].
    """
    plate, units = setup.p.emission[name], setup.units
    flux, joule = units.density * SPEED_OF_LIGHT, ELECTRON_REST_ENERGY * ELEMENTARY_CHARGE
    if plate.law == "richardson":
        heat = plate.temperature * units.of("temperature") * joule
        return plate.richardson_factor * 4 * math.pi * ELECTRON_MASS * heat**2 / PLANCK**3 / flux, 0.0
    force = ELEMENTARY_CHARGE * units.in_si("E")
    return (force**2 / (8 * math.pi * PLANCK * joule) / flux,
            8 * math.pi * math.sqrt(2 * ELECTRON_MASS) / (3 * PLANCK) * joule**1.5 / force)


def profile_of(setup: Setup, name: str, emitter: _core.pic.Emitter) -> np.ndarray:
    """Return the factor of the emission at points of the plate. InputError where it is below 0."""
    key, profile = f"emission.{name}.profile", setup.profile(f"emission.{name}.profile",
                                                             setup.p.emission[name].profile, "")
    points = emitter.points(setup.dimension, PROFILE_POINTS[setup.dimension])[:, :setup.dimension]
    values = profile.at(points)
    loads.check_positive(key, profile.text, values, points, setup)
    return np.ascontiguousarray(np.broadcast_to(values, len(points)))

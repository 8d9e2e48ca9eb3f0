"""Gaussian lasers of a deck as antennas of plaq."""

from __future__ import annotations

import math
from typing import Any

from plaq.errors import InputError
from plaq.pic.inputs.units import SPEED_OF_LIGHT
from plaq.pic.picmi.given import Box, name_of, only, refuse, turned


def laser_section(laser: Any, injection: Any, box: Box) -> dict[str, Any]:
    """Return [laser.NAME]. The antenna also radiates backwards."""
    if name_of(laser) != "GaussianLaser":
        raise InputError(f"picmi.{name_of(laser)}: plaq has no such class")
    if injection is None or name_of(injection) != "LaserAntenna":
        raise InputError("picmi.Simulation.add_laser: plaq injects a laser by a LaserAntenna")
    only(laser, ("wavelength", "waist", "duration", "propagation_direction", "polarization_direction",
                 "focal_position", "centroid_position", "a0", "E0", "phi0", "name", "fill_in"))
    only(injection, ("position", "normal_vector"))
    along = turned(laser.propagation_direction)
    if along[0] <= 0 or any(along[1:]):
        raise refuse(laser, "propagation_direction", "plaq's lasers of a deck move to higher z")
    if injection.normal_vector is not None and any(turned(injection.normal_vector)[1:]):
        raise refuse(injection, "normal_vector", "along the direction of propagation")
    plane, centroid, focus = (turned(point)[0] for point in (injection.position, laser.centroid_position,
                                                             laser.focal_position))
    across, up = turned(laser.polarization_direction)[1:]
    delay = (plane - centroid) / SPEED_OF_LIGHT
    section = {"normal": "x", "at": plane - box.low["z"], "wavelength": laser.wavelength, "a0": laser.a0,
               "envelope": f"exp(-((t - ({delay!r}))/{laser.duration!r})^2)",
               "phase": (laser.phi0 or 0.0) - 2 * math.pi * (plane - centroid) / laser.wavelength,
               "angle": math.atan2(up, across)}
    if len(box.axes) > 1:
        section |= {"waist": laser.waist, "focus": focus - plane, "centre": box.position(laser.centroid_position)}
    return section

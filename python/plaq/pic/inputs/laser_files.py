"""Laser pulses from openPMD files: the mesh laserEnvelope, as lasy writes it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plaq import _core
from plaq.errors import InputError
from plaq.pic.inputs.openpmd_input import open_mesh, text_of

if TYPE_CHECKING:
    from plaq.pic.inputs.setup import Setup

AXES = {"cartesian": ["t", "y", "x"], "thetaMode": ["t", "r"]}
FIELDS = ("electric_field", "normalized_vector_potential")
LINEAR = 1e-6  # largest part of a polarization that has another phase


@dataclass(frozen=True)
class Pulse:
    """Pulse E = Re[values exp(-i ω t) polarization], normalised: values [t, y, x], or [t, 1, r] of a round pulse.

    ``first`` and ``spacing`` are those of t, y, x; the polarization has parts along x and y.
    """

    omega: float
    polarization: np.ndarray
    first: np.ndarray
    spacing: np.ndarray
    values: np.ndarray
    round: bool

    @property
    def peak(self) -> float:
        """Largest |E|."""
        return float(np.abs(self.values).max() * np.linalg.norm(self.polarization))

    def antennas(self, make: Callable[[float, float], _core.pic.Antenna], start: float) -> list[_core.pic.Antenna]:
        """Return an antenna, or two if the polarization is not linear, whose pulse begins at a time.

        ``make(phase, angle)`` returns one without a pulse.
        """
        largest = self.polarization[np.argmax(np.abs(self.polarization))]
        phase = largest / abs(largest)
        x, y = self.polarization / phase
        if max(abs(x.imag), abs(y.imag)) < LINEAR * abs(largest):
            parts = [(math.atan2(y.real, x.real), phase * math.hypot(x.real, y.real))]
        else:
            parts = list(zip((0.0, math.pi / 2), self.polarization))
        antennas = []
        for angle, factor in parts:
            antenna = make(self.omega * (self.first[0] - start), angle)  # the phase at the times of the file
            values = (factor * self.values).ravel()
            antenna.set_pulse([*self.first[:0:-1], start], self.spacing[::-1].tolist(), list(self.values.shape[::-1]),
                              np.ascontiguousarray(values.real), np.ascontiguousarray(values.imag), self.round)
            antennas.append(antenna)
        return antennas


def read_pulse(path: str, expected: str, setup: Setup) -> Pulse:
    """Return the pulse of a file with this checksum. InputError says what it has not, or has and plaq cannot use."""
    with open_mesh(path, expected, "laserEnvelope") as mesh:
        def attribute(name: str) -> Any:
            if name not in mesh.attrs:
                raise InputError(f"{path}: laserEnvelope has no attribute {name}")
            return mesh.attrs[name]

        kind, labels = text_of(attribute("geometry")), [text_of(label) for label in attribute("axisLabels")]
        field = text_of(mesh.attrs.get("envelopeField", FIELDS[0]))
        if labels != AXES.get(kind) or mesh.ndim != 3:
            raise InputError(f"{path}: laserEnvelope has the geometry {kind} and the axes {', '.join(labels)}: plaq "
                             "reads cartesian with t, y, x and thetaMode with t, r")
        if field not in FIELDS:
            raise InputError(f"{path}: laserEnvelope has the envelopeField {field}: plaq reads {', '.join(FIELDS)}")
        values = np.asarray(mesh[()], complex) * float(attribute("unitSI"))
        if not np.isfinite(values).all():
            raise InputError(f"{path}: laserEnvelope has a value that is not finite")
        first, spacing = (np.asarray(attribute(name), float) for name in ("gridGlobalOffset", "gridSpacing"))
        first = first + np.asarray(mesh.attrs.get("position", 0.0), float) * spacing
        omega, grid = float(attribute("angularFrequency")), float(attribute("gridUnitSI"))
        polarization = np.asarray(attribute("polarization"), complex)
    if kind == "thetaMode":
        if len(values) != 1:
            raise InputError(f"{path}: laserEnvelope has {(len(values) + 1) // 2} azimuthal modes: plaq reads one, of "
                             "a round pulse")
        values, first, spacing = values[0][:, None], np.insert(first, 1, 0.0), np.insert(spacing, 1, 1.0)
    units = setup.units
    omega *= units.in_si("time")
    unit = 1j * omega if field == FIELDS[1] else 1 / units.in_si("E")  # E = i ω a of a slow envelope
    scale = grid / np.array([units.in_si("time"), *[units.in_si("length")] * 2])
    return Pulse(omega, polarization, first * scale, spacing * scale, unit * values, kind == "thetaMode")

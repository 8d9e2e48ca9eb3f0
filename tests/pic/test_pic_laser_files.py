"""Lasers from openPMD files, as lasy writes them: against plaq's own beams and the energy of the pulse."""

import math

import h5py
import numpy as np
import pytest

from plaq import pic
from plaq.errors import InputError

UNITS = pic.Units("normalised", 1e25)
LENGTH, TIME, FIELD = (UNITS.in_si(quantity) for quantity in ("length", "time", "E"))
OMEGA, PEAK, DURATION = 3.0, 0.2, 4.0
AT, START = 3.0, 0.5


def write(path, values, first, spacing, *, polarization=(1.0, 0.0), geometry="cartesian", **more):
    """Write an envelope of normalised E, [t, y, x] or [mode, t, r], in SI units."""
    scale = np.array([TIME, *[LENGTH] * (len(first) - 1)])
    with h5py.File(path, "w") as file:
        file.attrs["openPMD"], file.attrs["openPMDextension"] = "1.1.0", np.uint32(0)
        file.attrs["basePath"], file.attrs["meshesPath"] = "/data/%T/", "meshes/"
        mesh = file.create_dataset("data/0/meshes/laserEnvelope", data=np.asarray(values, complex) * FIELD)
        attributes = {"geometry": geometry, "dataOrder": "C", "gridUnitSI": 1.0, "unitSI": 1.0,
                      "axisLabels": ["t", "y", "x"] if geometry == "cartesian" else ["t", "r"],
                      "gridGlobalOffset": first * scale, "gridSpacing": spacing * scale,
                      "position": np.zeros(len(first)), "angularFrequency": OMEGA / TIME,
                      "polarization": np.array(polarization), "envelopeField": "electric_field",
                      "unitDimension": np.array([1.0, 1, -3, -1, 0, 0, 0])}
        for name, value in (attributes | more).items():
            mesh.attrs[name] = value
    return str(path)


def envelope(t):
    return np.exp(-((t / DURATION) ** 2))


def beam(r2, z, waist, dimensions):
    """Amplitude of a Gaussian beam at a way z from its focus, without exp(i ω z)."""
    q, at_focus = complex(z, -OMEGA * waist**2 / 2), complex(0, -OMEGA * waist**2 / 2)
    return (at_focus / q) ** ((dimensions - 1) / 2) * np.exp(1j * OMEGA * r2 / (2 * q))


def run(laser, cells, length, end, fields=("ey",), step=0.09):
    middle = [0, *(extent / 2 for extent in length[1:])]
    return pic.run(pic.Parameters(
        units={"density": 1e25}, grid={"cells": cells, "length": length}, time={"end": end, "step": step},
        boundaries={"x": "absorbing"}, laser={"pulse": {"at": AT} | laser},
        probe={name: {"field": name, "at": middle, "along": "x", "every": 10} for name in fields},
        output={"pictures": 0, "gauss": False}, run={"workers": 1}))


TIMES = np.arange(-12, 12.01, 0.1)


def one_dimension(path, **more):
    values = PEAK * envelope(TIMES)[:, None, None] * np.ones((1, 2, 2))
    return write(path, values, np.array([TIMES[0], -1, -1]), np.array([0.1, 2, 2]), **more)


def own_pulse(**more):
    """The same pulse as a beam of plaq, whose phase and envelope are those of the file's times."""
    late = START - TIMES[0]
    return {"wavelength": 2 * math.pi / OMEGA, "a0": PEAK / OMEGA, "phase": -OMEGA * late,
            "envelope": f"if(abs(t - {late}) < 12, exp(-((t - {late})/{DURATION})^2), 0)"} | more


def test_a_pulse_of_a_file_is_that_of_a_beam(tmp_path):
    """In one dimension, to the error of linear interpolation, (Δt/duration)²; its energy, sent to both sides."""
    file = one_dimension(tmp_path / "a.h5", polarization=(0.6, -0.8))
    found = run({"file": file, "start": START}, [400], [40.0], 30, ("ey", "ez"))
    own = run(own_pulse(angle=math.atan2(-0.8, 0.6)), [400], [40.0], 30, ("ey", "ez"))
    for name in ("ey", "ez"):
        assert np.abs(own[name].values).max() > 0.9 * 0.6 * PEAK
        assert found[name].values == pytest.approx(own[name].values, abs=1e-3 * PEAK)


def test_the_energy_of_a_pulse_is_that_of_its_file(tmp_path):
    """∫ |E|²/2 dt to each side, of which the box keeps the one to higher x; (k Δx)²/8 = 0.3 % is the mesh's error."""
    file = one_dimension(tmp_path / "a.h5", polarization=(1.0, 1.0j) / np.sqrt(2))
    found = run({"file": file, "start": START}, [1000], [50.0], 34, step=0.045)
    energy = sum(found[f"{kind}_{d}"].values[-1] for kind in ("electric", "magnetic") for d in "xyz")
    assert energy == pytest.approx(PEAK**2 / 2 * DURATION * math.sqrt(math.pi / 2), rel=0.005)


def test_a_circular_polarization_has_two_antennas_of_one_strength(tmp_path):
    """|E| is the envelope's, without the light's period, and E turns from y to z in time."""
    file = one_dimension(tmp_path / "a.h5", polarization=np.array([1.0, 1.0j]) / np.sqrt(2))
    found = run({"file": file, "start": START}, [400], [40.0], 30, ("ey", "ez"))
    ey, ez = (found[name].values[-1] for name in ("ey", "ez"))
    x = found["ey"].axis("x")
    peak = PEAK / np.sqrt(2) * envelope(found["ey"].axis("time")[-1] - START + TIMES[0] - (x - AT))
    ahead = (x > AT + 1) & (x < 36)
    assert np.hypot(ey, ez)[ahead] == pytest.approx(peak[ahead], abs=0.02 * PEAK)
    angle = np.unwrap(np.angle(ey + 1j * ez)[ahead & (peak > 0.3 * PEAK)])
    assert np.diff(angle) == pytest.approx(-OMEGA * 0.1, rel=0.06)  # the light of the past is ahead


def test_a_potential_is_read_as_well(tmp_path):
    """a of E = i ω a, in units of m_e c ω/e."""
    file = one_dimension(tmp_path / "a.h5")
    potential = one_dimension(tmp_path / "b.h5", envelopeField="normalized_vector_potential")
    with h5py.File(potential, "r+") as changed:
        mesh = changed["data/0/meshes/laserEnvelope"]
        mesh[...] = -1j / (OMEGA * FIELD) * mesh[...]
    electric, other = (run({"file": name}, [200], [20.0], 14)["ey"].values for name in (file, potential))
    assert np.abs(electric).max() > 0.1 and other == pytest.approx(electric, abs=1e-12)


def test_a_beam_of_a_file_has_its_waist(tmp_path):
    """In two dimensions, 8 before the focus: field and phase on the axis and across it are those of plaq's beam."""
    waist, focus = 4.0, 8.0
    y = np.arange(-16, 16.01, 0.25)
    values = PEAK * envelope(TIMES)[:, None, None] * beam(y**2, -focus, waist, 2)[None, None, :] * np.ones((1, 2, 1))
    file = write(tmp_path / "a.h5", values, np.array([TIMES[0], -1, -16]), np.array([0.1, 2, 0.25]))
    box = [160, 120], [24.0, 30.0], 26
    found = run({"file": file, "start": START}, *box)
    own = run(own_pulse(waist=waist, focus=focus, phase=-OMEGA * (START - TIMES[0] + focus)), *box)
    assert np.abs(own["ey"].values).max() > 0.9 * PEAK
    assert found["ey"].values == pytest.approx(own["ey"].values, abs=0.01 * PEAK)


def test_a_round_pulse_of_a_file_is_a_cartesian_one(tmp_path):
    """In three dimensions thetaMode with one mode, and t, y, x."""
    waist, r, side = 3.0, np.arange(0, 9.01, 0.1), np.arange(-6, 6.01, 0.2)
    part = PEAK * envelope(TIMES)[:, None]
    flat = write(tmp_path / "a.h5", part[:, :, None] * np.exp(-(side[:, None] ** 2 + side**2) / waist**2),
                 np.array([TIMES[0], -6, -6]), np.array([0.1, 0.2, 0.2]))
    turned = write(tmp_path / "b.h5", (part * np.exp(-(r / waist) ** 2))[None], np.array([TIMES[0], 0]),
                   np.array([0.1, 0.1]), geometry="thetaMode")
    box = [48, 16, 16], [9.6, 8.0, 8.0], 15
    one, other = (run({"file": file}, *box)["ey"].values for file in (flat, turned))
    assert np.abs(one).max() > 0.7 * PEAK and other == pytest.approx(one, abs=0.01 * PEAK)


@pytest.mark.parametrize(("more", "message"), [
    ({"geometry": "thetaMode", "axisLabels": ["z", "r"]}, "plaq reads cartesian with t, y, x and thetaMode with t, r"),
    ({"envelopeField": "intensity"}, "has the envelopeField intensity: plaq reads electric_field"),
    ({"angularFrequency": 40 / TIME}, "needs 4 cells to a wavelength"),
])
def test_a_file_that_plaq_cannot_use_is_refused(tmp_path, more, message):
    file = one_dimension(tmp_path / "a.h5", **more)
    with pytest.raises(InputError) as refused:
        run({"file": file}, [200], [20.0], 1)
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_several_modes_and_missing_parts_are_refused(tmp_path):
    file = write(tmp_path / "a.h5", np.ones((3, 4, 5)), np.zeros(2), np.ones(2), geometry="thetaMode")
    with pytest.raises(InputError, match="has 2 azimuthal modes: plaq reads one"):
        run({"file": file}, [200], [20.0], 1)
    with h5py.File(file, "r+") as changed:
        del changed["data/0/meshes/laserEnvelope"].attrs["polarization"]
    with pytest.raises(InputError, match="laserEnvelope has no attribute polarization"):
        run({"file": file}, [200], [20.0], 1)
    with h5py.File(file, "r+") as changed:
        del changed["data/0/meshes/laserEnvelope"]
        changed["data/0/meshes/E"] = 1.0
    with pytest.raises(InputError, match="has no mesh laserEnvelope of one component"):
        run({"file": file}, [200], [20.0], 1)


@pytest.mark.parametrize(("laser", "message"), [
    ({"a0": 1}, "laser.pulse.a0 = 1.0 is not allowed: it is of a laser without laser.pulse.file"),
    ({"file": None, "start": 1.0}, "laser.pulse.start = 1.0 is not allowed: it is of laser.pulse.file, which is not"),
    ({"file": None}, "laser.pulse.wavelength is missing"), ({"units": {}}, "units.density is missing"),
    ({"direction": [1.0]}, "laser.pulse.direction"), ({"checksum": "0" * 64}, "has changed: its SHA-256 is"),
])
def test_keys_of_a_file_and_of_a_beam_are_not_mixed(tmp_path, laser, message):
    given = {"at": AT, "file": one_dimension(tmp_path / "a.h5")} | laser
    units = given.pop("units", {"density": 1e25})
    with pytest.raises(InputError) as refused:
        p = pic.Parameters(units=units, grid={"cells": [200], "length": [20]}, time={"end": 1},
                           boundaries={"x": "absorbing"},
                           laser={"pulse": {key: value for key, value in given.items() if value is not None}})
        pic.application.Pic(p).check(1)
    assert message in str(refused.value) and "\n" not in str(refused.value)

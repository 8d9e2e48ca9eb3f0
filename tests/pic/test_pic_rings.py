"""Maxwell's equations of z and r: cavities, plasmas and beams against theory."""

import numpy as np
import pytest
from openpmd_validator import check_h5
from scipy.integrate import quad
from scipy.optimize import curve_fit
from scipy.special import j0, j1, jn_zeros, k0

from plaq import pic
from plaq.errors import InputError

ELECTRONS = {"charge": -1, "mass": 1}
RADIUS, SIZE = 2.0, 1e-3


def parameters(species, **sections):
    given = {"grid": {"geometry": "cylinder", "cells": [8, 32], "length": [0.5, RADIUS]}, "time": {"end": 20},
             "species": species, "output": {"pictures": 0, "gauss": True}, "run": {"workers": 1}}
    return pic.Parameters(**{key: {**given.get(key, {}), **sections.get(key, {})} for key in {**given, **sections}})


def table(function):
    return [[x, float(function(x))] for x in np.linspace(0, RADIUS, 4001)]


def frequency(values, guess):
    """Return the frequency of a probe's oscillation by a fit of its amplitude, frequency and phase."""
    times = values.axis("time")
    return curve_fit(lambda t, a, w, phase: a * np.cos(w * t + phase), times, values.values,
                     p0=[np.abs(values.values).max(), guess, 0.0])[0][1]


def cavity(kind, cells, plasma=()):
    """Return the frequency of TM_01p or TE_01p, p = 0 or 1, and the exact one, of a cavity with a plasma."""
    length, radial = 2.0, jn_zeros(0 if kind[:2] == "TM" else 1, 1)[0] / RADIUS
    along = np.pi / length * (kind[-1] == "1")
    wave = {"TM": [f"{SIZE}*j0(r)*cos({along}*z)", f"{SIZE * along / radial}*j1(r)*sin({along}*z)", 0],
            "TE": [0, 0, f"{SIZE}*j1(r)*sin({along}*z)"]}[kind[:2]]
    found = pic.run(parameters(
        dict(plasma), grid={"cells": [cells, cells], "length": [length, RADIUS]}, time={"end": 30},
        constants={"j0": table(lambda r: j0(radial * r)), "j1": table(lambda r: j1(radial * r))},
        boundaries={"z": "conducting", "particles_z": "reflected", "particles_r": "reflected"}, fields={"e": wave},
        probe={"p": {"field": "ez" if kind[:2] == "TM" else "et",
                     "at": [0, 0] if kind[:2] == "TM" else [1.0, 0.9]}}))
    exact = np.sqrt(radial**2 + along**2 + bool(plasma))
    return frequency(found["p"], exact), exact, found


@pytest.mark.parametrize("kind", ["TM0", "TM1", "TE1"])
def test_frequencies_of_a_cavity(kind):
    """ω² = (j/R)² + (π p/L)², j the zeros of J_0, or J_1 of TE: errors of the second order in the cells."""
    errors = []
    for cells in (12, 24):
        found, exact, _ = cavity(kind, cells)
        errors.append(found / exact - 1)
    assert abs(errors[1]) < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.15)


@pytest.mark.parametrize("kind", ["TM0", "TE1"])
def test_a_cavity_with_a_plasma(kind):
    """ω² = ω_p² + ω_0² by the currents along z and theta."""
    plasma = {"e": ELECTRONS | {"density": 1.0, "per_cell": 9, "placed": "even"}}
    found, exact, results = cavity(kind, 24, plasma)
    assert found == pytest.approx(exact, rel=2e-3)
    assert results["gauss"].values.max() < 1e-12


def test_a_cold_plasma_oscillates_in_r():
    """Any small radial velocity of electrons swings with ω_p."""
    plasma = {"e": ELECTRONS | {"density": 1.0, "per_cell": 16, "placed": "even",
                                "drift": [0, f"{SIZE}*r*({RADIUS}-r)", 0]}}
    found = pic.run(parameters(plasma, probe={"p": {"field": "er", "at": [0.2, 1.0]}}))
    assert frequency(found["p"], 1.0) == pytest.approx(1, rel=1e-3)
    assert found["gauss"].values.max() < 1e-12


def test_the_field_of_a_beam_moves_with_it():
    """E_r = n r/2, n a²/2r outside, B_theta = β E_r, from the start on."""
    n, a, u = 1e-3, 0.5, 5.0
    beta = u / np.hypot(1, u)
    beam = {"beam": {"charge": -1, "mass": 1e6, "density": f"if(r < {a}, {n}, 0)", "per_cell": 16, "placed": "even",
                     "drift": [u, 0, 0]}}
    lines = {name: {"field": name, "at": [0.2, 0], "along": "r", "every": 1} for name in ("er", "bt")}
    found = pic.run(parameters(beam, grid={"cells": [8, 64]}, fields={"of_moving": ["beam"]}, time={"end": 3},
                               probe=lines))
    r = found["er"].axis("r")
    exact = -np.where(r < a, n * r / 2, n * a**2 / (2 * r))
    for index, tolerance in ((0, 2e-2), (-1, 2e-2)):
        assert found["er"].values[index][:-1] == pytest.approx(exact[:-1], abs=tolerance * n * a)
        assert found["bt"].values[index][:-1] == pytest.approx(beta * found["er"].values[index][:-1],
                                                               abs=1e-3 * n * a)


def test_absorbing_sides_of_a_tube():
    """A short pulse of TE_01 leaves through both ends."""
    radial = jn_zeros(1, 1)[0] / RADIUS
    found = pic.run(parameters(
        {}, grid={"cells": [160, 16], "length": [16.0, RADIUS]}, time={"end": 40},
        constants={"j1": table(lambda r: j1(radial * r))}, boundaries={"z": "absorbing", "layer": 10},
        fields={"e": [0, 0, f"{SIZE}*j1(r)*exp(-(z-8)^2/0.5)*cos(8*(z-8))"]}))
    energy = sum(found[f"{kind}_{d}"].values for kind in ("electric", "magnetic") for d in "zrt")
    assert energy[-1] < 1e-5 * energy[0]


def pulse(r, z, waist, focus, omega):
    """Return A of a Gaussian beam at a distance z behind its antenna, without the phase ω z."""
    q = (z - focus) - 0.5j * omega * waist**2
    return -0.5j * omega * waist**2 / q * np.exp(0.5j * omega * r**2 / q)


def test_a_laser_is_a_gaussian_beam(tmp_path):
    """Amplitude in the focus and width on the way to it and behind, at both azimuths, of the mode m = 1."""
    wavelength, waist, a0 = 1.0, 2.0, 1e-2
    omega, length, focus = 2 * np.pi / wavelength, 30.0, 8.0
    laser = {"at": 1.0, "normal": "z", "wavelength": wavelength, "a0": a0, "waist": waist, "focus": focus,
             "angle": 0.3, "envelope": "if(t < 16, sin(pi*t/16)^2, 0)"}
    p = parameters({}, grid={"cells": [600, 60], "length": [length, 12.0], "modes": 2, "patches": [4, 2]},
                   boundaries={"z": "absorbing", "layer": 10}, laser={"l": laser}, time={"end": 24.0},
                   output={"every": 160, "fields": ["er", "et"], "gauss": False})
    pic.run(p, tmp_path)
    series = pic.Series(tmp_path)
    for step in series.steps[2:]:
        time = series.time(step)
        along_x, along_y = (series.field("er", step, azimuth) for azimuth in (0.0, np.pi / 2))
        z, r = np.arange(600) * length / 600, (np.arange(60) + 0.5) * 12 / 60
        near = np.abs(z - (time - 8 + 1)) < 1.5  # about the peak
        size = np.sqrt(2 * np.mean(along_x[near]**2, axis=0))
        exact = a0 * omega * np.cos(0.3) * np.abs(pulse(r, z[near].mean() - 1, waist, focus, omega))
        exact *= np.sqrt(np.mean(np.sin(np.pi * (time - (z[near] - 1)) / 16)**4))
        if z[near].mean() > length - 4:
            continue
        assert size == pytest.approx(exact, abs=0.02 * exact.max())
        assert along_y[near] == pytest.approx(np.tan(0.3) * along_x[near], abs=1e-3 * exact.max())
        on_axis = series.field("et", step, np.pi / 2)[near, 0]
        assert on_axis == pytest.approx(-along_x[near, 0], abs=0.01 * exact.max())


def test_wake_of_a_beam():
    """Linear theory on the axis, E_z = Z'(ξ) R(0): Keinigs and Jones, Phys. Fluids 30 (1987) 252."""
    n, wide, long, start, end, u = 0.01, 0.5, 0.7, 6.0, 13.0, 100.0
    species = {"beam": {"charge": -1, "mass": 1e6, "per_cell": 9, "placed": "even", "drift": [u, 0, 0],
                        "density": f"{n}*exp(-r^2/{2 * wide**2} - (z-{start})^2/{2 * long**2})"},
               "e": ELECTRONS | {"density": "if(z > 8.5, 1, 0)", "per_cell": 9, "placed": "even"}}
    found = pic.run(parameters(
        species, grid={"cells": [250, 50], "length": [25.0, 5.0], "patches": [8, 2]}, fields={"of_moving": ["beam"]},
        boundaries={"z": "absorbing", "particles_z": "absorbed", "particles_r": "reflected"}, time={"end": end},
        solver={"order": 2}, probe={"axis": {"field": "ez", "at": [0, 0], "along": "z", "every": 10}}))
    z, field = found["axis"].axis("z"), found["axis"].values[-1]
    across = quad(lambda r: r * k0(r) * np.exp(-r**2 / (2 * wide**2)), 0, 5)[0]
    xi = z - start - found["axis"].axis("time")[-1] * u / np.hypot(1, u)
    grid = np.linspace(-4, 4, 4001)
    bunch = n * np.exp(-grid**2 / (2 * long**2)) * (grid[1] - grid[0])
    exact = across * np.array([np.sum((bunch * np.cos(grid - x))[grid > x]) for x in xi])
    behind = (xi > -5.5) & (xi < 3)  # the plasma's edge radiates, which is seen farther behind
    assert field[behind] == pytest.approx(exact[behind], abs=0.03 * np.abs(exact).max())


def wake(end, **sections):
    laser = {"at": 0.5, "normal": "z", "wavelength": 1.0, "a0": 0.5, "waist": 1.5, "envelope": "sin(t)^2"}
    electrons = ELECTRONS | {"density": "if(z > 1.5, 1, 0)", "per_cell": 4}
    return parameters({"e": electrons}, **{**{
        "grid": {"cells": [64, 16], "length": [6.4, 4.0], "modes": 3, "patches": [4, 2]}, "laser": {"l": laser},
        "boundaries": {"z": "absorbing", "particles_r": "reflected"}, "time": {"end": end},
        "window": {"speed": 1, "start": 2}}, **sections})


def test_a_run_with_modes_in_two_parts_is_one(tmp_path, capsys):
    """A laser, its wake and a moving window; the files have all modes, and particles at their azimuths."""
    written = {"output": {"every": 20, "fields": ["er", "rho"], "particles": ["e"], "gauss": False}}
    whole = pic.run(wake(5.0, **written), tmp_path / "whole")
    pic.run(wake(3.0, **written), tmp_path / "parts")
    parts = pic.run(wake(5.0, **written), tmp_path / "parts")
    for name in ("e.kinetic", "e.left_weight_zlow", "electric_r", "magnetic_t"):
        assert np.array_equal(whole[name].values, parts[name].values), name
    one, other = (pic.Series(tmp_path / name) for name in ("whole", "parts"))
    last = one.steps[-1]
    assert np.array_equal(one.field("er", last, 0.7), other.field("er", last, 0.7))
    assert not np.allclose(one.field("er", last, 0.7), one.field("er", last, 0.0))
    errors = check_h5.check_file(str(tmp_path / f"whole/openpmd/data_{last:08}.h5"), force_extension_pic=True)[0]
    assert errors == 0, capsys.readouterr().out
    x = one.particles("e", last)["x"]
    angle = np.arctan2(x[:, 1], x[:, 0])
    assert np.abs(np.mean(np.exp(1j * angle))) < 0.02


@pytest.mark.parametrize(("sections", "message"), [
    ({"grid": {"cells": [64, 16], "length": [6.4, 4.0]}}, "laser.l: a laser is a wave of the mode m = 1"),
    ({"laser": {"l": {"at": 0.5, "wavelength": 1.0, "a0": 1, "waist": 1, "envelope": 1}}}, 'laser.l.normal = "x"'),
    ({"laser": {"l": {"at": 0.5, "normal": "z", "wavelength": 1.0, "a0": 1, "envelope": 1}}},
     "laser.l.waist is missing"),
    ({"solver": {"gather": "momentum"}}, 'solver.gather = "momentum" is not allowed'),
    ({"merging": {"m": {"species": "e", "above": 9, "every": 9}}}, "merging.m is not allowed where grid.modes"),
    ({"fields": {"solver": "electrostatic"}, "laser": {}, "window": {}}, "grid.modes = 3 is not allowed"),
    ({"grid": {"geometry": "cartesian", "cells": [64, 16], "length": [6.4, 4.0], "modes": 2}}, "grid.modes = 2"),
])
def test_what_modes_have_not_is_refused(sections, message):
    with pytest.raises(InputError) as refused:
        wake(1.0, **sections)
    assert message in str(refused.value) and "\n" not in str(refused.value)

"""Fields from outside, by formula and from openPMD files, against theory."""

import math

import h5py
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from plaq import pic
from plaq.errors import InputError
from plaq.pic.inputs.external import core_formula
from plaq.pic.inputs.formula import Formula

LIGHT = {"charge": -1, "mass": 1, "density": 1e-12, "per_cell": 1, "placed": "even"}  # too few to make a field


def run(end, length, cells, external, step="auto", species=None, fields="electrostatic", folder=None, **more):
    more = {"output": {"pictures": 0, "gauss": False}, **more}
    return pic.run(pic.Parameters(
        grid={"cells": cells, "length": length}, time={"end": end, "step": step}, external=external,
        fields={"solver": fields}, species={"e": species or LIGHT}, run={"workers": 1}, **more),
        *([folder] if folder else []))


def momentum(found):
    """[step, component] of a particle."""
    return np.stack([found[f"e.p{d}"].values / found["e.weight"].values for d in "xyz"], axis=1)


@pytest.mark.parametrize("fields, gather", [("electromagnetic", "energy"), ("electrostatic", "momentum")])
def test_electrons_drift_with_e_over_b(fields, gather):
    """From rest in E_y = 0.3, B_z = 1: the mean of u_x in time is Γ² v (1 + v²/2), its largest value 2 Γ² v."""
    v = 0.3
    gamma = 1 / math.sqrt(1 - v * v)
    found = run(30 * 2 * math.pi * gamma**3, [12], [60], {"e": [0, v, 0], "b": [0, 0, "1 + 0*x"]}, 0.15,
                fields=fields, solver={"gather": gather})
    u = momentum(found)
    assert u[:, 0].mean() == pytest.approx(gamma**2 * v * (1 + v * v / 2), rel=5e-3)
    assert u[:, 0].max() == pytest.approx(2 * gamma**2 * v, rel=5e-3)
    assert found["magnetic_z"].values.max() < 1e-20  # B is not a field of the mesh


def test_electrons_turn_with_boris_frequency():
    """tan(ω Δt/2) = B Δt/(2 γ), to rounding."""
    step, u0 = 0.2, 0.75
    found = run(40, [8], [16], {"b": [0, 0, 2]}, step, {**LIGHT, "drift": [u0, 0, 0]})
    omega = 2 / step * math.atan(2 * step / (2 * math.hypot(1, u0)))
    phase = np.unwrap(np.arctan2(*momentum(found).T[1::-1]))
    assert np.diff(phase) == pytest.approx(omega * step, abs=1e-9)


def test_a_mirror_reflects_with_its_bounce_frequency(tmp_path):
    """B_x = 1 + x²/L², B_y = -2 x y/L²: an electron bounces with ω = v_⊥/L by the adiabatic invariant, within 1 %."""
    across, along, scale, gamma = 0.05, 0.0125, 2.0, math.hypot(1, 0.05)
    pic.write_particles(tmp_path / "one.h5", "electron", [[2, 0.5]], [[along, 0, across]], [1e-12])
    found = run(400, [4, 1], [40, 10], {"b": ["1 + (x-2)^2/s^2", "-2*(x-2)*(y-0.5)/s^2", 0]}, 0.2,
                {"charge": -1, "mass": 1, "file": str(tmp_path / "one.h5")}, constants={"s": scale})
    u = momentum(found)[:, 0]
    at = np.flatnonzero(u[1:] * u[:-1] < 0)
    zeros = found.time[at] + u[at] / (u[at] - u[at + 1]) * 0.2
    assert np.pi / np.diff(zeros).mean() == pytest.approx(across / gamma / scale, rel=0.01)
    assert np.sum(momentum(found) ** 2, axis=1) == pytest.approx(across**2 + along**2, rel=1e-9)


def test_an_oscillating_gradient_traps_by_its_ponderomotive_force():
    """E_x = k x cos(ω t): the slow frequency is that of Mathieu's equation, about k/(√2 ω); seen once a period of the
    field, u obeys u(n+1) + u(n-1) = 2 cos(Ω T) u(n)."""
    k, omega, period = 0.05, 1.0, 2 * math.pi
    steps = 64
    found = run(30 * period, [4], [40], {"e": ["k*(x-2)*cos(t)", 0, 0]}, period / steps,
                {**LIGHT, "density": "if(abs(x-2.55) < 0.01, 1e-12, 0)"}, constants={"k": k})
    u = momentum(found)[steps - 1::steps, 0]
    slow = math.acos(np.dot(u[1:-1], u[2:] + u[:-2]) / np.dot(u[1:-1], u[1:-1]) / 2) / period
    motion = [solve_ivp(lambda t, y: [y[1], -k * math.cos(omega * t) * y[0]], [0, period], start, rtol=1e-10,
                        atol=1e-12).y[:, -1] for start in ([1, 0], [0, 1])]
    assert slow == pytest.approx(math.acos((motion[0][0] + motion[1][1]) / 2) / period, rel=2e-3)
    assert slow == pytest.approx(k / math.sqrt(2) / omega, rel=0.01)


def write_map(path, values, spacing, first, axes="x", unit=1.0):
    """An openPMD file with B_z."""
    with h5py.File(path, "w") as file:
        file.attrs.update(meshesPath=np.bytes_(b"meshes/"), basePath=np.bytes_(b"/data/%T/"))
        record = file.create_group("data/0/meshes/B")
        record.attrs.update(axisLabels=np.array([d.encode() for d in axes]), gridSpacing=spacing, gridUnitSI=unit,
                            gridGlobalOffset=first, geometry=np.bytes_(b"cartesian"))
        record.create_dataset("z", data=values).attrs.update(unitSI=unit, position=np.zeros(len(axes)))


def test_a_map_of_a_file_is_the_formula_it_samples(tmp_path):
    """B_z = 0.2 + 0.1 x - 0.3 y on a mesh of its own, times cos t: linear, so the same to rounding; a file that has
    changed is refused, and so is one that is not there, has other axes or SI units without units.density."""
    path = tmp_path / "coil.h5"
    x, y = np.meshgrid(np.linspace(-1, 5, 7), np.linspace(-0.5, 2.5, 5), indexing="ij")
    write_map(path, 0.2 + 0.1 * x - 0.3 * y, [1.0, 0.75], [-1.0, -0.5], "xy")
    hot = {**LIGHT, "temperature": 0.04}
    grid = dict(end=5, length=[4, 2], cells=[20, 10], step=0.1, species=hot)
    of_file = run(external={"file": str(path), "factor": "cos(t)"}, folder=tmp_path / "run", **grid)
    of_formula = run(external={"b": [0, 0, "(0.2 + 0.1*x - 0.3*y)*cos(t)"]}, **grid)
    assert momentum(of_file) == pytest.approx(momentum(of_formula), abs=1e-12)
    for message, external, change in (
            ("there is no such file", {"file": str(tmp_path / "none.h5")}, lambda: None),
            ("has changed: its SHA-256 is", {"file": str(path), "checksum": "0" * 64}, lambda: None),
            ("a mesh with the axes x: it must be cartesian with x, y", {"file": str(path)},
             lambda: write_map(path, np.ones(3), [1.0], [0.0])),
            ("has SI units: the input needs units.density", {"file": str(path)},
             lambda: write_map(path, np.ones((3, 3)), [1.0, 1.0], [0.0, 0.0], "xy", 1e-6)),
            ("damaged, or not an openPMD file", {"file": str(path)}, lambda: path.write_bytes(b"no"))):
        change()
        with pytest.raises(InputError) as error:
            run(external=external, **grid)
        assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("external, message", [
    ({"factor": 2.0}, "external.factor = 2.0 is not allowed: it is of external.file"),
    ({"e": ["q", 0, 0]}, "external.e: ▸q: unknown name q"),
    ({"b": [0, 0, "1/(x-x)"]}, "external.b: 1/(x-x) is inf at x = "),
    ({"b": [0, 0, "if(t > 3, 1/0, 0)"]}, "external.b: "),
])
def test_fields_from_outside_are_checked_before_a_run(external, message):
    with pytest.raises(InputError) as error:
        pic.check(pic.Parameters(grid={"cells": [8], "length": [4]}, time={"end": 5}, external=external,
                                 species={"e": LIGHT}))
    assert message in str(error.value)


def test_an_electrostatic_run_takes_e_from_outside_only():
    with pytest.raises(InputError, match="fields.e = .* is not allowed: .* external.e"):
        pic.Parameters(grid={"cells": [8], "length": [4]}, time={"end": 5}, species={"e": LIGHT},
                       fields={"solver": "electrostatic", "e": [1, 0, 0]})


def test_a_run_that_goes_on_is_that_of_one_piece(tmp_path):
    def run_of(end, folder):
        return pic.run(pic.Parameters(
            grid={"cells": [24], "length": [4], "patches": [3]}, time={"end": end, "step": 0.05},
            external={"e": ["sin(x - t)", 0, 0], "b": [0, "0.3*t", 0]}, solver={"gather": "momentum"},
            fields={"filter_passes": 2, "filter_compensation": True}, output={"pictures": 0}, run={"workers": 1},
            species={"e": {**LIGHT, "density": 0.1, "per_cell": 3, "temperature": 0.01}}), tmp_path / folder)

    for end, folder in ((2, "parts"), (4, "parts"), (4, "whole")):
        run_of(end, folder)
    assert pic.digest(tmp_path / "parts") == pic.digest(tmp_path / "whole")


def test_formulas_of_the_core_are_those_of_python():
    """Every function and operator, at numbers of both signs, in numpy and in the core."""
    x = np.linspace(-1.3, 1.7, 61)
    texts = ["sin(x)+cos(y)*tan(t)", "sinh(x)-cosh(x)/tanh(2+x)", "exp(x)^2 + 2^x", "log(2+x)-log10(3+x)", "sqrt(2+x)",
             "floor(3*x)+ceil(2*x)", "asin(x/2)+acos(x/2)-atan(x)", "atan2(x, y)", "abs(x)+sign(x)+step(x)",
             "erf(x)", "gauss(x, 0.4)", "min(x, y, t, 0.1)+max(x, y, -0.2)", "mod(x, 0.3)+mod(-x, -0.7)",
             "if(x > 0.2, x, -y)+where(x, 1, 2)", "(x < 0)+(x <= 0)+(x >= y)+(x == 0.2)+(x != 0.2)",
             "(x > 0 and y < 2) + (x < 0 or t > 9)", "-x^2*(x - y)/(3 - z)", "f(x)-f(2*x)", "1.5", "x**3"]
    constants = {"f": ((-1.0, 2.0), (0.5, -1.0), (0.75, 3.0))}
    for text in texts:
        formula = Formula.read(text, "xyzt", constants)
        assert np.asarray(core_formula(formula)(x, 0.4, -1.2, 0.3)) == pytest.approx(
            formula(x=x, y=0.4, z=-1.2, t=0.3), rel=1e-13, abs=1e-14), text

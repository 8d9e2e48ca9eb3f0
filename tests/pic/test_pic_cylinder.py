"""Plasmas of z and r: against potentials of rods and beams, the cylindrical diode, and what an input may have."""

import numpy as np
import pytest
from openpmd_validator import check_h5
from scipy.integrate import solve_ivp
from scipy.special import j0, jn_zeros

from plaq import pic
from plaq.errors import InputError

IONS = {"charge": 1, "mass": 1, "moves": False, "per_cell": 16, "placed": "even"}
ELECTRONS = {"charge": -1, "mass": 1}


def parameters(species, **sections):
    given = {"grid": {"geometry": "cylinder", "cells": [8, 32], "length": [1.0, 2.0]},
             "fields": {"solver": "electrostatic"}, "time": {"end": 0.1, "step": 0.1}, "species": species,
             "output": {"pictures": 0}, "run": {"workers": 1}}
    return pic.Parameters(**{key: {**given.get(key, {}), **sections.get(key, {})} for key in {**given, **sections}})


def line(field, **more):
    return {"probe": {"line": {"field": field, "at": [0.5, 0], "along": "r"} | more}}


def test_potential_and_field_of_a_beam():
    """E = n r/2 within r = a and n a²/2r outside: exact between nodes; φ to the second order in Δr."""
    a, n, errors = 0.5, 0.3, []
    for cells in (32, 64):
        beam = {"ions": IONS | {"density": f"if(r < {a}, {n}, 0)", "per_cell": 64}}
        grid = {"grid": {"cells": [8, cells]}}
        phi = pic.run(parameters(beam, **grid, **line("phi")))["line"].values[-1]
        field = pic.run(parameters(beam, **grid, **line("er")))["line"]
        r = field.axis("r")
        exact = np.where(r < a, n * r / 2, n * a**2 / (2 * r))
        assert field.values[-1][:-1] == pytest.approx(exact[:-1], abs=2e-3 * exact.max())
        errors.append(abs(phi[0] / (n * a**2 / 4 * (1 + 2 * np.log(2 / a))) - 1))
    assert errors[1] < 2e-4 and errors[0] < 1e-3


def test_potential_of_a_bessel_function():
    """ρ = n + a J_0(j r/R) cos(k z): φ = n (R² - r²)/4 + a J_0 cos/(j²/R² + k²)."""
    n, a, zero = 0.5, 0.4, jn_zeros(0, 1)[0] / 2
    charge = {"ions": IONS | {"density": f"{n} + {a}*j(r)*cos(2*pi*z)", "per_cell": 64}}
    table = [[r, float(j0(zero * r))] for r in np.linspace(0, 2, 2001)]
    found = pic.run(parameters(charge, grid={"cells": [32, 32]}, constants={"j": table},
                               **line("phi", at=[0, 0])))["line"]
    r = found.axis("r")
    exact = n * (4 - r**2) / 4 + a * j0(zero * r) / (zero**2 + 4 * np.pi**2)
    assert found.values[-1] == pytest.approx(exact, abs=2e-5)  # of 0.01


def test_a_rod_in_a_tube_is_a_capacitor():
    """φ = V ln(R/r)/ln(R/a), C = 2π L/ln(R/a), by the charge of a circuit; errors fall with Δr²."""
    errors = []
    for cells in (16, 32):
        results = pic.run(parameters(
            {"e": ELECTRONS}, grid={"cells": [8, cells]}, conductor={"rod": {"where": "r < 0.54"}},
            circuit={"rod": {"electrode": "rod", "source": 0.7, "resistance": 1e-3}}, time={"end": 10, "step": 0.5},
            **line("phi")))
        phi, r = results["line"].values[-1], results["line"].axis("r")
        outside = r > 0.54
        exact = 0.7 * np.log(2 / r[outside]) / np.log(2 / 0.54)
        assert phi[~outside] == pytest.approx(0.7, rel=1e-9)
        errors.append([np.abs(phi[outside] - exact).max(),
                       abs(results["rod.charge"].values[-1] / (0.7 * 2 * np.pi / np.log(2 / 0.54)) - 1)])
    assert np.all(np.array(errors[1]) < [1e-3, 1e-3])
    assert np.array(errors[0]) / errors[1] == pytest.approx([4, 4], rel=0.25)


def test_density_of_a_warm_gas_stays_uniform_at_the_axis():
    """Between thermal walls, which let each particle forget where it began."""
    warm = {"e": ELECTRONS | {"density": 1.0, "per_cell": 60, "temperature": 0.04, "test": True}}
    results = pic.run(parameters(
        warm, grid={"cells": [4, 16], "length": [1.0, 1.0]}, time={"end": 400, "step": 0.5},
        boundaries={"particles_r": "thermal", "wall_temperature": 0.04},
        mean={"n": {"quantity": "density", "species": "e", "length": 20}}))
    density = results["n"].values.mean(axis=1)[1:]  # [window, r], over z
    error = density.std(axis=0, ddof=1) / np.sqrt(len(density))
    assert np.all(np.abs(density.mean(axis=0) * np.pi / results["e.weight"].values[-1] - 1) < 5 * error)
    assert np.all(error < 0.03)
    assert results["e.weight"].values[-1] == pytest.approx(np.pi, rel=0.02)


def test_particles_turn_in_a_magnetic_field_as_in_space(tmp_path):
    """Boris' steps in Cartesian coordinates, B_z = 0.9: r and the momenta in the plane of z and r, to rounding."""
    step, steps = 0.2, 25
    warm = {"e": ELECTRONS | {"density": 1.0, "per_cell": 1, "temperature": 0.05, "test": True}}
    pic.run(parameters(
        warm, grid={"cells": [4, 16], "length": [1.0, 4.0]}, fields={"solver": "electrostatic", "b": [0.9, 0, 0]},
        output={"every": steps, "particles": ["e"], "fields": ["phi"], "pictures": 0},
        boundaries={"particles_r": "reflected"}, time={"end": steps * step, "step": step}), tmp_path)
    series = pic.Series(tmp_path)
    (x, u), last = (series.particles("e", 0)[name] for name in ("x", "u")), series.particles("e", steps)
    farthest = x[:, 0].copy()
    for _ in range(steps):  # q/m = -1: u' = u + u × t, u + u' × 2t/(1 + t²) with t = -B Δt/2γ along z
        t = -0.5 * step * 0.9 / np.sqrt(1 + np.sum(u**2, axis=1))
        half = np.stack([u[:, 0] + u[:, 1] * t, u[:, 1] - u[:, 0] * t], axis=1)
        s = 2 * t / (1 + t**2)
        u = np.stack([u[:, 0] + half[:, 1] * s, u[:, 1] - half[:, 0] * s, u[:, 2]], axis=1)
        x = x + step * u / np.sqrt(1 + np.sum(u**2, axis=1))[:, None]
        farthest = np.maximum(farthest, np.hypot(x[:, 0], x[:, 1]))
    r, inside = np.hypot(x[:, 0], x[:, 1]), farthest < 4.0
    assert inside.sum() > 40 and last["x"][inside, 0] == pytest.approx(r[inside], rel=1e-10, abs=1e-12)
    radial = (u[:, 0] * x[:, 0] + u[:, 1] * x[:, 1]) / r
    assert last["u"][inside, 0] == pytest.approx(radial[inside], rel=1e-9, abs=1e-10)


def blodgett(outer, inner):
    """Return β² of Langmuir and Blodgett, 3ββ'' + β'² + 4ββ' + β² = 1 in γ = ln(r/r_cathode), inwards."""
    start = -0.02

    def slope(x, y):
        return [y[1], (1 - y[1] ** 2 - 4 * y[0] * y[1] - y[0] ** 2) / (3 * y[0])]

    series = [start - 2 / 5 * start**2 + 11 / 120 * start**3, 1 - 4 / 5 * start + 11 / 40 * start**2]
    return solve_ivp(slope, (start, np.log(inner / outer)), series, rtol=1e-9, atol=1e-12).y[0, -1] ** 2


def test_current_of_a_cylindrical_diode():
    """I/L = (8π/9) √2 V^{3/2}/(r β²), from the outer side to a rod of radius r (Phys. Rev. 22 (1923) 347)."""
    radius, rod, voltage, found = 1.0, 0.25, 0.01, []
    for cells in (32, 64):
        length, step = 4 * radius / cells, 6.4 / cells
        plate = {"species": "electrons", "at": [length / 2, radius], "normal": [0, -1], "half_width": length / 2,
                 "space_charge_limited": True, "per_cell": 400}
        results = pic.run(parameters(
            {"electrons": ELECTRONS}, grid={"cells": [4, cells], "length": [length, radius]},
            conductor={"anode": {"where": f"r < {rod + 1e-6}", "potential": voltage}}, emission={"cathode": plate},
            time={"end": 100, "step": step}))
        arrived = results["electrons.absorbed_weight"].values
        expected = 8 * np.pi / 9 * np.sqrt(2) * voltage**1.5 / (rod * blodgett(radius, rod)) * length
        found.append(arrived[len(arrived) // 2:].mean() / step / expected)
    assert found[1] == pytest.approx(1, abs=0.05)
    assert 2 * found[1] - found[0] == pytest.approx(1, abs=0.025)


def test_a_plate_emits_its_flux_per_area():
    """A disc from the axis on, in z: π R² times the flux, and as dense at any radius."""
    plate = {"species": "e", "at": [0, 1], "normal": [1, 0], "half_width": 1, "flux": 1e-3, "per_cell": 2e4,
             "drift": 1.0}
    results = pic.run(parameters(
        {"e": ELECTRONS}, boundaries={"z": "conducting"}, emission={"disc": plate}, time={"end": 40, "step": 0.5},
        histogram={"r": {"species": "e", "axes": ["r"], "low": [0], "high": [2], "bins": [4], "every": 1}}))
    assert results["e.emitted_weight"].values.sum() == pytest.approx(1e-3 * 40 * np.pi * 4, rel=0.01)
    by_ring = results["r"].values[20:].sum(axis=0)
    assert by_ring / by_ring.sum() == pytest.approx(np.array([1, 3, 5, 7]) / 16, abs=0.02)


def test_a_run_in_two_parts_is_one(tmp_path):
    def run(end, folder, **sections):
        warm = {"e": ELECTRONS | {"density": 0.1, "per_cell": 9, "temperature": "0.01*(1 + r)"},
                "i": IONS | {"density": 0.1}}
        return pic.run(parameters(
            warm, grid={"patches": [2, 3]}, time={"end": end, "step": 0.5}, external={"b": ["0.5", "0.1*r*cos(z)", 0]},
            boundaries={"z": "conducting", "potential_r": "0.1*sin(t)", "particles_z": ["thermal", "absorbed"],
                        "wall_temperature": 0.01}, collision={"ee": {"between": ["e", "e"]}},
            units={"density": 1e18}, mean={"n": {"quantity": "flux_t", "species": "e", "length": 1}}, **sections),
            tmp_path / folder)

    pictures = {"output": {"pictures": 3}}
    whole = run(8.0, "whole", **pictures)
    run(4.0, "parts", **pictures)
    parts = run(8.0, "parts", **pictures)
    for name in ("e.kinetic", "e.left_weight_rhigh", "electric_r", "n"):
        assert np.array_equal(whole[name].values, parts[name].values), name
    for name in ("picture_er", "picture_density_e"):
        assert np.array_equal(whole[name].values[-1], parts[name].values[-1]), name


def test_openpmd_files_of_a_cylinder(tmp_path, capsys):
    """Meshes in the geometry thetaMode, particles at the azimuth 0; the validator finds no error."""
    warm = {"e": ELECTRONS | {"density": "0.1*(1 + z)", "per_cell": 9, "temperature": 0.01, "drift": [0.5, 0, 0.1]}}
    results = pic.run(parameters(
        warm, output={"every": 1, "particles": ["e"], "pictures": 2}, units={"density": 1e18},
        boundaries={"z": "conducting"}), tmp_path)
    errors = check_h5.check_file(str(tmp_path / "openpmd/data_00000001.h5"), force_extension_pic=True)[0]
    assert errors == 0, capsys.readouterr().out
    series = pic.Series(tmp_path)
    assert series.field("er", 1).shape == (8, 32)
    assert np.array_equal(series.field("er", 1), results["picture_er"].values[-1])
    particles = series.particles("e", 1)
    assert particles["w"].sum() == pytest.approx(results["e.weight"].values[-1], rel=1e-12)
    assert np.all(particles["x"][:, 1] == 0) and particles["x"].max(axis=0) == pytest.approx([2, 0, 1], abs=0.05)
    assert particles["u"].mean(axis=0) == pytest.approx([0, 0.1, 0.5], abs=0.02)


def test_merging_in_a_cylinder_keeps_the_sums():
    """Weights, momenta along z and energies, of particles that feel no field; the density by r after a step, too."""
    def warm(end, **sections):
        electrons = ELECTRONS | {"density": 0.1, "per_cell": 64, "temperature": 1e-3, "drift": [0.1, 0, 0]}
        return pic.run(parameters(
            {"e": electrons | {"test": True}}, time={"end": end, "step": 0.02},
            boundaries={"r": "conducting", "particles_r": "reflected"},
            mean={"n": {"quantity": "density", "species": "e", "length": 0.02}}, **sections))

    found = warm(2, merging={"m": {"species": "e", "above": 16, "every": 20}})
    assert found["e.number"].values[0] < 0.3 * 64 * 8 * 32 < found["m.count"].values[0]
    for name in ("e.weight", "e.kinetic", "e.pz"):
        values = found[name].values
        assert values == pytest.approx(np.full_like(values, values[0]), rel=1e-12)
    density, unmerged = (one["mean_n"].values[0].mean(axis=0) for one in (found, warm(0.02)))
    assert density == pytest.approx(unmerged, rel=0.01)


@pytest.mark.parametrize(("sections", "message"), [
    ({"fields": {"solver": "electromagnetic", "stencil": "lehe"}}, 'fields.stencil = "lehe" is not allowed: yee'),
    ({"fields": {"solver": "electromagnetic"}, "time": {"step": 0.09}}, "time.step = 0.09 is not allowed: the Courant"),
    ({"grid": {"cells": [8], "length": [1]}}, "grid.cells = [8] is not allowed: a cylinder has two directions"),
    ({"fields": {"solver": "electrostatic", "filter_passes": 1}}, "fields.filter_passes = 1"),
    ({"external": {"file": "b.h5"}}, 'external.file = "b.h5" is not allowed'),
    ({"output": {"fields": ["ex"]}}, 'output.fields = "ex" is not allowed: with grid.geometry'),
    ({"output": {"fields": ["jr"]}}, "no current on the mesh"),
    ({"boundaries": {"x": "conducting"}}, "boundaries.x = "),
    ({"boundaries": {"r": "absorbing"}}, "boundaries.r = "),
    ({"boundaries": {"z": "absorbing", "layer": 3}}, "z: an electrostatic field has no absorbing sides"),
    ({"window": {"speed": 1.0}}, "window.speed = 1"),
    ({"laser": {"a": {"at": 1, "wavelength": 1, "a0": 1, "envelope": 1}}}, "laser.a"),
    ({"dielectric": {"d": {"where": "r > 1", "permittivity": 2}}}, "dielectric.d: a cylinder has no"),
    ({"splitting": {"s": {"species": "e", "below": 9, "per_cell": 9}}}, "splitting.s: a cylinder has merging only"),
    ({"probe": {"p": {"field": "ex", "at": [0, 0]}}}, 'probe.p.field = "ex" is not allowed: with grid.geometry'),
    ({"probe": {"p": {"field": "jz", "at": [0, 0]}}}, "no current on the mesh"),
    ({"probe": {"p": {"field": "er", "at": [0, 0], "along": "y"}}}, 'probe.p.along = "y"'),
    ({"mean": {"m": {"quantity": "power", "length": 1}}}, "no current on the mesh"),
    ({"mean": {"m": {"quantity": "flux_x", "species": "e", "length": 1}}}, 'mean.m.quantity = "flux_x"'),
    ({"histogram": {"h": {"species": "e", "axes": ["uy"], "low": [0], "high": [1], "bins": [2], "every": 1}}},
     'histogram.h.axes = "uy"'),
    ({"species": {"e": ELECTRONS | {"density": "x", "per_cell": 1}}}, "unknown name x"),
    ({"species": {"e": ELECTRONS | {"file": "e.h5"}}}, 'species.e.file = "e.h5"'),
    ({"circuit": {"c": {"electrode": "r low", "resistance": 1}}}, 'circuit.c.electrode = "r low"'),
    ({"circuit": {"c": {"electrode": "r high", "resistance": 1, "area": 2}}}, "circuit.c.area = 2"),
    ({"secondary": {"s": {"by": "e", "emits": "e", "coefficient": 1, "at": ["y high"]}}}, "secondary.s.at"),
])
def test_what_a_cylinder_has_not_is_refused(sections, message):
    with pytest.raises(InputError) as refused:
        given = {key: content for key, content in sections.items() if key != "species"}
        p = parameters(sections.get("species", {"e": ELECTRONS}), **given)
        pic.application.Pic(p).check(1)
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_keys_of_a_cylinder_are_refused_without_one():
    for key, value in (("potential_r", 1.0), ("particles_r", "reflected")):
        with pytest.raises(InputError, match=f"boundaries.{key}"):
            pic.Parameters(grid={"cells": [8, 8], "length": [1, 1]}, time={"end": 1}, boundaries={key: value},
                           species={"e": ELECTRONS})
    with pytest.raises(InputError, match='probe.p.field = "er"'):
        pic.Parameters(grid={"cells": [8, 8], "length": [1, 1]}, time={"end": 1}, species={"e": ELECTRONS},
                       probe={"p": {"field": "er", "at": [0, 0]}})

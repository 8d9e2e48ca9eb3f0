"""Gases: files of LXCat, swarms against published numbers and theory, voltages in time."""

import math
import tomllib

import numpy as np
import pytest

from plaq import pic
from plaq.errors import InputError
from plaq.pic.inputs import gas, lxcat
from plaq.pic.inputs.setup import Setup
from plaq.pic.inputs.units import ELECTRON_REST_ENERGY, SPEED_OF_LIGHT

ATOM = 4 * 1822.8885


def block(kind, parameter, energy, areas, target="X"):
    """Return a block of a file of LXCat."""
    rows = [f" {e!r}\t{s!r}" for e, s in zip(map(float, energy), map(float, areas))]
    return "\n".join([kind, target, *([] if parameter is None else [repr(float(parameter))]), "COMMENT: a model",
                      "COLUMNS: Energy (eV) | Cross section (m2)", "-----", *rows, "-----", ""])


ELASTIC = block("ELASTIC", 1 / ATOM, [0, 1000], [6e-20, 6e-20])
RAMP = block("EXCITATION", 0.2, [0.2, 4], [0, 38e-20])


def swarm(tables, field, atom=ATOM, steps=1000, step=2e-10, temperature=0.0, per_cell=200, species=None, density=1e22,
          **section):
    """Run electrons, or an ion, in a uniform field of so many Td; return its results in SI, by column."""
    projectile = species or {"charge": -1, "mass": 1, "temperature": 0.3}
    all_species = {"e": {"density": 1, "per_cell": per_cell, **projectile}, "ions": {"charge": 1, "mass": atom}}
    found = pic.run(pic.Parameters(
        units={"system": "SI", "density": 1}, grid={"cells": [8], "length": [1]},
        time={"end": steps * step, "step": step},
        fields={"solver": "electrostatic"}, external={"e": [field * 1e-21 * density, 0, 0]},
        species=all_species, gas={"x": {"density": density, "mass": atom, "temperature": temperature}},
        scattering={"s": {"species": "e", "gas": "x", "cross_sections": tables, **section}},
        output={"pictures": 0, "gauss": False}, run={"workers": 1}))
    weight = found["e.weight"].values
    mass = all_species["e"]["mass"]
    return {"drift": found["e.px"].values / weight / mass * SPEED_OF_LIGHT,
            "energy": found["e.kinetic"].values / weight * ELECTRON_REST_ENERGY, "number": found["e.number"].values,
            "time": found.time * pic.Units("SI", 1).in_si("time"), "all": found}


def mean_of(values, batches=10):
    """Return mean and standard error of the second half, by batches."""
    half = values[len(values) // 2:]
    means = half[:len(half) // batches * batches].reshape(batches, -1).mean(axis=1)
    return means.mean(), means.std(ddof=1) / math.sqrt(batches)


def check(measured, right, relative=0.0):
    """Check a mean within four standard errors and a part of it, which is at most 5 %."""
    mean, error = measured
    assert abs(mean - right) < 4 * error + relative * abs(right) and error < 0.05 * abs(right), (mean, error, right)


def test_reids_ramp_has_the_published_drift_and_energy():
    """24 Td: 88857 m/s and 0.4079 eV, of ten terms (Flynn et al., J. Phys. D 57 (2024) 255204, table 1)."""
    found = swarm(ELASTIC + RAMP, 24)
    check(mean_of(-found["drift"]), 88857)
    check(mean_of(found["energy"]), 0.40790)


def test_the_gas_of_lucas_and_saelee_has_the_published_rate_of_ionisation():
    """30 Td: 6.2589 eV, 2.0759e5 m/s, 2.7156e-16 m³/s, of ten terms (the same, table 2)."""
    energy = np.concatenate([[1e-3], np.geomspace(1e-2, 100, 200)])
    tables = (block("ELASTIC", 1e-3, energy, 4e-20 / np.sqrt(energy))
              + block("IONIZATION", 15.6, [15.6, 100], [0, 0.1e-20 * 84.4]))
    found = swarm(tables, 30, atom=1000, steps=2400, step=1e-10, electrons="e", ions="ions",
                  species={"charge": -1, "mass": 1, "temperature": 4})
    half, n = len(found["time"]) // 2, found["number"]
    new = n[-1] - n[half]
    exposure = n[half:].mean() * (found["time"][-1] - found["time"][half]) * 1e22
    check((new / exposure, math.sqrt(new) / exposure), 2.7156e-16, 0.01)
    check(mean_of(found["energy"]), 6.2589, 0.005)
    check(mean_of(-found["drift"]), 2.0759e5, 0.005)


def test_ions_of_a_constant_collision_frequency_drift_as_maxwells_model():
    """σ ~ 1/v: w = e E/(μ ν), 3/2 T_ion = 3/2 T + M w²/2 + m w²/2 (Wannier), all in isotropic collisions."""
    mass, nu = 100.0, 2e-16  # k = σ v, m³/s
    energy = np.geomspace(1e-5, 1000, 400)
    reduced = mass / 2 * 9.1093837139e-31
    areas = nu / np.sqrt(2 * energy * 1.602176634e-19 / reduced)
    ion = {"charge": 1, "mass": mass, "temperature": 0.03}
    found = swarm(block("ISOTROPIC", None, energy, areas), 100, atom=mass, steps=600, step=5e-8, temperature=0.025,
                  species=ion)
    drift = 1.602176634e-19 * 100e-21 / (reduced * nu)
    check(mean_of(found["drift"]), drift, 0.002)
    kinetic = mass * 9.1093837139e-31 / 1.602176634e-19 * drift**2
    check(mean_of(found["energy"]), 1.5 * 0.025 + kinetic, 0.004)


def test_backscattering_in_a_strong_field_has_the_drift_of_resonant_exchange():
    """Constant σ, no temperature: v of each flight begins at 0; w = √(2 e E/(π m n σ)) (Smirnov)."""
    mass, sigma = 100.0, 5e-19
    ion = {"charge": 1, "mass": mass}
    found = swarm(block("BACKSCAT", None, [0, 15], [sigma, sigma]), 500, atom=mass, steps=600, step=2e-9,
                  species=ion, per_cell=100)
    right = math.sqrt(2 * 1.602176634e-19 * 500e-21 / (math.pi * mass * 9.1093837139e-31 * sigma))
    check(mean_of(found["drift"]), right, 0.01)


def test_an_avalanche_grows_at_the_rate_of_its_cross_section():
    """Electrons that lose next to nothing: d ln N/dt = n σ v at first, within four standard errors; ions are as many,
    and Gauss's law holds."""
    u, area = 0.05, pic.Units("normalised", 1e20).in_si("cross section")
    found = pic.run(pic.Parameters(
        units={"density": 1e20}, grid={"cells": [16], "length": [1]}, time={"end": 10, "step": 0.05},
        fields={"solver": "electrostatic"}, gas={"x": {"density": 2, "mass": 1836}},
        species={"e": {"charge": -1, "mass": 1, "density": 1e-9, "per_cell": 200, "drift": [u, 0, 0]},
                 "ions": {"charge": 1, "mass": 1836}},
        scattering={"s": {"species": "e", "gas": "x", "electrons": "e", "ions": "ions", "sharing": "random",
                          "cross_sections": block("IONIZATION", 1e-6, [1e-6, 2000], [area, area])}},
        output={"pictures": 0}, run={"workers": 1}))
    number, ions = found["e.number"].values, found["ions.number"].values
    assert np.array_equal(number - ions, np.full(len(ions), 16 * 200)) and np.nanmax(found["gauss"].values) < 1e-15
    assert found["s.count_ionisation_1e-06"].values.sum() == ions[-1]
    first, expected = number[10] - number[0], 2 * u / math.sqrt(1 + u * u) * 0.55 * number[0]
    assert number[-1] > 1.3 * 3200 and abs(first - expected) < 4 * math.sqrt(expected) + 0.03 * expected
    assert (found["e.kinetic"].values[-1] / found["e.kinetic"].values[0]) == pytest.approx(1, rel=1e-3)


def test_effective_is_elastic_and_the_rest():
    effective = block("EFFECTIVE", 1 / ATOM, [0, 10, 20], [6e-20, 6e-20, 8e-20])
    processes = lxcat.with_elastic(lxcat.parse(effective + block("EXCITATION", 10, [10, 20], [0, 3e-20]), "x"), "x")
    assert [process.type for process in processes] == ["ELASTIC", "EXCITATION"]
    assert processes[0].at(np.array([0, 5, 15, 20])) == pytest.approx([6e-20, 6e-20, 5.5e-20, 5e-20])
    with pytest.raises(InputError, match="at 20 eV the inelastic cross sections of X exceed EFFECTIVE, 8e-20 m²"):
        lxcat.with_elastic(lxcat.parse(effective + block("EXCITATION", 10, [10, 20], [0, 9e-20]), "x"), "x")


def test_processes_have_names_of_their_own():
    text = ELASTIC + RAMP + RAMP + block("ATTACHMENT", None, [0, 1], [1, 1])
    assert gas.labels(lxcat.parse(text, "x")) == ["elastic", "excitation_0.2", "excitation_0.2_no2", "attachment"]


@pytest.mark.parametrize("text, message", [
    (ELASTIC.replace(" 0.0\t6e-20", " 0.0\t6e-20\n"), "x.txt:8: a gap in the table: an empty line is not an energy"),
    (ELASTIC.replace(" 0.0\t6e-20", " 0.0"), "x.txt:7: a gap in the table: 0.0 is not an energy in eV and"),
    (ELASTIC.replace(" 0.0\t6e-20", " 2000.0\t6e-20"), "x.txt:8: an energy of 1000 eV after 2000 eV: energies rise"),
    (ELASTIC.replace(" 0.0\t6e-20", " 0.0\t-6e-20"), "x.txt:7: -6e-20 is negative"),
    (ELASTIC.replace(" 0.0\t6e-20", " 0.0\tnan"), "x.txt:7: 0.0\tnan is not finite"),
    (ELASTIC.replace("COLUMNS: Energy (eV)", "COLUMNS: Energy"), "x.txt:1: ELASTIC: the units of its table"),
    (ELASTIC.replace(" 1000.0\t6e-20\n", ""), "x.txt:8: a table has two lines or more"),
    (ELASTIC[:-6], "x.txt:8: the table does not end with a line of dashes"),
    (ELASTIC.replace(repr(1 / ATOM), "mass"), "x.txt:3: ELASTIC: this line begins with the ratio of masses m/M"),
    (RAMP.replace("\n0.2\n", "\n0.4\n").replace(" 0.2\t0.0", " 0.2\t1e-20"),
     "x.txt:7: EXCITATION: a cross section above 0 at 0.2 eV, below its threshold of 0.4 eV"),
    (RAMP.replace("\n0.2\n", "\n200\n").replace("3.8e-19", "0"), "the table ends at 4 eV, below its threshold"),
    (RAMP.replace("\n0.2\n", "\n-1\n"), "x.txt:3: EXCITATION: -1 is not above 0"),
    (ELASTIC + block("BACKSCAT", None, [0, 1], [1, 1]), "cross sections of ions and of electrons: ELASTIC, BACKSCAT"),
    (ELASTIC + block("EFFECTIVE", 1, [0, 1], [1, 1]), "one of ELASTIC and EFFECTIVE, not 1 and 1"),
    (ELASTIC + block("ELASTIC", 1, [0, 1], [1, 1], "Y"), "there are cross sections of X, Y: target names one"),
    ("no table", "there is no cross section: no line is ELASTIC"),
    ("-----\n1 2\n-----", "x.txt:1: a table of none of the types ELASTIC"),
    (block("ELASTIC", 1e-3, [0, 1], [1, 1]), "m/M of X is 0.001, and species.e.mass over gas.x.mass is 0.000137"),
    (block("IONIZATION", 15, [15, 20], [0, 1]), "scattering.s.electrons is missing: IONIZATION needs a species"),
])
def test_a_bad_file_is_refused_in_a_line(tmp_path, text, message):
    (tmp_path / "x.txt").write_text(text)
    (tmp_path / "in.toml").write_text(
        "[units]\ndensity = 1e20\n[grid]\ncells = [8]\nlength = [1]\n[time]\nend = 1\n[species.e]\ncharge = -1\n"
        f"mass = 1\n[gas.x]\ndensity = 1\nmass = {ATOM}\n"
        '[scattering.s]\nspecies = "e"\ngas = "x"\ncross_sections = "x.txt"\n')
    with pytest.raises(InputError) as error:
        pic.Parameters.read(tmp_path / "in.toml")
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("changed, message", [
    ({"scattering": {"s": {"gas": "y"}}}, "scattering.s.gas: unknown gas y"),
    ({"scattering": {"s": {"species": "f"}}}, "scattering.s.species: unknown species f"),
    ({"scattering": {"s": {"sharing": "opal"}}}, 'scattering.s.opal_energy is of sharing = "opal", which needs it'),
    ({"units": {"density": None}}, "units.density is missing: scattering.s depends on the number of real atoms"),
    ({"gas": {"y": {"density": 1, "mass": 1}}}, "gas.y scatters no species"),
    ({"gas": {"x": {"density": "q"}}}, "gas.x.density: ▸q: unknown name q"),
])
def test_a_bad_gas_is_refused_in_a_line(changed, message):
    sections = {"units": {"density": 1e20}, "grid": {"cells": [8], "length": [1]}, "time": {"end": 1},
                "species": {"e": {"charge": -1, "mass": 1}}, "gas": {"x": {"density": 1, "mass": ATOM}},
                "scattering": {"s": {"species": "e", "gas": "x", "cross_sections": ELASTIC}}}
    for section, content in changed.items():
        if section == "units":
            del sections["units"]
            continue
        for name, part in content.items():
            sections[section][name] = {**sections[section].get(name, {}), **part}
    with pytest.raises(InputError) as error:
        pic.Parameters(**sections)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_results_have_the_tables_and_profiles_of_the_gas(tmp_path):
    """A gas in half of the box, from a file beside the input: collisions are there only; the input that the results
    keep reads back without the file."""
    (tmp_path / "x.txt").write_text(ELASTIC)
    (tmp_path / "in.toml").write_text(
        "[units]\ndensity = 1e20\n[grid]\ncells = [8]\nlength = [1]\n[time]\nend = 1\nstep = 0.1\n[species.e]\n"
        "charge = -1\nmass = 1\ndensity = 1e-9\nper_cell = 100\ndrift = [0.01, 0, 0]\n[fields]\n"
        f'solver = "electrostatic"\n[gas.x]\ndensity = "if(x < 0.5, 1e7, 0)"\nmass = {ATOM}\n'
        '[scattering.s]\nspecies = "e"\ngas = "x"\ncross_sections = "x.txt"\n')
    parameters = pic.Parameters.read(tmp_path / "in.toml")
    (tmp_path / "x.txt").unlink()
    again = pic.Parameters.from_tables(tomllib.loads(parameters.to_toml()), "there.toml")
    assert again.fingerprint() == parameters.fingerprint()
    assert again.scattering["s"].cross_sections.startswith("ELASTIC")
    found = pic.run(again)
    assert found["s.count_elastic"].values.sum() > 10
    assert found["s.count_weight_elastic"].values == pytest.approx(
        found["s.count_elastic"].values * found["e.weight"].values[0] / 800)
    density = np.asarray(gas.values(Setup(again), "gas.x.density",
                                    gas.gas_profiles(Setup(again), "x")["gas.x.density"], True))
    assert density == pytest.approx([1e7] * 4 + [0] * 4)


def test_potentials_are_formulas_of_time_and_resume(tmp_path):
    """V(t) of both sides and a conductor in SI, at every step; a run in two parts is one in a piece."""
    sections = {"units": {"system": "SI", "density": 1e14}, "grid": {"cells": [32], "length": [0.01]},
                "fields": {"solver": "electrostatic"},
                "boundaries": {"x": "conducting", "potential_x": ["5*t/1e-9", "450*sin(2*pi*13.56e6*t)"]},
                "conductor": {"grid": {"where": "abs(x - 0.005) < 1e-5", "potential": "2 - t/1e-9"}},
                "species": {"e": {"charge": -1, "mass": 1, "density": 1e14, "per_cell": 5, "temperature": 1}},
                "probe": {"line": {"field": "phi", "at": [0], "along": "x"}}, "output": {"pictures": 0},
                "run": {"workers": 1}}
    whole = pic.run(pic.Parameters(time={"end": 1e-8, "step": 1e-9}, **sections), tmp_path / "whole")
    line, volt = whole["line"], pic.Units("SI", 1e14).in_si("potential")
    t = np.arange(11) * 1e-9
    assert line.values[:, 0] * volt == pytest.approx(5 * t / 1e-9, abs=1e-9)
    assert line.values[:, 16] * volt == pytest.approx(2 - t / 1e-9, abs=1e-9)
    pic.run(pic.Parameters(time={"end": 4e-9, "step": 1e-9}, **sections), tmp_path / "parts")
    parts = pic.run(pic.Parameters(time={"end": 1e-8, "step": 1e-9}, **sections), tmp_path / "parts")
    assert np.array_equal(parts["line"].values, line.values)
    assert np.array_equal(parts["e.kinetic"].values, whole["e.kinetic"].values)
    for potential, message in (("sqrt(3.5e-9 - t)", "boundaries.potential_x, high: sqrt(3.5e-9 - t) is nan at"),
                               ("x", "boundaries.potential_x: ▸x: unknown name x")):
        with pytest.raises(InputError, match=message.replace("(", r"\(").replace(")", r"\)")) as error:
            changed = {**sections, "boundaries": {"x": "conducting", "potential_x": [0, potential]}}
            pic.run(pic.Parameters(time={"end": 1e-8, "step": 1e-9}, **changed))
        assert "\n" not in str(error.value)

"""Input of `plaq pic`: allowed values, error messages, normalised units."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaq.errors import InputError
from plaq.inputs.schema import parse_toml
from plaq.pic.application import Pic
from plaq.pic.inputs import gas, loads
from plaq.pic.inputs.parameters import Parameters
from plaq.pic.inputs.plan import plan_of
from plaq.pic.inputs.setup import Setup
from plaq.pic.inputs.table import COURANT
from plaq.pic.inputs.units import ELECTRON_MASS, ELEMENTARY_CHARGE, SPEED_OF_LIGHT, VACUUM_PERMITTIVITY, Units
from plaq.pic.planning.describe import describe
from plaq.pic.planning.warnings import input_warnings

ELECTRONS = {"charge": -1, "mass": 1, "density": "1 + a*cos(2*pi*x/L)", "per_cell": 10, "temperature": 0.01}


def parameters(**changed):
    sections = {"grid": {"cells": [64], "length": [16]}, "time": {"end": 10}, "constants": {"a": 0.1, "L": 16},
                "species": {"electrons": ELECTRONS}}
    for section, content in changed.items():
        sections[section] = {**sections.get(section, {}), **content}
    return Parameters("here", **sections)


def electrons(**changed):
    return {"electrons": {**ELECTRONS, **changed}}


def test_auto_becomes_numbers():
    p = parameters(grid={"cells": [64, 40], "length": [16, 10]})
    assert p.grid.patches == (4, 2) and p.time.step == pytest.approx(COURANT * 0.25 / math.sqrt(2))
    assert p.species["electrons"].temperature == (0.01,) * 3 and p.boundaries.x == ("periodic", "periodic")
    assert Parameters.from_tables(parse_toml(p.to_toml(), "again"), "again") == p


@pytest.mark.parametrize("changed, message", [
    ({"grid": {"length": [1, 2]}}, "here: grid.length = [1.0, 2.0] is not allowed: grid.cells has 1 directions"),
    ({"grid": {"patches": [32]}}, "grid.patches = [32] is not allowed: a patch has at least 3 cells"),
    ({"grid": {"cells": [2]}}, "grid.cells = [2] is not allowed"),
    ({"time": {"step": 0.25}},
     "time.step = 0.25 is not allowed: the Courant limit (Σ 1/Δ²)^(-1/2) of this grid is 0.25"),
    ({"time": {"end": 1e12}}, "steps, and at most 10^9 are possible"),
    ({"units": {"system": "SI"}}, "units.density is missing"),
    ({"boundaries": {"x": ["periodic", "conducting"]}}, "if one side is periodic, so is the other"),
    ({"boundaries": {"particles_x": "reflected"}}, "particles are periodic where fields are"),
    ({"boundaries": {"x": "absorbing", "particles_x": "periodic"}}, "particles are periodic where fields are"),
    ({"species": electrons(density="1 + b")}, "here: species.electrons.density: 1 + ▸b: unknown name b"),
    ({"species": electrons(density="cos(y)")}, "species.electrons.density: cos(▸y): unknown name y"),
    ({"species": electrons(drift=["0", "sin(", 0])},
     "species.electrons.drift: sin(▸: a number, a name or ( is missing"),
    ({"species": electrons(per_cell=0)}, "species.electrons.per_cell is missing"),
    ({"species": electrons(masss=1)}, "unknown key species.electrons.masss; did you mean species.electrons.mass?"),
    ({"species": electrons(like="ion")}, "species.electrons.like: unknown species ion"),
    ({"species": electrons(like="electrons")}, "it must be another species"),
    ({"species": electrons(temperature=[0.1, 0.1, 0.2], distribution="juttner")}, "juttner has one temperature"),
    ({"species": {"ions": {**ELECTRONS, "like": "electrons", "per_cell": 11}}},
     "species.ions.per_cell = 11 is not allowed"),
    ({"boundaries": {"x": "absorbing", "layer": 33}},
     "boundaries.layer = 33 is not allowed: at most 32, half of the cells in x, which has an absorbing side"),
    ({"boundaries": {"x": "conducting", "particles_x": "thermal"}},
     "boundaries.wall_temperature is missing: a thermal side has one above 0"),
    ({"probe": {"p": {"field": "ex", "at": [20]}}}, "probe.p.at = [20.0] is not allowed: the box in x is from 0 to 16"),
    ({"probe": {"p": {"field": "ex", "at": [2], "along": "y"}}}, 'probe.p.along = "y" is not allowed'),
    ({"probe": {"p": {"field": "ew", "at": [2]}}}, 'probe.p.field = "ew" is not allowed'),
    ({"histogram": {"h": {"species": "e", "axes": ["x"], "low": [0], "high": [1], "bins": [4], "every": 1}}},
     "histogram.h.species: unknown species e; known are electrons"),
    ({"histogram": {"h": {"species": "electrons", "axes": ["x", "ux"], "low": [0], "high": [1], "bins": [4],
                          "every": 1}}},
     "histogram.h.low = [0.0] is not allowed: histogram.h.axes has 2 of them"),
    ({"histogram": {"h": {"species": "electrons", "axes": ["z"], "low": [0], "high": [1], "bins": [4], "every": 1}}},
     'histogram.h.axes = ["z"] is not allowed'),
    ({"histogram": {"h": {"species": "electrons", "axes": ["x"], "low": [2], "high": [1], "bins": [4], "every": 1}}},
     "it must be above low"),
    ({"output": {"particles": ["ions"]}}, "output.particles: unknown species ions; known are electrons"),
    ({"species": {"electrons": {"charge": -1}}}, "species.electrons.mass is missing"),
])
def test_mistakes_have_their_message(changed, message):
    with pytest.raises(InputError) as error:
        parameters(**changed)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("changed, message", [
    ({"boundaries": {"y": "conducting"}},
     'boundaries.y = ["conducting", "conducting"] is not allowed: grid.cells has 1 directions'),
    ({"boundaries": {"particles_z": "absorbed"}}, "boundaries.particles_z = "),
    ({"boundaries": {"layer": 20}}, "boundaries.layer = 20 is not allowed: no side of the box is absorbing"),
    ({"boundaries": {"wall_temperature": 0.1}}, "boundaries.wall_temperature = 0.1 is not allowed: no side is thermal"),
    ({"window": {"start": 3}}, "window.start = 3.0 is not allowed: window.speed is 0"),
    ({"fields": {"solver": "electrostatic", "stencil": "cowan"}}, 'fields.stencil = "cowan" is not allowed'),
])
def test_keys_without_effect_are_refused(changed, message):
    with pytest.raises(InputError) as error:
        parameters(**changed)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_check_names_the_step_of_the_fastest_of_an_electrostatic_run():
    """Four thermal speeds of 0.2 in cells of 0.25 make 0.312 of a cell with a step of 0.1."""
    fields = {"solver": "electrostatic"}
    assert "paths: " not in describe(Setup(parameters(species=electrons(temperature=0.04), fields=fields)))
    assert "paths: " not in describe(Setup(parameters(species=electrons(temperature=0.04))))
    far = describe(Setup(parameters(species=electrons(temperature=0.04), fields=fields, time={"step": 1})))
    way = 0.8 / math.sqrt(1 + 0.64) / 0.25
    assert f"cross {way:.3g} cells in a step" in far and f"with a time.step of {1 / way:.3g} or less" in far


PLATE = {"species": "electrons", "at": [0], "normal": [1], "flux": 0.1, "per_cell": 10}


@pytest.mark.parametrize("changed, message", [
    ({"species": "ions"}, "emission.plate.species: unknown species ions"),
    ({"at": [0, 1]}, "emission.plate.at = [0.0, 1.0] is not allowed: grid.cells has 1 directions"),
    ({"at": [17]}, "emission.plate.at = [17.0] is not allowed: the box is from 0 to [16.0]"),
    ({"normal": [0]}, "emission.plate.normal = [0.0] is not allowed: it needs a direction"),
    ({"half_width": 1}, "emission.plate.half_width is more than a plate in one dimension has"),
    ({"flux": None}, "emission.plate: a plate has either a flux or space_charge_limited = true"),
    ({"space_charge_limited": True}, "emission.plate: a plate has either a flux or"),
    ({"flux": None, "space_charge_limited": True}, 'it needs fields.solver = "electrostatic" and a voltage'),
    ({"flux": "x"}, "emission.plate.flux: ▸x: unknown name x"),
])
def test_mistakes_in_plates_have_their_message(changed, message):
    with pytest.raises(InputError) as error:
        parameters(emission={"plate": {**PLATE, **changed}})
    assert message in str(error.value) and "\n" not in str(error.value)


def test_fluxes_are_tabulated_in_time_and_not_below_0():
    setup = Setup(parameters(emission={"plate": {**PLATE, "flux": "0.1*t"}, "other": PLATE}))
    assert setup.flux("plate") == pytest.approx(0.1 * setup.dt
                                                * np.arange(setup.steps)) and setup.flux("other").tolist() == [0.1]
    with pytest.raises(InputError, match=r"emission.plate.flux: 1 - t is below 0 at t = 9\."):
        Setup(parameters(emission={"plate": {**PLATE, "flux": "1 - t"}})).flux("plate")


def test_potentials_are_those_of_conductors_of_an_electrostatic_solver():
    sides = {"x": ["conducting", "absorbing"], "potential_x": [0, 0.1]}
    with pytest.raises(InputError,
                       match="only conducting sides have one, and boundaries.x is conducting and absorbing"):
        parameters(boundaries=sides)
    with pytest.raises(InputError, match='sides have potentials where fields.solver = "electrostatic"'):
        parameters(boundaries={"x": "conducting", "potential_x": [0, 0.1]})
    p = parameters(boundaries={"x": "conducting", "potential_x": [0, 0.1]}, fields={"solver": "electrostatic"})
    assert Setup(p).potentials_at([0]).tolist() == [[0, 0.1]] and p.time.step == 0.1


def test_an_input_without_particles_and_fields_is_refused():
    with pytest.raises(InputError, match="there are neither particles nor fields"):
        Parameters("here", grid={"cells": 8, "length": 8}, time={"end": 1})
    Parameters("here", grid={"cells": 8, "length": 8}, time={"end": 1}, fields={"e": [0, "sin(x)", 0]})


def test_a_run_resumes_to_a_later_end_only():
    p = parameters()
    assert parameters(time={"end": 20}).conflict(p) is None
    assert parameters(time={"end": 5}).conflict(p)[0] == "time.end"
    assert parameters(constants={"a": 0.2}).conflict(p)[:3] == ("constants.a", 0.2, 0.1)


def test_units_are_those_of_the_plasma():
    units = Units("SI", 1e24)
    omega = math.sqrt(1e24 * ELEMENTARY_CHARGE**2 / (VACUUM_PERMITTIVITY * ELECTRON_MASS))
    assert units.omega_p == pytest.approx(5.6414602e13, rel=1e-6) and units.omega_p == omega  # 56.4 rad/s sqrt(n m³)
    assert units.of("length") * units.in_si("length") == pytest.approx(1)
    assert units.in_si("length") == SPEED_OF_LIGHT / omega
    assert units.in_si("E") == pytest.approx(9.6160e10, rel=1e-4)  # 96 V/m sqrt(n cm³): the cold wave-breaking field
    assert units.in_si("B") * SPEED_OF_LIGHT == pytest.approx(units.in_si("E"))
    assert units.in_si("temperature") == pytest.approx(510998.95, rel=1e-8)
    assert Units().of("length") == 1 == Units().in_si("time") and "ω_p = 5.64146e+13 1/s" in units.describe()


def test_an_input_in_si_is_the_same_plasma():
    """All of it in metres, seconds, eV and 1/m³, formulas too."""
    units = Units("SI", 1e24)
    c_over_omega = units.in_si("length")
    p = parameters(units={"system": "SI", "density": 1e24}, grid={"cells": [64], "length": [16 * c_over_omega]},
                   time={"end": 10 * units.in_si("time")}, constants={"a": 0.1, "L": 16 * c_over_omega},
                   species=electrons(density="1e24*(1 + a*cos(2*pi*x/L))",
                                     temperature=0.01 * units.in_si("temperature")),
                   fields={"e": [f"{units.in_si('E')}*x/L", 0, 0], "b": [0, 0, units.in_si("B")]})
    here, there = Setup(p), Setup(parameters(fields={"e": ["x/L", 0, 0], "b": [0, 0, 1]}))
    x = np.linspace(0, 16, 33)[:, None]
    assert here.steps == there.steps
    assert here.dt == pytest.approx(there.dt)
    assert here.lengths == pytest.approx(there.lengths)
    assert here.density["electrons"].at(x) == pytest.approx(there.density["electrons"].at(x))
    assert here.temperature["electrons"][1].constant == pytest.approx(0.01)
    assert list(here.initial_fields) == list(there.initial_fields) == ["ex", "bz"]
    for name, profile in here.initial_fields.items():
        assert profile.at(x) == pytest.approx(there.initial_fields[name].at(x))


def test_patches_fill_the_box():
    setup = Setup(parameters(grid={"cells": [20, 13], "length": [10, 13], "patches": [3, 2]}))
    covered = np.zeros((20, 13), int)
    for (x, y), (n, m) in setup.patch_boxes():
        covered[x : x + n, y : y + m] += 1
    assert (covered == 1).all() and [box[0] for box in setup.patch_boxes()][:4] == [(0, 0), (6, 0), (13, 0), (0, 6)]


def test_loads_are_known_before_the_first_particle():
    setup = Setup(parameters(species=electrons(density="2*(x > 12)"), grid={"patches": [4]}))
    found = loads.expected_loads(setup)
    assert found.particles["electrons"].tolist() == [0, 0, 0, 160] and found.cells.tolist() == [16] * 4
    density, place, temperature = found.densest["electrons"]
    assert (density, temperature) == (2.0, 0.01) and place[0] > 12
    constant = loads.expected_loads(Setup(parameters(species=electrons(density=0.5))))
    assert constant.particles["electrons"].tolist() == [640]


@pytest.mark.parametrize("changed, message", [
    ({"density": "cos(x)"}, r"species.electrons.density: cos\(x\) is below 0 at x = "),
    ({"density": "1/(x - 0.125)"}, r"species.electrons.density: 1/\(x - 0.125\) is inf at x = 0.125"),
    ({"density": -1}, r"species.electrons.density: -1.0 is below 0"),
    ({"temperature": [0, "0.1 - 0.1*x", 0]}, r"species.electrons.temperature: 0.1 - 0.1\*x is below 0 at x = "),
    ({"drift": [0, 0, "log(x - 8)"]}, r"species.electrons.drift: log\(x - 8\) is nan at x = 0.125"),
])
def test_profiles_are_finite_and_densities_not_below_0(changed, message):
    with pytest.raises(InputError, match=message):
        loads.expected_loads(Setup(parameters(species=electrons(**changed))))
    if "density" not in changed:  # where there are no particles nobody asks
        loads.expected_loads(Setup(parameters(species=electrons(density=0, **changed))))


def test_an_input_that_does_not_fit_in_memory_is_refused():
    setup = Setup(parameters(species=electrons(per_cell=10**6)))
    with pytest.raises(InputError, match=r"needs about 5.63 GB of memory on each of 1 ranks for 6.4e\+07 particles"):
        loads.check_memory(setup, loads.expected_loads(setup), 1, 2e9)
    loads.check_memory(setup, loads.expected_loads(setup), 1, 8e9)


def warnings_of(**changed):
    setup = Setup(parameters(**changed))
    return input_warnings(setup, loads.expected_loads(setup))


def test_warnings_have_the_numbers():
    assert warnings_of(species=electrons(temperature=0.01)) == []
    (cold,) = warnings_of(species=electrons(temperature=1e-4))
    assert "the Debye length 0.00953 c/ω_p at x = 0.125" in cold or "Debye length 0.0095" in cold, cold
    (dense,) = warnings_of(species=electrons(density=40, temperature=1.0))
    assert "ω_p Δt = 1.5" in dense


SQUARE = {"cells": [64, 64], "length": [12.8, 12.8]}
RINGS = {**SQUARE, "geometry": "cylinder", "modes": 2}
PAIRS = {"e": {"charge": -1, "mass": 1, "density": 1, "per_cell": 4, "temperature": 0.01, "drift": [10, 0, 0]}}


@pytest.mark.parametrize("unsound, sound, words", [
    ({"fields": {"b": [0, 0, 200]}}, {"fields": {"b": [0, 0, 2]}}, "ω_c Δt = 47.5 where B is strongest"),
    ({"fields": {"b": ["30*cos(x)", 0, 0]}}, {"fields": {"b": ["3*cos(x)", 0, 0]}}, "species electrons: ω_c Δt = 7.12"),
    ({"laser": {"beam": {"at": 4, "wavelength": 1.25, "a0": 0.1, "envelope": 1}}, "boundaries": {"x": "absorbing"}},
     {"laser": {"beam": {"at": 4, "wavelength": 4, "a0": 0.1, "envelope": 1}}, "boundaries": {"x": "absorbing"}},
     "laser beam: 5 cells to a wavelength; on the mesh its light has 0.993 of its speed"),
    ({"laser": {"beam": {"at": 4, "wavelength": 4, "a0": 0.1, "envelope": 1}}, "time": {"end": 20}},
     {"laser": {"beam": {"at": 4, "wavelength": 4, "a0": 0.1, "envelope": 1}}},
     "laser beam: the box is periodic in x, so that the light of both sides of its antenna returns"),
    ({"grid": SQUARE, "time": {"end": 60}, "species": PAIRS}, {"grid": SQUARE, "species": PAIRS},
     "species e: its drift of 0.995 c is faster than the slowest light on the mesh, 0.698 c"),
    ({"species": electrons(temperature=0), "time": {"end": 200}}, {"species": electrons(temperature=0)},
     "species electrons is cold and at rest: the mesh heats it in some 100 /ω_p until its Debye length is about a cell "
     "over π, which is a temperature of 0.007 m_e c²"),
    ({"grid": RINGS, "species": electrons(density=1, per_cell=4)},
     {"grid": RINGS, "species": electrons(density=1, per_cell=16)},
     "species electrons: with modes a cell of a dense plasma needs some 16 particles, so that each place has several"),
    ({"time": {"end": 2e8}}, {}, "the records of 842105264 steps grow to 202 GB on each rank"),
])
def test_unsound_inputs_have_one_warning_and_sound_ones_none(unsound, sound, words):
    found = warnings_of(**unsound)
    assert len(found) == 1 and words in found[0] and warnings_of(**sound) == [], found


@pytest.mark.parametrize("key, meant", [
    ("species.electrons.ppc", "species.electrons.per_cell"),
    ("species.electrons.temp", "species.electrons.temperature"),
    ("laser.l.intensity", "laser.l.a0"), ("laser.l.w0", "laser.l.waist"), ("time.dt", "time.step"),
    ("grid.size", "grid.length"),
])
def test_names_of_other_programs_are_understood(key, meant):
    section, _, name = key.rpartition(".")
    family, _, member = section.partition(".")
    with pytest.raises(InputError, match=rf"unknown key {key}; did you mean {meant}\?$"):
        parameters(**{family: {member: {name: 1}} if member else {name: 1}})


def test_the_work_of_an_empty_box_has_no_balance():
    text = describe(Setup(parameters(species={"electrons": {"charge": -1, "mass": 1}}, emission={"plate": PLATE},
                                     boundaries={"x": "conducting"})))
    (work,) = [line for line in text.splitlines() if line.startswith("work:")]
    assert "for the fields, and the particles of plates" in work and "ranks" not in work


def test_a_plate_that_leaves_the_box_is_named():
    plate = {**PLATE, "at": [0, 3.9], "normal": [1, 0], "half_width": 1}
    p = parameters(grid={"cells": [64, 16], "length": [16, 4]}, emission={"plate": plate})
    with pytest.raises(InputError, match=r"^emission\.plate\.half_width = 1 is not allowed: the plate would reach from "
                                         r"2\.9 to 4\.9 in y, and the box is from 0 to 4$"):
        Pic(p).describe()


def test_a_check_of_any_number_of_steps_is_fast(tmp_path):
    """10⁹ steps with formulas of t: memory below 100 MB more."""
    setup = Setup(parameters(time={"end": 2.3e8}, boundaries={"x": ["absorbing", "conducting"]},
                             emission={"plate": {**PLATE, "at": [16], "normal": [-1], "flux": "0.1 + 0.1*sin(t)"}},
                             laser={"beam": {**LASER, "envelope": "1 + 0*t"}}))
    assert setup.steps > 9e8
    tracemalloc.start()
    describe(setup), plan_of(setup, whole=False).check()
    assert tracemalloc.get_traced_memory()[1] < 1e8
    tracemalloc.stop()
    with pytest.raises(InputError, match="emission.plate.flux: 1e8 - t is below 0"):
        describe(Setup(parameters(time={"end": 2.3e8}, emission={"plate": {**PLATE, "flux": "1e8 - t"}},
                                  boundaries={"x": "conducting"})))


def test_envelopes_and_fluxes_are_the_same_in_pieces(monkeypatch):
    def found(text):
        setup = Setup(parameters(boundaries={"x": "absorbing"}, laser={"beam": {**LASER, "envelope": text}},
                                 emission={"plate": {**PLATE, "flux": "0.1*t"}}))
        return setup.envelope("beam").tolist(), setup.flux("plate").tolist()

    texts = ("gauss(t - 5, 2)", "if(t > 3 and t < 4, 1, 0) + if(t > 8, 1, 0)", "if(t < 2, 1, 0)", "0*t", 1, 0)
    whole = [found(text) for text in texts]
    monkeypatch.setattr("plaq.pic.inputs.setup.PIECE", 7)
    assert [found(text) for text in texts] == whole and len(whole[2][0]) < 10 and not whole[3][0] and not whole[5][0]


def test_a_large_box_is_checked_at_a_sample(monkeypatch):
    """Loads of many patches, from few cells of each, are about those of all cells."""
    changed = {"grid": {"cells": [96, 64], "length": [24, 16], "patches": [16, 8]},
               "species": electrons(density="if(x < 9 and y > 4, 1 + a*x, 0)")}
    exact = loads.expected_loads(Setup(parameters(**changed)))
    monkeypatch.setattr("plaq.pic.inputs.setup.FEW_PATCHES", 1)
    same = loads.expected_loads(Setup(parameters(**changed)))
    assert np.array_equal(same.particles["electrons"], exact.particles["electrons"])
    assert np.array_equal(same.cells, exact.cells) and same.densest["electrons"][0] == exact.densest["electrons"][0]
    monkeypatch.setattr("plaq.pic.inputs.setup.MAX_SAMPLES", 1024)
    some = loads.expected_loads(Setup(parameters(**changed)))
    assert some.all_particles.sum() == pytest.approx(exact.all_particles.sum(), rel=0.1)
    assert np.corrcoef(some.all_particles, exact.all_particles)[0, 1] > 0.97


@pytest.mark.parametrize("changed, message", [
    ({"emission": {"": PLATE}}, "here: [emission.]: a name has letters, digits and _, a letter first"),
    ({"grid": {"length": [1e308]}}, "grid.length = 1e+308 is not allowed: its amount is from 1e-30 to 1e+30"),
    ({"grid": {"length": [5e-324]}}, "grid.length = 5e-324 is not allowed: its amount is from"),
    ({"species": electrons(mass=1e-300)}, "species.electrons.mass = 1e-300 is not allowed: its amount is from"),
    ({"emission": {"plate": {**PLATE, "normal": [1e-300]}}}, "emission.plate.normal = 1e-300 is not allowed: its"),
    ({"grid": {"cells": [10**6] * 3, "length": [1, 1, 1]}},
     "grid.patches = [125000, 125000, 125000] is not allowed: at most 1000000 in all"),
])
def test_numbers_are_such_that_their_quotients_are_numbers(changed, message):
    with pytest.raises(InputError) as error:
        parameters(**changed)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_values_of_formulas_and_plates_are_bounded():
    with pytest.raises(InputError, match=r"drift: 1e200\*x is 1.25e\+199, more than 1e\+30 at x = 0.125"):
        describe(Setup(parameters(species=electrons(drift=["1e200*x", 0, 0]))))
    with pytest.raises(InputError, match="emission.plate.per_cell = 10: the plate would emit 9.5e.22 macro"):
        Pic(parameters(emission={"plate": {**PLATE, "flux": 1e22}}, boundaries={"x": "conducting"})).describe()


@given(st.sampled_from(["cells", "length", "patches"]),
       st.one_of(st.integers(-5, 200), st.text(max_size=5), st.lists(st.integers(-2, 90), max_size=4)))
def test_anything_as_a_grid_is_an_input_or_one_line(name, value):
    try:
        parameters(grid={name: value})
    except InputError as error:
        assert "\n" not in str(error)


SIDES = {"x": "conducting"}
LASER = {"at": 4, "wavelength": 2, "a0": 0.1, "envelope": "gauss(t - 5, 2)"}
TABLE = "EXCITATION\nX\n5\nCOLUMNS: Energy (eV) | Cross section (m2)\n-----\n5 0\n50 1e-20\n-----\n"
WINDOW = {"window": {"speed": 1}, "boundaries": {"x": "absorbing"}}


@pytest.mark.parametrize("changed, message", [
    ({"conductor": {"rod": {"where": "x > a", "potential": 1}}},
     "conductor.rod.potential = 1.0 is not allowed: conductors have potentials"),
    ({"conductor": {"rod": {"where": "x >"}}}, "here: conductor.rod.where: x >▸: a number, a name or ( is missing"),
    ({"conductor": {"rod": {"where": "x"}}, "fields": {"solver": "electrostatic"}},
     "conductor.rod: in an electrostatic run a side of the"),
    ({"laser": {"beam": {**LASER, "normal": "y"}}},
     'laser.beam.normal = "y" is not allowed: grid.cells has 1 directions'),
    ({"laser": {"beam": {**LASER, "at": 16}}},
     "laser.beam.at = 16.0 is not allowed: from 0.25 to 15.75, a cell from the sides"),
    ({"laser": {"beam": {**LASER, "wavelength": 0.5}}},
     "laser.beam.wavelength = 0.5 is not allowed: at least 4 cells, 1"),
    ({"laser": {"beam": {**LASER, "waist": 3}}},
     "laser.beam.waist = 3.0 is not allowed: in one dimension there are plane waves"),
    ({"laser": {"beam": {**LASER, "centre": [1, 2]}}},
     "laser.beam.centre = [1.0, 2.0] is not allowed: grid.cells has 1 directions"),
    ({"laser": {"beam": {**LASER, "envelope": "x"}}}, "laser.beam.envelope: ▸x: unknown name x"),
    ({"laser": {"beam": {**LASER, "enveloppe": 1}}},
     "unknown key laser.beam.enveloppe; did you mean laser.beam.envelope?"),
    ({"laser": {"beam": LASER}, "fields": {"solver": "electrostatic"}},
     "laser.beam: an electrostatic solver has no light waves"),
    ({"window": {"speed": 1}}, "a moving window needs sides of x that are not periodic"),
    ({"window": {"speed": 2}}, "window.speed = 2 is not allowed"),
    ({**WINDOW, "conductor": {"rod": {"where": "x > 3"}}},
     "window.speed = 1.0 is not allowed: a window has no conductors in the box"),
    ({**WINDOW, "species": electrons(placed="quiet")},
     'species.electrons.placed = "quiet" is not allowed: with a window, random or even'),
    ({"collision": {"c": {"between": ["electrons"]}}}, "collision.c.between"),
    ({"collision": {"c": {"between": ["electrons", "ion"]}}}, "collision.c.between: unknown species ion"),
    ({"collision": {"c": {"between": ["electrons", "electrons"]}}},
     "units.density is missing: collision.c depends on the number of real particles"),
    ({"fields": {"stencil": "cowan"}, "time": {"step": 0.25}}, "the Courant limit min Δ of this grid is 0.25"),
])
def test_mistakes_of_further_sections_have_their_message(changed, message):
    with pytest.raises(InputError) as error:
        parameters(**changed)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_lasers_conductors_and_gas_in_si_are_those_of_normalised_units():
    """One input in both systems; n_0 = 1e24 1/m³."""
    units = Units("SI", 1e24)
    length, area, energy = units.in_si("length"), units.in_si("cross section"), units.in_si("temperature")
    assert area * 1e24 * length == pytest.approx(1)
    both = []
    for system, scale, e in (("normalised", 1.0, 1.0), ("SI", length, energy)):
        t = scale / SPEED_OF_LIGHT if system == "SI" else 1.0
        both.append(Setup(Parameters(
            "here", grid={"cells": [64, 32], "length": [16 * scale, 8 * scale]}, time={"end": 10 * t},
            units={"system": system, "density": 1e24},
            boundaries={"x": "absorbing"}, species={"electrons": {"charge": -1, "mass": 1},
                                                    "ions": {"charge": 1, "mass": 1836}},
            laser={"beam": {"at": 1 * scale, "wavelength": 2 * scale, "a0": 0.5, "waist": 3 * scale,
                            "envelope": f"gauss(t - {5 * t}, {2 * t})"}},
            conductor={"rod": {"where": f"(x - {8 * scale})^2 + (y - {4 * scale})^2 < {2 * scale**2}"}},
            gas={"x": {"density": 0.01 if system == "normalised" else 1e22, "mass": 1836, "temperature": 1e-8 * e}},
            scattering={"s": {"species": "electrons", "gas": "x", "cross_sections": TABLE}})))
    plain, si = both
    assert si.envelope("beam") == pytest.approx(plain.envelope("beam"))
    assert si.conductor_nodes("rod").tolist() == plain.conductor_nodes("rod").tolist()
    assert len(plain.conductor_nodes("rod")) > 20
    for key, right in (("density", 0.01), ("temperature", 1e-8)):
        assert [gas.gas_profiles(setup, "x")[f"gas.x.{key}"].constant for setup in both] == pytest.approx([right] * 2)
    nodes = plain.conductor_nodes("rod")
    x, y = nodes % 65 * 0.25, nodes // 65 * 0.25
    assert np.all((x - 8) ** 2 + (y - 4) ** 2 < 2)
    assert units.coupling() == pytest.approx(2.8179403e-15 / length)
    assert units.density_scale() == pytest.approx(1e8 * length)


def test_check_counts_the_particles_of_plates():
    setup = Setup(parameters(emission={"plate": {**PLATE, "flux": "0.1*t"}, "other": PLATE}))
    assert loads.emitted_particles(setup, "other") == pytest.approx(0.1 * setup.steps * setup.dt * 10 / 0.25)
    assert loads.emitted_particles(setup, "plate") == pytest.approx(0.1 * 50 * 10 / 0.25, rel=0.05)
    assert loads.emitted_bytes(setup) > 0 and loads.emitted_bytes(Setup(parameters())) == 0


def test_check_counts_patches_once_in_one_dimension_and_warns_of_cold_species():
    one = describe(Setup(parameters(grid={"patches": [4]})))
    assert "patches:              4\n" in one
    assert "2 x 2 = 4\n" in describe(Setup(parameters(grid={"cells": [64, 40], "length": [16, 10], "patches": [2, 2]})))
    assert "species electrons is cold and at rest" in describe(
        Setup(parameters(species=electrons(temperature=0), time={"end": 200})))
    laser = describe(Setup(parameters(laser={"beam": LASER}, **WINDOW)))
    assert "8 cells to a wavelength, 0.3142 m_e c ω_p/e at the peak" in laser
    assert "moves with 1 c from t = 0 on" in laser
    plate = describe(Setup(parameters(emission={"plate": PLATE})))
    assert "of electrons, 40.85 macro-particles until the end" in plate and "more for particles from plates" in plate


def test_check_counts_nodes_of_conductors():
    def box(where, **fields):
        return Setup(parameters(grid={"cells": [160, 160], "length": [40, 40]}, boundaries={"x": "conducting"},
                                conductor={"rod": {"where": where}}, fields=fields))
    rod = "(x - 20)^2 + (y - 20)^2 < 1.01"
    light, plain = describe(box(rod)), describe(box(rod, solver="electrostatic"))
    assert "conductor rod:        49 nodes\n" in light and "surface" not in light
    assert "surface:              24 nodes of conductors and dielectrics: 4.61 kB on each rank" in plain
    with pytest.raises(InputError, match="have 12800 nodes on their surface; at most 4096 are allowed"):
        describe(box("cos(4*pi*x) > 0", solver="electrostatic"))  # every second of 160 lines, the sides aside

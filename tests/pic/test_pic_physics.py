"""Short runs against theory: waves, instabilities, damping, a particle that drifts. Long ones are in benchmarks/pic."""

import math

import numpy as np
import pytest
from scipy.optimize import curve_fit

from plaq import pic
from plaq.pic import quiet_start
from plaq.pic.diagnostics import spectra

ELECTRONS = {"charge": -1, "mass": 1, "placed": "even"}


def run(end, length, cells, species, fields=None, probe=None, step="auto", **more):
    """In one dimension, without pictures; the results."""
    return pic.run(pic.Parameters(
        grid={"cells": [cells], "length": [length]}, time={"end": end, "step": step}, fields=fields or {},
        species=species, probe=probe or {}, output={"pictures": 0, "gauss": True}, run={"workers": 1}, **more))


def line(field):
    return {"line": {"field": field, "at": [0], "along": "x"}}


def mode(results, number=1):
    """The amplitude of a wave along the line, in time [sample]."""
    values = results["line"].values
    return np.fft.rfft(values, axis=1)[:, number] * 2 / values.shape[1]


def frequency(times, wave):
    """By the zeros of a standing wave, with straight lines between samples."""
    at = np.flatnonzero(wave[1:] * wave[:-1] < 0)
    zeros = times[at] - wave[at] * (times[at + 1] - times[at]) / (wave[at + 1] - wave[at])
    return math.pi * (len(zeros) - 1) / (zeros[-1] - zeros[0])


def test_a_cold_plasma_oscillates_with_its_frequency():
    """Within 0.1 %; the step and linear shapes of 64 cells a wave cost half of that."""
    found = run(60, 6.4, 64, {"e": {**ELECTRONS, "density": "1 + 0.01*cos(2*pi*x/6.4)", "per_cell": 8}},
                {"of_charges": True}, line("ex"))
    assert frequency(found["line"].axis("time"), mode(found).imag) == pytest.approx(1, abs=1e-3)
    energy = found.field_energy + found.kinetic_energy
    assert np.abs(energy[:-1] / energy[0] - 1).max() < 1e-2 and np.nanmax(found["gauss"].values) < 1e-13


@pytest.mark.parametrize("k", [0.5, 2.0])
def test_light_in_a_plasma_has_its_frequency(k):
    """ω² = 1 + k² within 0.2 %, E along y; nothing electrostatic comes of it."""
    length = 2 * math.pi / k
    found = run(30, length, 64, {"e": {**ELECTRONS, "density": 1, "per_cell": 8}},
                {"e": [0, f"0.001*cos({k}*x)", 0]}, line("ey"))
    assert frequency(found["line"].axis("time"), mode(found).real) == pytest.approx(pic.theory.light(k), rel=2e-3)
    assert found["electric_x"].values.max() < 1e-5 * found["electric_y"].values.max()


def test_a_langmuir_wave_has_landaus_damping():
    """k λ_D = 0.5, v_th = 0.1: rate of the maxima of |E_k| within 10 %, frequency within 0.5 %; from a quiet start.
    Without relativity the rate would be 19 % larger."""
    k_debye, thermal = 0.5, 0.1
    length = 2 * math.pi * thermal / k_debye
    found = run(15, length, 32, {"e": {**ELECTRONS, "density": f"1 + 0.01*cos(2*pi*x/{length})", "per_cell": 2000,
                                       "placed": "quiet",
                                       "temperature": [thermal**2, 0, 0]}},
                {"of_charges": True}, line("ex"), solver={"order": 2})
    times, wave, theory = found["line"].axis("time"), mode(found).imag, pic.theory.langmuir(k_debye, thermal)
    rate, tops = decay(times, np.abs(wave))
    assert len(tops) >= 5 and rate == pytest.approx(theory.imag, rel=0.1)
    assert frequency(times, wave) == pytest.approx(theory.real, rel=0.005)


def test_a_weak_langmuir_wave_of_beams_has_landaus_damping():
    """k λ_D = 0.3 within 2 %, where one electron in 20 000 is as fast as the wave: 61 beams stand for all velocities,
    and are in step again only after t = 105. So weak a wave traps nobody."""
    k_debye, thermal, beam = 0.3, 0.01, np.linspace(-6, 6, 61)
    length, share = 2 * math.pi * thermal / k_debye, np.exp(-beam * beam / 2)
    found = run(40, length, 64, {f"b{i}": {
        **ELECTRONS, "density": f"{share[i] / share.sum():.17g}*(1 + 0.0001*cos(2*pi*x/{length}))", "per_cell": 2,
        "drift": [thermal * float(u), 0, 0]} for i, u in enumerate(beam)}, {"solver": "electrostatic"}, line("ex"),
        solver={"order": 2}, step=0.05)
    times, wave, theory = found["line"].axis("time"), mode(found).imag, pic.theory.langmuir(k_debye, thermal)
    late = times > 10
    model = lambda t, a, b, omega, rate: np.exp(rate * t) * (a * np.cos(omega * t) + b * np.sin(omega * t))
    omega, rate = curve_fit(model, times[late], wave[late], [wave.max(), 0, theory.real, theory.imag])[0][2:]
    assert rate == pytest.approx(theory.imag, rel=0.02) and omega == pytest.approx(theory.real, rel=1e-3)


def decay(times, size):
    """(rate of the maxima of |wave|, when they are): the first one, at the beginning, is left out."""
    tops = np.flatnonzero((size[1:-1] > size[:-2]) & (size[1:-1] > size[2:])) + 1
    return np.polyfit(times[tops], np.log(size[tops]), 1)[0], times[tops]


def test_two_streams_grow_at_the_rate_of_theory():
    """Within 2 % of the fastest rate."""
    u, length = 0.2, 2.07
    beam = {**ELECTRONS, "per_cell": 32}
    found = run(20, length, 64, {
        "right": {**beam, "density": f"0.5*(1 + 1e-4*cos(2*pi*x/{length}))", "drift": [u, 0, 0]},
        "left": {**beam, "density": 0.5, "drift": [-u, 0, 0]}}, {"of_charges": True}, line("ex"))
    rate = spectra.growth_rate(found["line"].axis("time"), np.abs(mode(found)) ** 2, 10, 18)
    assert rate == pytest.approx(pic.theory.two_stream(2 * math.pi / length, u).imag, rel=0.02)


def test_filaments_grow_at_the_rate_of_theory():
    """Beams along ±y, waves across them, from a seed of B_z: within 2 %."""
    u, k = 0.5, 2.0
    length = 2 * math.pi / k
    beam = {**ELECTRONS, "density": 0.5, "per_cell": 16}
    found = run(24, length, 32, {"up": {**beam, "drift": [0, u, 0]}, "down": {**beam, "drift": [0, -u, 0]}},
                {"b": [0, 0, f"1e-6*cos({k}*x)"]}, line("bz"))
    rate = spectra.growth_rate(found["line"].axis("time"), np.abs(mode(found)) ** 2, 12, 24)
    assert rate == pytest.approx(pic.theory.filamentation(k, u), rel=0.02)


def test_an_anisotropic_plasma_grows_a_magnetic_field():
    """Weibel's rate where it is 16 times as hot across k = 1.5 as along it, within 5 %, from a quiet start."""
    k, cold, hot = 1.5, 0.0025 / 16, 0.0025
    length = 2 * math.pi / k
    found = run(160, length, 32, {"e": {**ELECTRONS, "density": 1, "per_cell": 500, "placed": "quiet",
                                        "temperature": [cold, hot, 0]}},
                {"b": [0, 0, f"1e-5*cos({k}*x)"]}, line("bz"), solver={"order": 2})
    rate = spectra.growth_rate(found["line"].axis("time"), np.abs(mode(found)) ** 2, 100, 160)
    assert rate == pytest.approx(pic.theory.weibel(k, cold, hot), rel=0.05)


@pytest.mark.parametrize("pusher", ["boris", "vay", "higuera_cary"])
def test_a_particle_drifts_across_fields(pusher):
    """From rest in E_y = 0.3, B_z = 1 (q < 0): seen with the drift v = E/B it turns on a circle, so that u_x = Γ² v (1
    - cos φ), whose mean in time is Γ² v (1 + v²/2). Of particles too light to change the fields, over 100 turns; within
    0.5 %."""
    v = 0.3
    gamma = 1 / math.sqrt(1 - v * v)
    turn = 2 * math.pi * gamma**3  # of time; one of proper time is 2 π / (B sqrt(1 - v²))
    found = run(100 * turn, 12, 60, {"e": {**ELECTRONS, "density": 1e-12, "per_cell": 1, "pusher": pusher}},
                {"e": [0, v, 0], "b": [0, 0, 1]})
    u, energy = (found[f"e.{name}"].values / found["e.weight"].values for name in ("px", "kinetic"))
    assert u.mean() == pytest.approx(gamma**2 * v * (1 + v * v / 2), rel=5e-3)
    assert u.max() == pytest.approx(2 * gamma**2 * v, rel=5e-3) and abs(u.min()) < 0.01
    assert energy.max() == pytest.approx(2 * gamma**2 * v * v, rel=1e-2)


@pytest.mark.parametrize("e, sides", [([0.01, -0.02, 0.03], {}), (["0.01 + 0*x", "-0.02", 0.03], {"x": "conducting"}),
                                      ([0, 0, 0], {})])
def test_an_electron_feels_a_field_from_outside(e, sides):
    """u = -E t of electrons too few to make a field, in an electrostatic run; files and probes do not have it."""
    found = pic.run(pic.Parameters(
        grid={"cells": [16], "length": [1.6]}, time={"end": 1, "step": 0.02}, external={"e": e},
        fields={"solver": "electrostatic"}, boundaries=sides, output={"pictures": 0}, run={"workers": 1},
        species={"e": {**ELECTRONS, "density": 1e-10, "per_cell": 4}},
        probe={"place": {"field": "ey", "at": [0.8]}}))
    for d, part in zip("xyz", e):
        u = found[f"e.p{d}"].values / found["e.weight"].values
        assert u == pytest.approx(-float(str(part).split()[0]) * (found.time - 0.01), abs=1e-8)
    assert found["place"].values == pytest.approx(0, abs=1e-8)


def test_an_external_field_may_depend_on_the_point():
    """A well E = 0.04 (x - 8) by a formula: an electron that is at rest beside its middle swings with √0.04."""
    found = pic.run(pic.Parameters(
        grid={"cells": [64], "length": [16]}, time={"end": 50, "step": 0.1}, external={"e": ["k*(x - 8)", 0, 0]},
        fields={"solver": "electrostatic"}, constants={"k": 0.04},
        boundaries={"x": "conducting"}, output={"pictures": 0}, run={"workers": 1},
        species={"e": {**ELECTRONS, "density": "if(abs(x - 8.125) < 0.1, 1e-9, 0)", "per_cell": 1}}))
    u = found["e.px"].values / found["e.weight"].values
    assert frequency(found.time, u) == pytest.approx(0.2, rel=2e-3)
    assert np.abs(u).max() == pytest.approx(0.125 * 0.2, rel=0.01)


def test_electrostatic_electrons_may_cross_cells():
    """A warm plasma with cells of a fifth of the Debye length and the step left open: the fastest go through two cells
    in a step. Its energy stays, and so does every electron."""
    found = pic.run(pic.Parameters(
        grid={"cells": [64], "length": [0.2513], "patches": [8]}, time={"end": 20}, fields={"solver": "electrostatic"},
        species={"e": {"charge": -1, "mass": 1, "density": 1, "per_cell": 100, "temperature": 0.0004}},
        output={"pictures": 0}, run={"workers": 1}))
    energy = found.field_energy + found.kinetic_energy
    assert np.all(found["e.number"].values == 6400) and np.nanmax(found["gauss"].values) < 1e-12
    assert np.abs(energy[1:-1] / energy[1] - 1).max() < 0.02


def plate(**emission):
    """A gap of 10 with 100 cells between conductors, electrostatic, for 360 /ω_p, three times what the way across
    takes."""
    found = pic.run(pic.Parameters(
        grid={"cells": [100], "length": [10]}, time={"end": 360, "step": 0.25}, fields={"solver": "electrostatic"},
        boundaries={"x": "conducting", "potential_x": [0, 0.05]}, species={"e": {"charge": -1, "mass": 1}},
        emission={"plate": {"species": "e", "at": [0], "normal": [1], **emission}}, output={"pictures": 0},
        run={"workers": 1}))
    late = found.time > 240
    return found, found["e.left_weight_xhigh"].values[late].mean() / 0.25


def test_a_plate_emits_its_flux_and_all_of_it_arrives():
    """Weaker than what space charge allows; in the mean of the late half within 1 %. A flux that grows with time
    too."""
    found, arrived = plate(flux="1e-6", per_cell=1e6, drift=0.01)
    assert found["e.emitted_weight"].values.sum() == pytest.approx(1e-6 * 360,
                                                                   rel=1e-3) and arrived == pytest.approx(1e-6,
                                                                                                          rel=0.01)
    assert found["e.left_xlow"].values.sum() == 0 and np.nanmax(found["gauss"].values) < 1e-13
    rising = plate(flux="1e-8*t", per_cell=1e6, drift=0.01)[0]["e.emitted_weight"].values
    assert np.cumsum(rising)[[719, 1439]] == pytest.approx([1e-8 * 180**2 / 2, 1e-8 * 360**2 / 2], rel=0.01)


def test_space_charge_limits_a_plate_to_child_and_langmuir():
    """Within 5 % with 100 cells, of a flux without limit; the error falls with the cells' size."""
    found, arrived = plate(space_charge_limited=True, per_cell=2e5)
    assert arrived == pytest.approx(pic.theory.child_langmuir(0.05, 10), rel=0.05)
    assert np.nanmax(found["gauss"].values) < 1e-13


def test_quiet_momenta_are_normal_and_even_in_every_part():
    i = np.arange(4096)
    numbers = quiet_start.normal(i)
    assert np.abs(numbers.mean(axis=0)).max() < 5e-3 and np.abs(numbers.std(axis=0) - 1).max() < 5e-3
    assert np.abs(np.corrcoef(numbers.T) - np.eye(3)).max() < 0.01
    assert np.abs(numbers[1024:2048, 0].mean()) < 5e-3  # a quarter of the box
    assert quiet_start.radical_inverse(np.arange(4), 2) == pytest.approx([0.5, 0.25, 0.75, 0.125])
    x = np.stack(np.meshgrid([0.1, 0.6, 1.1], [0.2, 0.9], indexing="ij"), axis=-1).reshape(-1, 2)
    assert quiet_start.particle_numbers(x, 1, (3, 2), (0.5, 0.5)).tolist() == list(range(6))

"""Roots of dispersion relations against published figures and limits; spectra of signals that are known."""

import math

import numpy as np
import pytest

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.pic.diagnostics import spectra
from plaq.pic.results import theory


@pytest.mark.parametrize("k_debye, omega, gamma", [  # Canosa, J. Comput. Phys. 13, 158 (1973), table
    (0.3, 1.1598, -0.0126), (0.4, 1.2850, -0.0661), (0.5, 1.4156, -0.1533), (1.0, 2.0459, -0.8513)])
def test_landau_damping_is_that_of_the_tables(k_debye, omega, gamma):
    found = theory.langmuir(k_debye)
    assert found.real == pytest.approx(omega, abs=1.1e-4) and found.imag == pytest.approx(gamma, abs=1.1e-4)


def test_fast_electrons_are_heavier_so_that_fewer_are_in_resonance():
    slow, fast = theory.langmuir(0.5), theory.langmuir(0.5, 0.1)
    assert theory.langmuir(0.5, 0.01).imag == pytest.approx(slow.imag,
                                                            rel=3e-3) and fast.imag == pytest.approx(-0.12869, abs=1e-5)
    assert 1.39 < fast.real < slow.real


def test_two_streams_grow_fastest_where_it_is_known():
    best = max((theory.two_stream(k, 0.001).imag, k) for k in np.linspace(10, 990, 2001))
    assert best[0] == pytest.approx(1 / math.sqrt(8),
                                    rel=1e-5) and best[1] == pytest.approx(math.sqrt(3 / 8) / 0.001, rel=1e-2)
    assert theory.two_stream(1100, 0.001).imag == 0
    omega, k, v = theory.two_stream(2.0, 0.5), 2.0, 0.5 / math.sqrt(1.25)
    assert 0.5 / (omega - k * v) ** 2 + 0.5 / (omega + k * v) ** 2 == pytest.approx(1.25**1.5)


def test_filaments_grow_like_beta_over_root_gamma_at_short_waves():
    assert theory.filamentation(1e3, 0.5) == pytest.approx(0.5 / 1.25**0.5 / 1.25**0.25, rel=1e-4)
    assert theory.filamentation(1e-3, 0.5) < 1e-3


def test_weibel_stops_where_it_should_and_is_cold_at_last():
    assert theory.weibel(3.0, 0.01, 0.1) == pytest.approx(0, abs=1e-9) and theory.weibel(2.9, 0.01, 0.1) > 1e-4
    k, hot = 1.0, 0.04  # without temperature along k the relation is γ² + k² + 1 = hot k²/γ²
    cold_limit = math.sqrt((math.sqrt((k * k + 1) ** 2 + 4 * hot * k * k) - k * k - 1) / 2)
    assert theory.weibel(k, 1e-9, hot) == pytest.approx(cold_limit, rel=1e-3)


def test_child_langmuir_in_si():
    """2.334 µA V^(-3/2) times V^(3/2)/d²: 1 kV over 1 cm are 738 A/m²."""
    from plaq.pic.inputs.units import ELECTRON_REST_ENERGY, ELEMENTARY_CHARGE, SPEED_OF_LIGHT, Units

    units = Units("SI", 1e18)
    density = theory.child_langmuir(1000 / ELECTRON_REST_ENERGY, 0.01 / units.in_si("length"))
    assert density * ELEMENTARY_CHARGE * 1e18 * SPEED_OF_LIGHT == pytest.approx(2.334e-6 * 1000**1.5 / 0.01**2,
                                                                                rel=1e-3)


def line(signal, cells=32, samples=400, dt=0.1, length=2 * np.pi):
    x, t = np.arange(cells) * length / cells, np.arange(samples) * dt
    return Recorded("line", signal(x[None, :], t[:, None]), (Axis("time", t), Axis("x", x)))


@pytest.mark.parametrize("direction", [1, -1])
def test_a_wave_is_at_its_wave_number_and_frequency(direction):
    k, omega, power = spectra.dispersion(line(lambda x, t: np.cos(3 * x - direction * 4.5 * t)))
    at = np.unravel_index(np.argmax(power), power.shape)
    assert k[at[1]] == pytest.approx(3) and spectra.peak(omega, power[:, at[1]]) == pytest.approx(4.5, abs=0.02)
    assert power[:, at[1]].sum() > 0.99 * power.sum()


def test_power_of_both_directions_adds_up():
    one = spectra.dispersion(line(lambda x, t: np.cos(3 * x - 4 * t)))[2]
    both = spectra.dispersion(line(lambda x, t: np.cos(3 * x - 4 * t) + np.cos(5 * x + 8 * t)))[2]
    assert both.sum() == pytest.approx(2 * one.sum(), rel=1e-2) and one[:, 3].sum() > 0.99 * one.sum()


def test_growth_is_that_of_the_field():
    t = np.linspace(0, 10, 101)
    assert spectra.growth_rate(t, 3 * np.exp(2 * 0.25 * t), 2, 8) == pytest.approx(0.25)

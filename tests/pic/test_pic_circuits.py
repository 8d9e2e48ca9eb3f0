"""Circuits of electrodes: against their equations, floating potentials, errors of the input."""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from plaq import pic
from plaq.errors import InputError

EMPTY = {"e": {"charge": -1, "mass": 1}}
BETWEEN = {"x": "conducting"}


def gap(own, end, step, **more):
    """Return (time, potential, charge, current) of a gap of length 2 without particles, x high with a circuit."""
    sections = {"grid": {"cells": [8], "length": [2.0]}, "boundaries": BETWEEN, "species": EMPTY,
                "fields": {"solver": "electrostatic"}, "circuit": {"outer": {"electrode": "x high"} | own},
                "time": {"end": end, "step": step}} | more
    results = pic.run(pic.Parameters(**sections))
    return results.time, *(results[f"outer.{name}"].values for name in ("potential", "charge", "current"))


@pytest.mark.parametrize(("resistance", "inductance", "capacitance"),
                         [(0.7, 0.0, None), (0.3, 2.0, None), (0.3, 2.0, 1.5), (0.5, 0.0, 1.5), (0.0, 2.0, 1.5)])
def test_a_circuit_follows_its_equation(resistance, inductance, capacitance):
    """L q'' + R q' + q/C + q/C_gap = V(t), C_gap = 1/2: errors fall with the square of the step."""

    def slope(t, y):
        charge, current = y
        drop = np.sin(0.8 * t) - charge / 0.5 - (charge / capacitance if capacitance else 0)
        if inductance:
            return [current, (drop - resistance * current) / inductance]
        return [drop / resistance, 0.0]

    errors = []
    for step in (0.04, 0.02):
        keys = {"source": "sin(0.8*t)", "resistance": resistance, "inductance": inductance}
        time, potential, charge, _ = gap(keys | ({"capacitance": capacitance} if capacitance else {}), 6.0, step)
        exact = solve_ivp(slope, (0, 6.1), [0, 0], rtol=1e-9, atol=1e-11, t_eval=time).y[0]
        assert np.allclose(potential, charge / 0.5, rtol=1e-12, atol=1e-14)
        errors.append(np.abs(charge - exact).max())
    assert errors[1] < 1e-3
    assert 2.9 < errors[0] / errors[1] < 4.6


def test_a_floating_plate_reaches_the_potential_that_balances_its_fluxes():
    """Γ_e exp(e φ/T) = Γ_i where the potential falls from the source to the plate."""
    plate = {"at": [0.0], "normal": [1.0], "per_cell": 1e5}
    sections = {
        "grid": {"cells": [16], "length": [1.0]}, "boundaries": BETWEEN, "fields": {"solver": "electrostatic"},
        "species": {"e": {"charge": -1, "mass": 1}, "i": {"charge": 1, "mass": 4}},
        "emission": {"e": plate | {"species": "e", "flux": 0.002, "temperature": 0.01},
                     "i": plate | {"species": "i", "flux": 0.0002, "temperature": 0.01}},
        "circuit": {"wall": {"electrode": "x high", "floating": True}}, "time": {"end": 400, "step": 0.5}}
    results = pic.run(pic.Parameters(**sections))
    potential = results["wall.potential"].values[-300:]
    assert potential.mean() == pytest.approx(-0.01 * np.log(10), rel=0.03)
    arrived = (results["i.left_weight_xhigh"].values - results["e.left_weight_xhigh"].values).cumsum()
    assert np.allclose(results["wall.charge"].values, arrived, atol=1e-12)
    assert (results["wall.current"].values == 0).all()


def test_a_conductor_floats_at_the_potential_of_its_place():
    """A thin floating plate across a capacitor has the potential of its place, and a charge its own."""
    sections = {
        "grid": {"cells": [16, 8], "length": [1.6, 0.8], "patches": [2, 1]},
        "boundaries": {"x": "conducting", "potential_x": [0, 0.4]}, "species": EMPTY,
        "fields": {"solver": "electrostatic"}, "conductor": {"plate": {"where": "abs(x-0.4) < 0.01"}},
        "circuit": {"plate": {"electrode": "plate", "floating": True}}, "time": {"end": 1, "step": 0.5}}
    results = pic.run(pic.Parameters(**sections))
    assert results["plate.potential"].values == pytest.approx(0.4 * 0.39 / 1.58, rel=1e-10)
    driven = sections | {"circuit": {"plate": {"electrode": "plate", "source": 0.3, "resistance": 0.01}},
                         "time": {"end": 40, "step": 0.5}}
    results = pic.run(pic.Parameters(**driven))
    assert results["plate.potential"].values[-1] == pytest.approx(0.3, rel=1e-6)
    capacity = 0.8 * (1 / 0.39 + 1 / 1.19)  # the plate is 0.02 thick
    assert results["plate.charge"].values[-1] == pytest.approx(0.3 * capacity - 0.4 * 0.8 / 1.19, rel=1e-6)


def test_si_units_of_a_circuit():
    """An RC circuit of 50 Ω and a gap of area 1 cm², 1 mm: the time constant is R ε_0 A/d."""
    constant = 50 * 8.8541878188e-12 * 1e-4 / 1e-3
    sections = {"units": {"system": "SI", "density": 1e14}, "grid": {"cells": [8], "length": [1e-3]},
                "circuit": {"outer": {"electrode": "x high", "source": 10, "resistance": 50, "area": 1e-4}},
                "time": {"end": 2 * constant, "step": constant / 200}}
    _, potential, *_ = gap({}, 1, 1, **sections)
    assert potential[-1] * 510998.95 == pytest.approx(10 * (1 - np.exp(-2)), rel=1e-4)


@pytest.mark.parametrize(("change", "message"), [
    ({}, "circuit.outer is a short circuit"),
    ({"floating": True, "resistance": 1}, "circuit.outer.floating = true is not allowed"),
    ({"resistance": 1, "electrode": "y low"}, 'circuit.outer.electrode = "y low" is not allowed: conducting sides'),
    ({"resistance": -1}, "circuit.outer.resistance = -1 is not allowed"),
    ({"resistance": 1, "source": "1 + foo"}, "circuit.outer.source: "),
])
def test_a_wrong_circuit_is_refused(change, message):
    with pytest.raises(InputError, match=re.escape(message)):
        gap(change, 1, 0.1)


def test_circuits_leave_one_potential():
    both = {"a": {"electrode": "x low", "resistance": 1}, "b": {"electrode": "x high", "floating": True}}
    with pytest.raises(InputError, match="one side or conductor at least has a potential"):
        gap({}, 1, 0.1, circuit=both)
    with pytest.raises(InputError, match=r"boundaries.potential_x = 1"):
        gap({"resistance": 1}, 1, 0.1, boundaries=BETWEEN | {"potential_x": [0, 1]})

"""Dielectrics: capacitors in series, a charged surface, what is refused."""

import numpy as np
import pytest

from plaq import pic
from plaq.errors import InputError

SECTIONS = {"grid": {"cells": [20], "length": [2.0], "patches": [2]}, "boundaries": {"x": "conducting"},
            "fields": {"solver": "electrostatic"}, "species": {"e": {"charge": -1, "mass": 1}},
            "dielectric": {"slab": {"where": "x < 0.5", "permittivity": 4}}, "time": {"end": 1, "step": 0.5},
            "probe": {"phi": {"field": "phi", "at": [0.0], "along": "x"}}}


def run(**changes):
    return pic.run(pic.Parameters(**(SECTIONS | changes)))


def test_capacitors_in_series():
    """D is the same in all layers, and the voltage is shared as d/ε."""
    results = run(boundaries={"x": "conducting", "potential_x": [0, 1]})
    x = np.arange(20) * 0.1
    inside = 1 / (0.5 / 4 + 1.5)
    exact = np.where(x < 0.5, x * inside / 4, 0.5 * inside / 4 + (x - 0.5) * inside)
    assert results["probe_phi"].values[-1] == pytest.approx(exact, rel=1e-12, abs=1e-14)


def test_an_empty_series_of_capacitors_in_a_circuit():
    """The gap's capacity in a circuit of resistance R: charge and potential at late times."""
    circuit = {"outer": {"electrode": "x high", "source": 1, "resistance": 0.1}}
    results = run(circuit=circuit, time={"end": 20, "step": 0.05})
    assert results["outer.charge"].values[-1] == pytest.approx(1 / (0.5 / 4 + 1.5), rel=1e-9)


def test_charge_stays_on_the_surface():
    """Electrons that a slab absorbs charge its surface: φ there is Σ / (4/0.5 + 1/1.5) between grounded sides."""
    plate = {"species": "e", "at": [2.0], "normal": [-1.0], "flux": "if(t < 5, 1e-4, 0)", "per_cell": 1e5, "drift": 0.4}
    results = run(emission={"plate": plate}, time={"end": 20, "step": 0.1})
    absorbed = results["e.absorbed_weight"].values.sum()
    emitted = results["e.emitted_weight"].values.sum()
    assert absorbed == pytest.approx(emitted) and absorbed == pytest.approx(5e-4, rel=0.03)
    phi = results["probe_phi"].values[-1]
    assert phi[5] == pytest.approx(-absorbed / (4 / 0.5 + 1 / 1.5), rel=1e-9)
    assert phi[:6] == pytest.approx(phi[5] * np.arange(6) / 5, rel=1e-9, abs=1e-15)
    assert results["gauss"].values.max() < 1e-12


@pytest.mark.parametrize(("change", "message"), [
    ({"dielectric": {"slab": {"where": "x < 0.5", "permittivity": 1}}}, "dielectric.slab.permittivity = 1"),
    ({"dielectric": {"slab": {"where": "x > 5", "permittivity": 4}}}, "x > 5 is 0 in every cell"),
    ({"boundaries": {"x": "periodic"}}, "dielectrics need fields.solver"),
])
def test_what_is_not_possible_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        run(**change)

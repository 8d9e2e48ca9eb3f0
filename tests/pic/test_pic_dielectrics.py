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


def test_capacitors_in_series_in_any_direction():
    """The same between sides of y in two dimensions and of z in three."""
    for dimension in (2, 3):
        d, cells = "xyz"[dimension - 1], [8] * (dimension - 1) + [20]
        results = run(grid={"cells": cells, "length": [0.8] * (dimension - 1) + [2.0], "patches": [2] * dimension},
                      boundaries={d: "conducting", f"potential_{d}": [0, 1]},
                      dielectric={"slab": {"where": f"{d} < 0.5", "permittivity": 4}},
                      probe={"phi": {"field": "phi", "at": [0.0] * dimension, "along": d}})
        x, inside = np.arange(20) * 0.1, 1 / (0.5 / 4 + 1.5)
        exact = np.where(x < 0.5, x * inside / 4, 0.5 * inside / 4 + (x - 0.5) * inside)
        assert results["probe_phi"].values[-1] == pytest.approx(exact, rel=1e-11, abs=1e-13)


def test_a_cylinder_in_a_uniform_field():
    """The field in a cylinder of a square lattice: E = 2 E_0/(ε + 1)/(1 - f β), β = (ε - 1)/(ε + 1), with its part f of
    the plane (Rayleigh, Phil. Mag. 34 (1892) 481; the next term is of the order f⁴). The surface follows the cells."""
    errors = []
    for n in (32, 64, 128):
        found = run(grid={"cells": [n, n], "length": [8, 8], "patches": [2, 2]}, time={"end": 0.5, "step": 0.5},
                    boundaries={"x": "conducting", "potential_x": [0, 8]},
                    dielectric={"rod": {"where": "(x-4)^2 + (y-4)^2 < 1.6^2", "permittivity": 4}},
                    probe={"phi": {"field": "phi", "at": [0.0, 4.0], "along": "x"}}, output={"pictures": 0})
        h, beta = 8 / n, 3 / 5
        places = (np.arange(n) + 0.5) * h - 4
        part = (places[:, None] ** 2 + places**2 < 1.6**2).mean()
        phi = found["probe_phi"].values[-1]
        inside = (phi[n // 2 + n // 16] - phi[n // 2 - n // 16]) / (n // 8 * h)
        errors.append(inside / (2 / 5 / (1 - part * beta)) - 1)
    assert abs(errors[0]) < 0.03 and abs(errors[1]) < 0.02 and abs(errors[2]) < 0.01


def test_charge_on_a_surface_stops_a_beam():
    """A slab in two dimensions that floats charges until its potential is the energy of the electrons."""
    u = 0.05
    plate = {"species": "e", "at": [0.0, 0.2], "normal": [1.0, 0.0], "half_width": 0.2, "flux": 1e-5, "per_cell": 1e4,
             "drift": u}
    results = run(grid={"cells": [20, 4], "length": [2.0, 0.4], "patches": [2, 1]}, emission={"plate": plate},
                  dielectric={"slab": {"where": "x > 1.5", "permittivity": 4}}, time={"end": 1600, "step": 2},
                  probe={"phi": {"field": "phi", "at": [1.5, 0.2]}}, output={"pictures": 0})
    arrived = results["e.absorbed_weight"].values / (2 * 1e-5 * 0.4)
    assert arrived[50:150].mean() == pytest.approx(1, rel=0.05)
    assert not arrived[-100:].any()
    assert results["probe_phi"].values[-1] / (1 - np.sqrt(1 + u * u)) == pytest.approx(1, abs=0.15)
    assert results["gauss"].values.max() < 1e-12


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
    ({"dielectric": {"a": {"where": "x < 0.5", "permittivity": 4}, "b": {"where": "x < 0.2", "permittivity": 2}}},
     "x < 0.2 has cells of another dielectric"),
])
def test_what_is_not_possible_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        run(**change)

"""Discharges in the report: sheath edges, power balance, energies by place, circuits."""

import numpy as np
import pytest

from plaq import pic
from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.pic.results.discharge import density_means, sheath_edges
from plaq.pic.results.power import balances, mean_power
from plaq.pic.results.results import Results

COLUMNS = "COLUMNS: Energy (eV) | Cross section (m2)\n-----\n"
GAS = (f"ELASTIC\nHe\n 1.371e-4\n{COLUMNS}0 6e-20\n1e4 6e-20\n-----\n\n"
       f"IONIZATION\nHe -> He^+\n 24.6\n{COLUMNS}0 0\n24.6 0\n40 4e-21\n1e4 4e-21\n-----\n")


def densities_of(electrons, ions, length=10.0):
    x = Axis("x", np.linspace(0, length, len(electrons)), "c/ω_p")
    axes = Axis("time", np.array([1.0]), "1/ω_p"), x
    recorded = {f"mean_{name}": Recorded(f"mean_{name}", np.array([values]), axes, "n_0",
                                         f"density of {name}, mean over windows that end at these times")
                for name, values in (("e", electrons), ("i", ions))}
    return Results({}, [], {}, recorded, {"charges": {"e": -1.0, "i": 1.0}})


def test_sheath_edges_are_those_of_brinkmann_s_condition():
    """Electrons that end at a step have it as the edge; without electrons near the wall and with a linear rise, the
    place that divides the areas equally."""
    x = np.linspace(0, 10, 1001)
    results = densities_of(np.where((x > 2) & (x < 9), 1.0, 0.0), np.ones_like(x))
    assert sheath_edges(results, density_means(results)) == pytest.approx([2, 9], abs=0.02)
    rise = np.clip((x - 1) / 2, 0, 1) * np.clip((9 - x) / 2, 0, 1)
    results = densities_of(rise, np.ones_like(x))
    assert sheath_edges(results, density_means(results)) == pytest.approx([2, 8], abs=0.02)
    assert sheath_edges(results, {"e": results["e"]}) == []


@pytest.fixture(scope="module")
def discharge():
    """A few periods of a discharge in helium with a circuit."""
    period = 1 / 13.56e6
    mean = {"start": 2 * period, "length": period, "every": 4}
    species = {name: {"charge": charge, "mass": mass, "density": 1e15, "per_cell": 30, "temperature": heat}
               for name, charge, mass, heat in (("e", -1, 1, 3.0), ("i", 1, 7300, 0.03))}
    return pic.run(pic.Parameters(
        units={"system": "SI", "density": 1e15}, grid={"cells": [64], "length": [0.03]}, boundaries={"x": "conducting"},
        fields={"solver": "electrostatic"}, time={"end": 6 * period, "step": period / 400},
        species={"e": species["e"], "i": species["i"] | {"like": "e"}}, gas={"he": {"density": 1e21, "mass": 7294}},
        scattering={"e": {"species": "e", "gas": "he", "cross_sections": GAS, "electrons": "e", "ions": "i"}},
        circuit={"powered": {"electrode": "x high", "source": "150*sin(2*pi*13.56e6*t)", "resistance": 50,
                             "capacitance": 1e-9, "area": 0.01}},
        mean={"n_e": {"quantity": "density", "species": "e"} | mean,
              "n_i": {"quantity": "density", "species": "i"} | mean,
              "phi": {"quantity": "phi"} | mean, "power": {"quantity": "power"} | mean | {"every": 1},
              "eedf": {"quantity": "spectrum", "species": "e", "bins": 60, "high": 60} | mean},
        output={"pictures": 0, "gauss": False}, run={"workers": 1}))


def test_the_power_balance_closes(discharge):
    """What fields give by the energies of the particles is J E within 3 %; inelastic losses are those counted."""
    found = balances(discharge)
    assert list(found) == ["e", "i"]
    total = sum(balance.from_field for balance in found.values())
    assert mean_power(discharge) == pytest.approx(total, rel=0.03)
    times = discharge.time
    chosen = times > discharge.history["windows"]["mean_power"][0]
    counted = discharge["e.count_weight_ionisation_24.6"].values[chosen].sum() * 24.6 / 510998.95
    booked = discharge["e.count_energy_ionisation_24.6"].values[chosen].sum()
    assert booked == pytest.approx(counted, rel=0.01)


def test_the_report_draws_a_discharge(discharge):
    drawings = discharge.drawings()
    assert {"sheath", "power_balance", "eedf_by_place", "circuit_powered"} <= drawings.keys()
    assert len(discharge.plot("sheath").axes) == 2 and len(discharge.plot("circuit_powered").axes) == 3
    assert discharge.plot("eedf_by_place").axes[0].get_yscale() == "log"
    assert "The mean of J E is" in drawings["power_balance"].caption

"""Units beside numbers: t where the hopping to nearest neighbours is 1, nothing elsewhere."""

import h5py
import numpy as np
import pytest
import synthetic

from plaq.data.estimate import Axis, Estimate
from plaq.data.figures import Theme
from plaq.dca.lattice.model import Model
from plaq.dca.parameters import Parameters
from plaq.dca.physics.exact import exact_point
from plaq.dca.planning.forecast import describe
from plaq.dca.results import plot
from plaq.dca.results.file import write_results
from plaq.dca.results.report import page
from plaq.dca.units import in_units, measured, over

VOLTS = {"t": 0.35, "U": 2.8}
TABLE = {"U": 2.8, "hopping": {"1,0": -0.35, "0,1": -0.35}}


@pytest.mark.parametrize("model, unit", [
    ({"U": 8.0}, "t"), ({"U": 8.0, "t_prime": 0.3}, "t"), (VOLTS, ""), ({"U": 8.0, "t": -1.0}, ""), (TABLE, ""),
    ({"U": 8.0, "hopping": {"1,0": -1.0, "0,1": -1.0, "1,1": 0.3}}, "t"),
    ({"U": 8.0, "hopping": {"1,0": -1.0}}, "t"),
    ({"U": 8.0, "hopping": {"1,0": -1.0, "0,1": -0.5}}, ""),  # which of the two would be t?
    ({"U": 8.0, "hopping": {"1,1": -1.0}}, ""),
])
def test_the_unit_is_t_where_t_is_1(model, unit):
    assert synthetic.parameters(model=model).unit == unit


def test_words():
    assert measured("0.07", "t") == "0.07 t" and measured("0.07", "") == "0.07"
    assert over("T", "t") == "T / t" and over("T", "") == "T"


def test_check_prints_the_ratio_where_there_is_no_unit():
    lines = describe(synthetic.parameters(model={"U": 8.0, "t_prime": 0.3}))
    assert "U = 8 t, density 0.95, band from -5.2 t to 2.8 t" in lines
    lines = describe(synthetic.parameters(model=VOLTS))
    assert "U = 2.8 (U/t = 8), density 0.95, band from -1.4 to 1.4" in lines
    lines = describe(synthetic.parameters(model=TABLE, dca={"density": None, "mu": 1.0}))
    assert "U = 2.8, mu = 1.0, band from -1.4 to 1.4" in lines


def test_estimates_have_no_unit_of_energy_but_keep_that_of_length():
    axes = (Axis("K", np.zeros((1, 2)), "1/a"), Axis("omega", np.ones(2), "t"))
    found = {"G": Estimate("G", np.ones((1, 2)), np.ones((1, 2)), None, axes, "1/t")}
    own = in_units(found, "")["G"]
    assert own.unit == "" and [axis.unit for axis in own.axes] == ["1/a", ""]
    assert in_units(found, "t")["G"].unit == "1/t" and found["G"].axes[1].unit == "t"


@pytest.mark.parametrize("model, unit", [({"U": 8.0}, "t"), (VOLTS, "")])
def test_page_figures_and_file_have_the_unit_of_the_input(model, unit, tmp_path, monkeypatch):
    p = synthetic.parameters(model=model, dca={"temperatures": [0.1, 0.09, 0.08, 0.07]})
    results = synthetic.results(p)
    for point in results.points:
        point.observables = in_units(point.observables, p.unit)
    assert results.unit == unit
    monkeypatch.setattr("plaq.dca.results.report.figures", lambda results: "")
    text = page(results, p, {}, "0" * 64)
    assert f"U = {'8 t' if unit else '2.8 (U/t = 8)'}" in text
    assert ("in units of t" if unit else "in the unit of t = 0.35") in text
    assert (" t<" in text) == ("/ t<" in text) == bool(unit)
    labels = []
    for draw in (plot.pairing, plot.susceptibilities, plot.self_energy, plot.thermodynamics, plot.order_histogram,
                 plot.time_spent, plot.gap, plot.frequency_window, plot.sign):
        figure = draw(results, Theme())
        for axes in figure.axes:
            legend = axes.get_legend()
            labels += [axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left"), axes.get_title()]
            if legend:
                labels += [legend.get_title().get_text(), *(text.get_text() for text in legend.get_texts())]
    assert any(label.endswith((" t", "/ t")) for label in labels) == bool(unit)
    write_results(tmp_path / "results.h5", results, p.to_toml(), {})
    with h5py.File(tmp_path / "results.h5") as file:
        assert file["points/000/T"].attrs["unit"] == unit
        assert file["points/000/beta"].attrs["unit"] == ("1/t" if unit else "")


def test_exact_diagonalisation_has_the_unit_of_the_input():
    sections = {"dca": {"temperatures": [0.2], "mu": 1.4, "isolated": True}, "solver": {"kind": "ed"},
                "two_particle": {"channels": ["pp"]}}
    for model, unit in (({"U": 8.0}, "t"), (VOLTS, "")):
        p = Parameters(model={**model, "cluster": [[2, 0], [0, 1]]}, **sections)
        point = exact_point(p, Model.of(p), 0)
        assert point["energy"].unit == unit and point["G"].axes[1].unit == unit

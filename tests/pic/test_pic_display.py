"""Results of pic show themselves, and pictures move by a slider that needs no notebook's kernel."""

import warnings

import numpy as np
import pytest

from plaq import pic

ELECTRONS = {"charge": -1, "mass": 1, "density": "1 + 0.1*cos(0.5*x)", "per_cell": 4, "temperature": [0.01, 0.01, 0.01]}


def run(pictures, cells=(32, 16), **sections):
    return pic.run(pic.Parameters(grid={"cells": cells, "length": [12.566, 6][: len(cells)]}, time={"end": 3},
                                  output={"pictures": pictures}, **sections), progress=False)


@pytest.fixture(scope="module")
def results():
    return run(8, species={"electrons": ELECTRONS}, probe={"line": {"field": "ex", "at": [0, 3.0], "along": "x"}})


def test_results_show_their_numbers_and_every_figure(results):
    assert repr(results) == f"<plaq pic results: {results.answers()[0]}>"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = results._repr_html_()
        for name in (*results.drawings(), *results.recorded):
            assert any(axes.get_xlabel() for axes in results.plot(name).axes), name
    assert f"<td>{results['electric_x'].values[-1]:.6g}</td>" in page
    assert page.count("<details>") == len(results.drawings()) + 1
    with pytest.raises(KeyError, match="no figure or record 'e'; there are energy, "):
        results.plot("e")


def test_an_animation_has_names_of_its_own_each_time_it_is_shown(results):
    moving = results.animate("density_electrons")
    first, second = moving._repr_html_(), moving._repr_html_()
    name = first.split('class="drawing" id="')[1].partition('"')[0]
    assert repr(moving) == "<plaq Animation: Density of electrons>"
    assert f'getElementById("{name}")' in first and name not in second and "http" not in first
    assert 'type="range" min="0" max="7"' in first and moving.figure().axes
    with pytest.raises(KeyError, match="probe_line is no picture"):
        results.animate("line")


def test_figures_of_few_pictures_leave_out_times_without_anything():
    still = run(3, cells=(32,), species={"electrons": {**ELECTRONS, "density": "1"}})
    figure = still.plot("density_electrons")
    assert 1 <= len(figure.axes[0].lines) <= 3
    assert not np.any(still["ex"].values[0]) and len(still.plot("ex").axes[0].lines) == 2


def test_a_run_with_nothing_to_name_draws_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        empty = run(2, species={"electrons": {**ELECTRONS, "per_cell": 1, "density": "0"}})
        assert empty._repr_html_() and all(empty.plot(name) for name in (*empty.drawings(), "energy", *empty.recorded))

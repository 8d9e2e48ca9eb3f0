"""Lattices, fields, propagators and results of lqcd show themselves."""

import warnings

import numpy as np
import pytest

from plaq import lqcd
from plaq.lqcd.fields.momenta import Momenta

EXTENTS = (8, 4, 4, 4)


@pytest.fixture(scope="module")
def gauge():
    return lqcd.GaugeField(lqcd.Lattice(EXTENTS)).hot(seed=1)


@pytest.fixture(scope="module")
def results():
    return lqcd.run(lqcd.Parameters(
        lattice={"extents": EXTENTS}, action={"beta": 5.7}, flow={"wilson": {"time": 0.1}},
        loops={"static": {"space": 2, "time": 3}},
        updates={"configurations": 6, "sweeps": 1, "thermalisation": 2},
        mesons={"light": {"kappa": 0.12, "structures": ["gamma5", "gammax"]}}), progress=False)


def things(gauge):
    matrix = lqcd.Wilson(gauge, kappa=0.1)
    return [gauge, lqcd.SpinorField(gauge.lattice).gaussian(1), lqcd.point_propagator(matrix, (3, 0, 0, 0)),
            Momenta(gauge.lattice).gaussian(1, 0)]


def test_fields_have_one_line_a_page_and_a_figure(gauge):
    assert repr(gauge.lattice) == "<plaq lqcd lattice 8 x 4 x 4 x 4 (t, x, y, z)>"
    assert "512" in gauge.lattice._repr_html_()
    for thing in things(gauge):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert repr(thing).endswith("on 8 x 4 x 4 x 4 (t, x, y, z)>") and "<svg" in thing._repr_html_()
            assert thing.plot().axes[0].get_xlabel()


def test_two_flavours_show_both_and_operators_their_parameters(gauge):
    flavours = lqcd.Flavours(gauge.lattice, odd=True).pseudofermion(1, 0, 0)
    assert repr(flavours) == "<plaq lqcd Flavours on 8 x 4 x 4 x 4 (t, x, y, z)>"
    assert flavours._repr_html_().count("<svg") == 2
    for matrix in (lqcd.Wilson(gauge, 0.125, csw=0.25, theta=(1, 0, 0, 0)), lqcd.Doublet(gauge, 0.125, 0.5, 0.25)):
        assert repr(matrix) == f"<plaq lqcd {type(matrix).__name__} on 8 x 4 x 4 x 4 (t, x, y, z)>"
        assert all(f"<td>{name}</td>" in matrix._repr_html_() for name in ("kappa", "mu", "theta (t, x, y, z)"))
        assert "0.125" in matrix._repr_html_() and "0.25" in matrix._repr_html_()


def test_the_plane_of_a_field_has_its_numbers_and_plaquettes(gauge):
    whole, plane = gauge.whole(), gauge.plane()
    assert np.array_equal(plane, whole[:, :, 0, 0])
    t, x = 7, 2  # a plaquette across the boundary
    links = (plane[t, x, 0] @ plane[0, x, 1] @ plane[t, x + 1, 0].conj().T @ plane[t, x, 1].conj().T)
    assert gauge.picture(plane).values[t, x] == pytest.approx(1 - np.trace(links).real / 3)


def test_a_propagator_is_drawn_from_its_source(gauge):
    propagator = things(gauge)[2]
    values = propagator.record().values
    assert values.argmax() == 0 and values[0] == pytest.approx(np.sum(np.abs(propagator.local[3]) ** 2))


def test_results_show_their_numbers_and_every_figure(results):
    assert repr(results) == f"<plaq lqcd results: {results.answers()[0]}>"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = results._repr_html_()
        for name in (None, *results.drawings(), *results.estimates, *results.recorded):
            assert results.plot(name).axes[0].get_xlabel(), name
    assert f"<td>{results['plaquette']}</td>" in page and page.count("<svg") == len(results.drawings()) >= 6
    with pytest.raises(KeyError, match="no figure or quantity 'pion'; there are plaquette, "):
        results.plot("pion")

"""Results of dca show themselves in notebook and terminal."""

import re
import warnings

import pytest
import synthetic

from plaq.dca.results.results import Results


@pytest.fixture(scope="module")
def results():
    return synthetic.results(synthetic.parameters())


def test_results_have_one_line_and_a_page_with_every_number(results):
    assert re.fullmatch(r"<plaq dca results: 7 temperatures from 0\.07 to 1 t, T_c = [\d.]+\(\d+\) t>", repr(results))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = results._repr_html_()
    for point in results.points:
        assert f"<td>{point['density']}</td>" in page and f"<td>{point['energy']}</td>" in page
    assert page.count("<details>") >= 11 and page.count("<svg") == len(results.drawings())
    assert "http" not in re.sub(r'xmlns[^"]*"[^"]*"', "", page)


def test_every_figure_and_observable_is_drawn(results):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in (None, *results.drawings(), *results.points[-1].observables):
            assert results.plot(name).axes, name
    with pytest.raises(KeyError, match="no figure or observable 'lambda'; there are lambda_d, "):
        results.plot("lambda")


def test_a_temperature_has_one_line_a_page_and_figures(results):
    point = results.at(0.07)
    assert repr(point).startswith(f"<plaq dca point: T = 0.07, density = {point['density']}, energy = ")
    page = point._repr_html_()
    assert f"<td>{point['density']}</td>" in page and "<svg" in page
    assert point.plot("Sigma").axes


def test_results_without_a_temperature_say_so():
    assert repr(Results([])) == "<plaq dca results: no T>"
    assert "no temperature is finished" in Results([])._repr_html_()

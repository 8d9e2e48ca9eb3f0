"""results.h5: everything comes back, the hash sees every bit of a result and nothing else; summary and report."""

import re
from html.parser import HTMLParser

import h5py
import numpy as np
import pytest
import synthetic

from plaq.data.results_file import digest_of
from plaq.dca.physics import checks
from plaq.dca.physics.point import Point
from plaq.dca.results.file import FORMAT, read_results, read_run, write_results
from plaq.dca.results.report import page, write_report
from plaq.dca.results.results import Results, summary
from plaq.errors import InputError

HEADER = {"version": "0.1.0", "ranks": 2}


def write(path, results):
    write_results(path, results, synthetic.parameters().to_toml(), HEADER)
    return digest_of(path, FORMAT)


def assert_same(a, b):
    assert a.name == b.name and (a.unit, a.convention, a.note, a.tau_int) == (
        b.unit,
        b.convention,
        b.note,
        b.tau_int,
    )
    for x, y in [(a.mean, b.mean), (a.error, b.error), (a.jackknife, b.jackknife)]:
        assert np.array_equal(x, y) and np.asarray(x).dtype == np.asarray(y).dtype
    assert [(x.name, x.unit) for x in a.axes] == [(x.name, x.unit) for x in b.axes]
    assert all(np.array_equal(x.values, y.values) for x, y in zip(a.axes, b.axes))


@pytest.fixture(scope="module")
def results():
    return synthetic.results()


def test_file_returns_the_results_that_were_written(tmp_path, results):
    write(tmp_path / "results.h5", results)
    read, toml, header = read_results(tmp_path / "results.h5")
    assert toml == synthetic.parameters().to_toml() and header == HEADER
    assert read.tc == results.tc and read.answer() == results.answer() and read.seconds == results.seconds
    assert np.array_equal(read.transition.curve([0.08]), results.transition.curve([0.08]))
    for a, b in zip(results.points, read.points, strict=True):
        assert (a.index, a.T, a.beta, a.mu, a.seconds) == (b.index, b.T, b.beta, b.mu, b.seconds)
        assert list(a.observables) == list(b.observables)
        for name in a.observables:
            assert_same(a[name], b[name])
        assert [r["phase"] for r in b.history] == [r["phase"] for r in a.history]
        assert b.history[3]["change"] == a.history[3]["change"] and np.isnan(b.history[0]["change"])
        assert b.history[2]["seconds"] == a.history[2]["seconds"]


def test_points_survive_a_checkpoint(results):
    for point in results.points:
        again = Point.from_state(point.state())
        assert again.history == point.history and again.mu == point.mu
        for name in point.observables:
            assert_same(point[name], again[name])


def test_digest_sees_results_only(tmp_path):
    first = write(tmp_path / "a.h5", synthetic.results())
    other_times = synthetic.results()
    other_times.seconds = {"walk": 1.0}
    for point in other_times.points:
        point.seconds, point.history = {"walk": 7.0}, point.history[:1]
    assert write(tmp_path / "b.h5", other_times) == first

    for change in ("mean", "error", "jackknife"):
        changed = synthetic.results()
        array = np.array(getattr(changed.points[3]["Sigma"], change))
        array.flat[5] = np.nextafter(array.flat[5].real, 9) + 1j * array.flat[5].imag
        setattr(changed.points[3]["Sigma"], change, array)
        assert write(tmp_path / "c.h5", changed) != first
    changed = synthetic.results()
    changed.points[0].mu = np.nextafter(changed.points[0].mu, 9)
    assert write(tmp_path / "c.h5", changed) != first
    changed = synthetic.results()
    del changed.points[2].observables["sign"]
    assert write(tmp_path / "c.h5", changed) != first


def test_layout_is_the_documented_one(tmp_path, results):
    write(tmp_path / "results.h5", results)
    with h5py.File(tmp_path / "results.h5") as file:
        assert file.attrs["format"] == "plaq dca results" and file.attrs["version"] == 3
        sigma = file["points/006/observables/Sigma"]
        assert set(sigma) == {"mean", "error", "jackknife", "bin", "K", "K_x", "K_y", "omega"}
        assert list(sigma.attrs["axes"]) == ["K", "omega"] and sigma.attrs["unit"] == "t"
        assert sigma["jackknife"].shape == (64, *sigma["mean"].shape)
        assert sigma["omega"].attrs["unit"] == "t" and file["points/006/T"][()] == 0.07
        assert "Hartree" in sigma.attrs["convention"]


def test_other_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="none.h5: there is no such file"):
        read_results(tmp_path / "none.h5")
    (tmp_path / "text.h5").write_text("no")
    with pytest.raises(InputError, match="text.h5: not 'plaq dca results', versions 2 to 3, or truncated or damaged"):
        read_results(tmp_path / "text.h5")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    with pytest.raises(InputError, match="other.h5: not .* but HDF5 of another program, or of a plaq older"):
        digest_of(tmp_path / "other.h5", FORMAT)


def test_summary_has_the_documented_entries(results):
    content = summary(results, HEADER)
    assert set(content["tc"]) == {"value", "error", "status"} and content["tc"]["status"] == "found"
    for entry in content["temperatures"]:
        assert all(isinstance(entry[name], float) for name in ("T", "beta", "mu"))
        for name in ("density", "double_occupancy", "energy", "sign", "expansion_order"):
            assert set(entry[name]) == {"value", "error"}
    assert content["temperatures"][0]["lambda_d"] is None
    assert content["temperatures"][-1]["lambda_d"]["value"] == results.at(0.07)["lambda_d"].mean


def test_access_by_temperature_and_name(results):
    T, value, error = results.series("lambda_d")
    assert list(T) == [0.1, 0.09, 0.08, 0.07] and len(value) == len(error) == 4
    with pytest.raises(KeyError, match="no temperature 0.2"):
        results.at(0.2)
    with pytest.raises(KeyError, match="no 'lambda_d' at T = 1.0; there are density"):
        results.at(1.0)["lambda_d"]


def test_one_eigenvalue_is_an_answer_without_a_transition():
    p = synthetic.parameters(dca={"temperatures": [0.5, 0.1]})
    results = synthetic.results(p)
    assert results.transition is None and results.tc["status"] == "not measured"
    value = results.at(0.1)["lambda_d"]
    assert results.answer().startswith(f"lambda_d = {value} at T = 0.1; T_c is determined when")


class Elements(HTMLParser):
    """Collects tags and checks that they nest."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.links = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href", "xlink:href")]
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_report_is_one_file_that_needs_no_network(tmp_path, results):
    write(tmp_path / "results.h5", results)
    text = write_report(tmp_path, read_run(tmp_path)).read_text()
    elements = Elements()
    elements.feed(text)
    assert not elements.open and elements.tags.count("svg") == 13
    assert all(link.startswith("#") for link in elements.links)
    assert not re.search(r"@import|url\((?!#)|<script|<link", text)
    assert "T<sub>c</sub> = 0.07" in text and digest_of(tmp_path / "results.h5", FORMAT) in text


@pytest.mark.parametrize("count", [0, 1, 5])
def test_report_of_an_unfinished_or_plain_run(count):
    p = synthetic.parameters()
    points = [synthetic.point(p, index) for index in range(count)]
    text = page(Results(points), p, HEADER, "0" * 64)
    assert (
        ("T<sub>c</sub> is determined when" if count == 5 else "No pairing eigenvalue") in text
        and "nan" not in re.sub(r"<svg.*?</svg>", "", text, flags=re.S).split("<h2>")[0]
    )


def test_the_check_of_the_run_is_shown_and_a_failure_stands_out():
    p = synthetic.parameters()
    points = [synthetic.point(p, index) for index in range(2)]
    text = page(Results(points), p, HEADER, "0" * 64)
    assert text.count("holds</td>") == 2 and "2.0e-11" in text and "0.410" in text and 'class="failed"' not in text
    assert checks.in_words(points[0]).endswith(", drift 2e-11") and "FAILED" not in checks.in_words(points[0])

    points[1]["order_identity"].mean = np.array(-0.22)  # the error is 0.05
    assert [checks.violated(point) for point in points] == [False, True]
    text = page(Results(points), p, HEADER, "0" * 64)
    assert text.count('class="failed"') == 1 and "-4.4</td>" in text and "FAILS" in text
    assert "check <k>: -0.22(5), drift 2e-11 -- FAILED: 4.4 standard errors from 0" in checks.in_words(points[1])

    points[1]["order_identity"].jackknife = np.zeros(16)  # the error of 16 groups: 4.4 of them are not so rare
    assert not checks.violated(points[1])
    points[1]["order_identity"].mean = np.array(-0.28)
    assert checks.violated(points[1])

    points[1]["order_identity"].error = np.array(np.inf)  # nothing can be said
    assert not checks.violated(points[1]) and "not known" in page(Results(points), p, HEADER, "0" * 64)
    del points[1].observables["order_identity"]  # an exact solution counts no vertices
    assert checks.in_words(points[1]) == "" and checks.deviation(points[1]) is None


def test_report_names_unsupported_error_bars(results):
    p = synthetic.parameters()
    point = synthetic.point(p, 3)
    point["lambda_d"].error = np.array(np.inf)
    point["lambda_d"].note = "only 3 independent bins"
    text = page(Results([point]), p, HEADER, "0" * 64)
    assert "only 3 independent bins" in text and "(?)" in text

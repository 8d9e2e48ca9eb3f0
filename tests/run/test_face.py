"""One Python face: the same functions in dca, lqcd and pic, with the same arguments and kinds of answers."""

import inspect
import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from plaq import dca, lqcd, pic
from plaq.comm import world
from plaq.errors import InputError, Interrupted, RunError
from plaq.inputs.parameters import Parameters as AnyParameters
from plaq.run import driver
from plaq.run.face import Face
from plaq.run.forecast import Description, Forecast
from plaq.run.live import Log

FACE = ("Parameters", "Results", "run", "load", "check", "estimate", "sweep", "report", "digest")
SMALL = {
    dca: ({"model": {"U": 2}, "dca": {"temperatures": [2, 1], "mu": 0.5, "iterations": 1},
           "solver": {"measurements": 256, "warmup": 5, "chains": 4}}, {"model.U": [2, 3]}),
    lqcd: ({"lattice": {"extents": [4, 2, 2, 2]}, "action": {"beta": 5.5},
            "updates": {"configurations": 24, "thermalisation": 4, "sweeps": 1}, "flow": {"wilson": {"time": 0.2}}},
           {"action.beta": np.array([5.5, 6.0]), "updates.seed": range(1, 3)}),
    pic: ({"grid": {"cells": [16], "length": [2.0], "patches": [2]}, "time": {"end": 2},
           "species": {"e": {"charge": -1, "mass": 1, "density": 1, "per_cell": 8, "temperature": 0.01}}},
          {"species.e.per_cell": [4, 8]}),
}


@pytest.fixture(params=SMALL, ids=lambda module: module.__name__)
def application(request):
    return request.param


def parameters(module, **more):
    return module.Parameters(**SMALL[module][0] | more)


def test_all_applications_have_the_same_names_and_arguments(application):
    assert set(FACE) <= set(dir(application))
    for name in FACE[2:]:
        function = getattr(application, name)
        assert inspect.signature(function) == inspect.signature(getattr(dca, name))
        assert inspect.getdoc(function) == inspect.getdoc(getattr(Face, name)) and function.__name__ == name


def test_a_run_gives_results_and_load_the_same(application, tmp_path, capsys):
    results = application.run(parameters(application), tmp_path / "run", progress=False)
    assert isinstance(results, application.Results)
    loaded = application.load(tmp_path / "run")
    assert isinstance(loaded, application.Results) and loaded.answers() == results.answers()
    assert application.report(tmp_path / "run").name == "report.html"
    assert len(application.digest(tmp_path / "run")[0].split()[0]) == 64


def test_check_says_what_the_input_means(application):
    told = application.check(parameters(application))
    assert isinstance(told, Description) and "\n" in told and repr(told) == str(told)
    assert told._repr_html_().startswith("<pre>")
    with pytest.raises(InputError, match="hpx"):
        application.check(parameters(application, run={"threads": "hpx"}))


def test_estimate_has_numbers_with_the_text(application):
    one, two = (application.estimate(parameters(application), ranks, 1) for ranks in (1, 2))
    assert isinstance(one, Forecast) and "time" in one or "total" in one
    assert one.seconds == pytest.approx(sum(one.parts.values())) and 0 < one.seconds < 1000
    assert 1e4 < one.memory < 1e9 and (one.ranks, two.ranks, two.workers) == (1, 2, 1)
    assert one.efficiency is None or 0 < two.efficiency <= 1.01


def test_a_forecast_is_plain_html_in_a_notebook():
    told = Forecast("a < b", parts={"all": 2.0}, memory=1.0, ranks=1, workers=1)
    assert told._repr_html_() == "<pre>a &lt; b</pre>" and told.seconds == 2.0 and told.efficiency is None


def test_a_sweep_in_memory_has_every_combination(application):
    p, axes = parameters(application), SMALL[application][1]
    found = application.sweep(p, axes, progress=False)
    assert len(found) == math.prod(len(list(values)) for values in axes.values())
    name = next(iter(found))
    assert isinstance(found[name], application.Results) and not found.failed
    alone = application.run(found.parameters[name], progress=False)
    assert alone.answers() == found[name].answers()
    rows = found.rows()
    assert {row["run"] for row in rows} == set(found) and set(axes) <= rows[0].keys()
    assert rows[0][next(iter(axes))] == next(iter(next(iter(axes.values()))))
    assert all(key in found._repr_html_() for key in axes) and f"{len(found)} runs" in repr(found)
    with pytest.raises(KeyError, match=f"there are {name}"):
        found["U=77"]


def test_a_sweep_with_a_folder_goes_on_and_gives_the_same(application, tmp_path, capsys):
    p, axes = parameters(application), SMALL[application][1]
    in_memory = application.sweep(p, axes, progress=False)
    first = application.sweep(p, axes, tmp_path / "sweep", progress=False)
    written = {path: path.stat().st_mtime_ns for path in (tmp_path / "sweep").glob("*/checkpoint.h5")}
    again = application.sweep(p, axes, tmp_path / "sweep", progress=False)
    assert written == {path: path.stat().st_mtime_ns for path in written}
    assert [found.rows() == in_memory.rows() for found in (first, again)] == [True, True]
    assert (tmp_path / "sweep/sweep.csv").read_text().count("\n") == len(first) + 1
    loaded = application.load(tmp_path / "sweep")
    assert loaded.rows() == first.rows() and loaded._repr_html_().count("<tr>") == len(first) + 1
    *each, whole = application.digest(tmp_path / "sweep")
    assert [line.split()[1] for line in each] == list(first) and whole.endswith(f"all {len(first)} runs")
    page = application.report(tmp_path / "sweep").read_text()
    assert all(f"{name.replace('=', '%3D').replace(',', '%2C')}/report.html" in page for name in first)


def test_a_sweep_is_a_dataframe(application):
    pandas = pytest.importorskip("pandas")
    axes = {key: list(values)[:1] for key, values in SMALL[application][1].items()}
    frame = application.sweep(parameters(application), axes, progress=False).to_dataframe()
    assert isinstance(frame, pandas.DataFrame) and set(axes) <= set(frame.columns) and len(frame) > 0


@pytest.mark.parametrize("axes, words", [
    ({"action.betta": [1]}, "sweep: unknown key action.betta; did you mean action.beta?"),
    ({"run.workers": [1, 2]}, "keys of .run. change no result"),
    ({"action.beta": 5.5}, "action.beta = 5.5 is not allowed: it must be a list of values"),
    ({"action.beta": [5.5, 5.5]}, "has beta=5.5 twice"),
    ({"action.beta": [-1]}, "action.beta = -1 is not allowed"),
])
def test_axes_that_make_no_sense_are_refused_before_a_run(axes, words):
    with pytest.raises(InputError, match=words):
        lqcd.sweep(parameters(lqcd), axes, progress=False)


def test_a_run_that_fails_leaves_the_others(monkeypatch):
    from plaq.lqcd.application import Lqcd

    prepare = Lqcd.prepare

    def broken(self, run, started):
        if self.parameters.action.beta > 5.8:
            raise RunError("the disk is gone")
        return prepare(self, run, started)

    monkeypatch.setattr(Lqcd, "prepare", broken)
    monkeypatch.setattr("plaq.run.sweep.as_plaq_error", lambda error: error)
    with pytest.warns(RuntimeWarning, match="1 of 2 runs failed"):
        found = lqcd.sweep(parameters(lqcd), {"action.beta": [5.5, 6.0]}, progress=False)
    assert list(found) == ["beta=5.5"] and found.failed == {"beta=6.0": "the disk is gone"}
    with pytest.raises(RunError, match="the disk is gone"):
        found["beta=6.0"]
    assert "1 failed" in repr(found) and "the disk is gone" in found._repr_html_()


def test_numbers_of_numpy_are_numbers():
    p = lqcd.Parameters(lattice={"extents": np.array([4, 2, 2, 2])}, action={"beta": np.float64(5.5)},
                        updates={"seed": np.int64(3)})
    assert p.lattice.extents == (4, 2, 2, 2) and p.updates.seed == 3
    assert AnyParameters.__eq__(p, lqcd.Parameters(lattice={"extents": [4, 2, 2, 2]}, action={"beta": 5.5},
                                                   updates={"seed": 3}))
    assert lqcd.Parameters.read.__self__ is lqcd.Parameters and "np." not in p.to_toml()


def test_a_folder_of_another_application_is_named(tmp_path, capsys):
    lqcd.run(parameters(lqcd), tmp_path / "run", progress=False)
    for read in (pic.load, pic.report, dca.load, dca.digest):
        with pytest.raises(InputError, match="holds a run of plaq lqcd, and this is plaq (pic|dca); its commands"):
            read(tmp_path / "run")


@pytest.mark.parametrize("module, more, done", [
    (lqcd, {"updates": {"configurations": 10**6, "thermalisation": 0, "sweeps": 1}}, "of 1000000 configurations"),
    (pic, {"time": {"end": 1e5}, "probe": {"line": {"field": "ex", "at": [0], "along": "x"}}}, "not finished: step"),
])
def test_a_run_that_is_not_finished_can_be_read(module, more, done, tmp_path):
    asked = itertools.count(1)
    stop = SimpleNamespace(requested=lambda: "SIGTERM" if next(asked) >= 30 else None)
    with pytest.raises(Interrupted):
        driver.run_on(module.run.__self__._kind, world(), parameters(module, **more), tmp_path / "run", "input", stop,
                      Log)
    assert not (tmp_path / "run/results.h5").exists()
    results = module.load(tmp_path / "run")
    assert isinstance(results, module.Results) and done in results.answers()[1] and results.recorded


def test_a_run_without_results_says_so(tmp_path):
    p = parameters(lqcd, updates={"configurations": 4, "thermalisation": 10**6})
    asked = itertools.count(1)
    stop = SimpleNamespace(requested=lambda: "SIGTERM" if next(asked) >= 3 else None)
    with pytest.raises(Interrupted):
        driver.run_on(lqcd.run.__self__._kind, world(), p, tmp_path / "run", "input", stop, Log)
    with pytest.raises(InputError, match="run: the run is not finished and has no results so far"):
        lqcd.load(tmp_path / "run")

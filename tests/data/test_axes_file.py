"""Axes in results.h5: read back, known to xarray by name, and those of version 2."""

import h5py
import numpy as np
import pytest

from plaq.data import results_file
from plaq.data.axes_file import name_dimensions
from plaq.data.estimate import Axis, Estimate
from plaq.data.recorded import Recorded
from plaq.data.results_file import Findings
from plaq.files.sealed import Format, seal
from plaq.files.tree import write_tree

FORMAT = results_file.format_of("plaq test")
K = Axis("K", np.array([[0.0, 0.0], [np.pi, 0.0]]))
OMEGA = Axis("omega'", np.array([0.5, 1.5, 2.5]), "t")
TIME = Axis("time", np.array([0.0, 1.0, 2.0]), "1/ω_p")
ORBITAL = Axis("orbital", np.array(["Cu d", "O p_x"]))
MOVING = Axis("x", np.array([[0.0, 1.0], [0.5, 1.5], [1.0, 2.0]]), "c/ω_p")


@pytest.fixture
def findings():
    values = np.random.default_rng(1).normal(1, 0.1, (4, 2, 3)) + 1j
    g = Estimate("G", values.mean(axis=0), np.full((2, 3), 0.1 + 0.2j), values, (K, OMEGA), "1/t", "a formula",
                 bias=np.zeros((2, 3)) + 0j)
    n = Estimate("n", 0.5, np.inf, values[:, 0, 0].real, note="too few bins", tau_int=0.7)
    filling = Estimate("filling", values[0, :, 0].real, np.full(2, 0.1), values[:, :, 0].real, (ORBITAL,))
    line = Recorded("line", np.arange(6.0).reshape(3, 2), (TIME, MOVING), "E", "E_x")
    return Findings({"G": g, "n": n, "filling": filling}, ["a sentence"], {"start-up": 1.0}, {"line": line})


@pytest.fixture
def path(findings, tmp_path):
    results_file.write(tmp_path / "results.h5", FORMAT, findings, "x = 1\n", {})
    return tmp_path / "results.h5"


def same_axes(one, other):
    assert [(axis.name, axis.unit) for axis in one] == [(axis.name, axis.unit) for axis in other]
    for a, b in zip(one, other):
        np.testing.assert_array_equal(a.values, b.values)


def check(read, findings):
    for name, estimate in findings.estimates.items():
        same_axes(read[name].axes, estimate.axes)
        np.testing.assert_array_equal(read[name].jackknife, estimate.jackknife)
        assert read[name].bins == estimate.bins  # estimates of a file are correlated with those that made it
    same_axes(read.recorded["line"].axes, (TIME, MOVING))


def test_numbers_vectors_texts_and_moving_axes_come_back(findings, path):
    check(results_file.read(path, FORMAT)[0], findings)


def test_files_of_version_2_are_read(findings, tmp_path):
    older = Format(FORMAT.name, 2, FORMAT.remedy)

    def fill(file):
        write_tree(file.create_group("answers"), {"sentences": ["a sentence"]})
        numbers = {name: e for name, e in findings.estimates.items() if ORBITAL not in e.axes}  # texts came later
        for kind, items in (("estimates", numbers), ("recorded", findings.recorded)):
            for name, item in items.items():
                group = file.create_group(f"{kind}/{name}")
                for part in ("mean", "error", "jackknife", "values"):
                    if getattr(item, part, None) is not None:
                        group[part] = getattr(item, part)
                group.attrs.update({"unit": item.unit, "convention": item.convention, "note": item.note,
                                    "axes": [axis.name for axis in item.axes] or h5py.Empty(h5py.string_dtype())})
                for axis in item.axes:
                    group[f"axis_{axis.name}"] = axis.values
                    group[f"axis_{axis.name}"].attrs["unit"] = axis.unit

    with open(tmp_path / "old.h5", "w+b") as file:
        file.write(results_file.image(older, "x = 1\n", {}, {}, fill).getbuffer())
        seal(file, older)
    del findings.estimates["filling"]
    check(results_file.read(tmp_path / "old.h5", FORMAT)[0], findings)


@pytest.mark.filterwarnings("error")
def test_xarray_knows_the_dimensions_by_name(findings, path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    with xarray.open_dataset(path, engine="h5netcdf", group="estimates/G") as found:
        assert found["mean"].dims == found["error"].dims == found["bias"].dims == ("K", "omega'")
        assert found["jackknife"].dims == ("bin", "K", "omega'")
        np.testing.assert_array_equal(found["mean"].sel({"omega'": 1.5}, method="nearest"), findings["G"].mean[:, 1])
        np.testing.assert_array_equal(found["K_x"], K.values[:, 0])
        assert set(found.coords) == {"bin", "K", "K_x", "K_y", "omega'"}
    with xarray.open_dataset(path, engine="h5netcdf", group="estimates/filling") as found:
        assert found["mean"].sel(orbital="O p_x") == findings["filling"].mean[1]
    with xarray.open_dataset(path, engine="h5netcdf", group="estimates/n") as found:
        assert dict(found.sizes) == {"bin": 4}
    with xarray.open_dataset(path, engine="h5netcdf", group="recorded/line") as found:
        assert found["values"].dims == ("time", "x") and found["x_of_time"].dims == ("time", "x")


def test_a_copied_group_has_dimensions_of_its_own(path, tmp_path):
    with h5py.File(path) as file, h5py.File(tmp_path / "copy.h5", "w") as copy:
        file.copy("estimates/G", copy, "G")
        name_dimensions(copy["G"])
        assert [list(dimension.keys()) for dimension in copy["G/mean"].dims] == [["K"], ["omega'"]]
        assert copy["G/jackknife"].dims[0][0] == copy["G/bin"]

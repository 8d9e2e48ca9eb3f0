"""Results as tables: rows, CSV files of a run, a DataFrame."""

import csv
import sys

import numpy as np
import pytest

from plaq.data.estimate import Axis, Estimate
from plaq.data.export import export
from plaq.data.recorded import Recorded
from plaq.data.results_file import Findings
from plaq.data.tables import columns, dataframe, entries, to_csv

T = Axis("t", np.array([0, 1, 2]), "a")


def measured(name, mean, error, **more):
    return Estimate(name, np.array(mean), np.array(error), **more)


FINDINGS = Findings(
    {"plaquette": measured("plaquette", 0.5, 0.01, tau_int=0.7, convention="Re tr P / 3"),
     "loop": measured("loop", 1 + 2j, 0.1 + 0.2j),
     "pion": measured("pion", [3.0, 2.0, 1.0], [0.1, 0.2, 0.3], axes=(T,))},
    ["plaquette = 0.50(1)"], {"all": 1.0},
    {"plaquette": Recorded("plaquette", np.array([0.4, 0.6]), (Axis("configuration", np.array([1, 2])),)),
     "polyakov": Recorded("polyakov", np.array([[1.0, 2], [3, 4]]),
                          (Axis("configuration", np.array([1, 2])), Axis("part", np.arange(2)))),
     "pion": Recorded("pion", np.arange(6.0).reshape(2, 3), (Axis("configuration", np.array([1, 2])), T))})


def test_single_numbers_are_columns_with_errors():
    assert columns(FINDINGS.estimates) == {
        "plaquette": 0.5, "plaquette_error": 0.01, "loop_re": 1.0, "loop_re_error": 0.1, "loop_im": 2.0,
        "loop_im_error": 0.2}


def test_an_array_has_a_row_for_each_entry():
    assert list(entries(FINDINGS["pion"]))[2] == {"t": 2, "value": 1.0, "error": 0.3}
    K = Axis("K", np.array([[0.0, 0.0], [np.pi, 0.0]]))
    row = list(entries(measured("G", [1j, 2 - 1j], [0.1, 0.2j], axes=(K,))))[1]
    assert row == {"K_x": np.pi, "K_y": 0.0, "re": 2.0, "im": -1.0, "re_error": 0.0, "im_error": 0.2}


def test_an_axis_that_moves_in_time_is_where_it_was():
    x = Axis("x", np.array([[0.0, 1.0], [5.0, 6.0]]))
    record = Recorded("line", np.array([[1.0, 2.0], [3.0, 4.0]]), (Axis("time", np.array([0.0, 0.5])), x))
    assert list(entries(record))[3] == {"time": 0.5, "x": 6.0, "value": 4.0}


def test_csv_has_all_columns_and_empty_cells():
    assert to_csv([{"a": 1}, {"b": None, "c": 2}]) == "a,b,c\n1,,\n,,2\n"
    assert to_csv([], ("a", "b")) == "a,b\n"


def test_findings_are_files_for_pandas(tmp_path):
    paths = {path.name: list(csv.DictReader(path.open())) for path in export(FINDINGS, tmp_path / "out")}
    assert set(paths) == {"scalars.csv", "by_configuration.csv", "pion.csv", "series_pion.csv"}
    assert paths["by_configuration.csv"][1] == {"configuration": "2", "plaquette": "0.6", "polyakov_re": "3.0",
                                                "polyakov_im": "4.0"}
    scalar = paths["scalars.csv"][0]
    assert (scalar["quantity"], float(scalar["value"]), float(scalar["error"])) == ("plaquette", 0.5, 0.01)
    assert scalar["tau_int"] == "0.7" and scalar["convention"] == "Re tr P / 3"
    assert paths["series_pion.csv"][5] == {"configuration": "2", "t": "2", "value": "5.0"}


def test_rows_are_a_dataframe():
    pytest.importorskip("pandas")
    frame = dataframe([{"a": 1.0, "b": 2}, {"a": 3.0}])
    assert list(frame["a"]) == [1.0, 3.0] and np.isnan(frame["b"][1])


def test_a_missing_pandas_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        dataframe([])

"""The folder of a sweep: tables of all quantities, a page with a phase diagram, a digest of all runs."""

import csv
import hashlib
import re
import shutil

import numpy as np
import pytest
import synthetic
from test_cli import one_error, plaq
from test_results import Elements

from plaq.data.figures import Theme
from plaq.data.results_file import digest_of
from plaq.dca import commands
from plaq.dca.physics.transition import across
from plaq.dca.results import phase_diagram, sweep_report, sweep_table
from plaq.dca.results.file import FORMAT, write_results
from plaq.errors import InputError

AXES = [(u, n) for u in (4.0, 6.0, 8.0) for n in (0.9, 1.0)]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """Six runs: those of density 1 have a bound, one has failed at its first temperatures, one has nothing."""
    base = tmp_path_factory.mktemp("sweep")
    runs, outcomes = {}, {}
    for u, n in AXES:
        name = f"U={u},density={n}"
        runs[name] = p = synthetic.parameters(model={"U": u},
                                              dca={"density": n, "temperatures": [0.1, 0.09, 0.08, 0.07]},
                                              two_particle={"channels": ["pp", "magnetic"]})
        results = synthetic.results(p)
        for point in results.points:
            point["density"].mean = np.array(n)
            point["lambda_d"].mean *= (0.8 if n == 1.0 else 1 + 0.01 * (u - 6))
        results.transition = across(results.points, "lambda_d")
        outcomes[name] = results.tc
        if (u, n) == (8.0, 0.9):
            outcomes[name] = {"status": "failed", "error_text": "NaN"}
            results.points, results.transition = results.points[:1], None
        if (u, n) != (8.0, 1.0):
            (base / name).mkdir()
            write_results(base / name / "results.h5", results, p.to_toml(), {})
        else:
            outcomes[name] = {"status": "failed", "error_text": "no space left"}
    sweep_table.write(base, runs, outcomes)
    return base


def rows(path):
    return list(csv.DictReader(path.open(newline="", encoding="utf-8")))


def test_the_tables_hold_all_quantities(sweep):
    runs = rows(sweep / "sweep.csv")
    assert [(float(row["model.U"]), float(row["dca.density"])) for row in runs] == AXES
    assert [row["status"] for row in runs] == ["found", "bound", "found", "bound", "failed", "failed"]
    loaded = commands.load(sweep / runs[0]["run"])
    assert float(runs[0]["tc"]) == loaded.tc["value"] and runs[1]["tc"] == runs[4]["tc"] == ""
    neel = "T_N:magnetic(π,π)"
    assert runs[0][f"{neel}_status"] == "bound" and runs[0][neel] == ""

    points = rows(sweep / "sweep_points.csv")
    assert len(points) == 4 * 4 + 1
    first = loaded.points[0]
    for name in ("energy", "double_occupancy", "lambda_d", "sign", "lambda_magnetic_q3_m0_s"):
        assert float(points[0][name]) == first[name].mean and float(points[0][f"{name}_error"]) == first[name].error
    assert float(points[0]["spin_susceptibility(π,π)"]) == first["spin_susceptibility"].mean[3]
    assert points[0]["model.U"] == "4.0" and points[0]["T"] == "0.1" and points[0]["measurements"] == "20000"


def test_the_page_has_a_phase_diagram_and_every_run(sweep):
    path = commands.report(sweep)
    text = path.read_text()
    elements = Elements()
    elements.feed(text)
    assert not elements.open and elements.tags.count("svg") == 2
    links = {link for link in elements.links if not link.startswith("#")}
    assert links == {f"U%3D{u}%2Cdensity%3D{n}/report.html" for u, n in AXES[:-1]}
    assert not re.search(r"@import|url\((?!#)|<script|<link", text)
    assert "<h1>T<sub>c</sub> = 0.0" in text
    assert "2 found T<sub>c</sub>, 2 have a bound for T<sub>c</sub>, 2 failed" in text
    assert "<td>&lt; 0.07</td>" in text and text.count('<tr class="failed">') == 2
    assert {path.name for path in (sweep / "figures").iterdir()} == {"phase_diagram.png", "eigenvalues.png"}


def test_the_phase_diagram_shows_temperatures_and_bounds(sweep):
    entries = sweep_table.read(sweep)
    assert phase_diagram.across(entries)[0] == "model.U"  # it has more values than the density
    figure = phase_diagram.draw(entries, Theme(), "t")
    axes = figure.axes[0]
    found = [container[0].get_xydata() for container in axes.containers]
    value = {entry.name: entry.results.tc["value"] for entry in entries if entry.results}
    assert [xy.tolist() for xy in found] == [[[4.0, value["U=4.0,density=0.9"]], [6.0, value["U=6.0,density=0.9"]]]]
    bounds = [line for line in axes.lines if line.get_marker() == "o" and line.get_mfc() == "none"]
    assert sorted(line.get_xydata()[0].tolist() for line in bounds) == [[4.0, 0.07], [6.0, 0.07], [8.0, 0.1]]
    assert axes.containers[0][0].get_color() not in {
        line.get_color() for line in bounds if line.get_ydata()[0] == 0.07}, "each density has its own"
    assert any(line.get_marker() == "^" for line in axes.lines)  # T_N is above 0.1
    assert len(figure.axes[1].containers) == 2, "the sign of each density"


def test_the_table_of_the_phase_diagram_has_bounds(sweep):
    row, bound, _, _, single, nothing = rows(sweep / "phase_diagram.csv")
    assert row["T_c_status"] == "found" and float(row["T_c"]) == pytest.approx(0.072, abs=0.002)
    assert row["T_c_bound"] == "" and float(row["T_c_error"]) > 0 and float(row["density"]) == 0.9
    assert (bound["T_c"], bound["T_c_status"], bound["T_c_bound"]) == ("", "below", "0.07")
    assert (bound["T_N"], bound["T_N_status"], bound["T_N_bound"]) == ("", "above", "0.1")
    assert float(bound["sign"]) == pytest.approx(0.88, abs=0.01) and bound["sign_T"] == "0.07"
    assert (single["T_c_status"], single["T_c_bound"]) == ("below", "0.1"), "one temperature is a bound"
    assert nothing["T_c_status"] == "not measured" and nothing["T_c_bound"] == "" == nothing["sign"]


def test_a_doping_scan_is_drawn_over_the_density(sweep):
    entries = [sweep_table.Entry(f"{u},{n}", {"model.U": str(u), "dca.density": str(n)}, "failed")
               for u in (2, 3, 4, 5) for n in (0.8, 0.9, 1.0)]
    assert phase_diagram.across(entries)[0] == "dca.density" and phase_diagram.across(entries)[2][0] == "U = 2"


def test_warnings_of_a_run_are_shown(sweep):
    entries = sweep_table.read(sweep)
    entries[0].results.points[0].history[-1]["converged"] = False
    text = sweep_report.page(entries, ["0" * 64])
    assert "Some temperatures of U=4.0,density=0.9" in text and text.count('<tr class="doubtful">') == 1


def test_digest_of_a_sweep_is_a_line_for_each_run_and_one_for_all(sweep):
    lines = plaq(sweep.parent, "dca", "digest", sweep.name).stdout.splitlines()
    assert [line[66:].split("  (")[0] for line in lines] == [*(f"U={u},density={n}" for u, n in AXES), "all 6 runs"]
    assert lines[2][:64] == digest_of(sweep / "U=6.0,density=0.9" / "results.h5", FORMAT)
    assert lines[5].startswith("no results ")
    assert lines[6][:64] == hashlib.sha256("\n".join(line.split("  (")[0] for line in lines[:6]).encode()).hexdigest()


def test_damaged_results_of_one_run_are_reported_beside_the_others(sweep, tmp_path):
    shutil.copytree(sweep, tmp_path / "copy")
    path = tmp_path / "copy" / "U=6.0,density=0.9" / "results.h5"
    image = bytearray(path.read_bytes())
    image[len(image) // 2] ^= 1
    path.write_bytes(image)
    text = commands.report(tmp_path / "copy").read_text()
    assert "1 have damaged results" in text
    assert "<h1>T<sub>c</sub> = 0.07" in text and "at U = 4.0, density = 0.9</h1>" in text
    one_error(plaq(tmp_path, "dca", "digest", "copy"), 2, "U=6.0,density=0.9/results.h5")


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"run,tc,tc_error,status\nx\n", b"run,tc\nx,1\n", b"\xff\xfe"])
def test_a_damaged_table_is_one_clear_error(tmp_path, content):
    (tmp_path / "sweep.csv").write_bytes(content)
    if not content:
        assert sweep_table.read(tmp_path) == [] and "No run has ended" in sweep_report.page([], [])
        return
    with pytest.raises(InputError, match="sweep.csv: "):
        sweep_table.read(tmp_path)
    one_error(plaq(tmp_path, "dca", "digest", "."), 2, "sweep.csv")


def test_a_sweep_of_words_is_drawn_over_its_runs():
    entries = [sweep_table.Entry(f"kind={kind}", {"solver.precision": kind}, "failed") for kind in ("double", "float")]
    assert phase_diagram.across(entries) == ("run", ["kind=double", "kind=float"], ["", ""])
    assert sweep_report.drawings(entries) == {}

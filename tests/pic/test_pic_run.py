"""`plaq pic` as a user runs it: folder, ranks, stops, files, report; results are bitwise identical in all cases."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from command_line import run_plaq, start_plaq
from damage import damaged

from plaq import _core, pic
from plaq.comm import world
from plaq.comm.launch import launcher_command
from plaq.data import results_file
from plaq.errors import InputError, Interrupted
from plaq.pic.application import Pic
from plaq.pic.results.results import FORMAT
from plaq.run import driver
from plaq.run.live import Log

INPUT = """
[units]
density = 1e24
[grid]
cells = [24, 20]
length = [12, 10]
patches = [3, 2]
[boundaries]
x = ["conducting", "absorbing"]
particles_x = ["thermal", "absorbed"]
layer = 4
wall_temperature = 0.01
[time]
end = 12
[solver]
order = 2
[species.electrons]
charge = -1
mass = 1
density = "0.01*(x < 6)"
per_cell = 9
temperature = 0.01
drift = ["0.8", "0", "0"]
[species.ions]
charge = 1
mass = 1836
density = "0.01*(x < 6)"
per_cell = 9
like = "electrons"
[output]
every = 20
particles = ["electrons"]
particles_every = 2
[probe.place]
field = "ey"
at = [3, 5]
every = 3
[probe.line]
field = "rho"
at = [3, 5]
along = "y"
[histogram.phase]
species = "electrons"
axes = ["x", "ux"]
low = [0, -1]
high = [12, 2]
bins = [12, 10]
every = 10
[histogram.spectrum]
species = "electrons"
axes = ["energy"]
low = [0]
high = [2]
bins = [16]
every = 35
[run]
balance_every = 7
workers = 1
"""


def plaq(folder, *arguments, ranks=None, wait=True):
    if wait:
        return run_plaq(*arguments, folder=folder, ranks=ranks, timeout=120)
    return start_plaq(*arguments, folder=folder, ranks=ranks, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run that nothing disturbs."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "input.toml").write_text(INPUT)
    done = plaq(folder, "pic", "run", "input.toml")
    assert done.returncode == 0 and "Gauss's law holds to" in done.stdout, done.stdout + done.stderr
    return folder / "run"


def digest(folder):
    return results_file.digest_of(folder / "results.h5", FORMAT)


def test_a_run_leaves_results_summary_report_files_and_digest(whole):
    results = pic.load(whole)
    steps = len(results.time)
    assert results["phase"].values.shape == (steps // 10 + 1, 12, 10) and results["spectrum"].values.shape[1:] == (16,)
    assert results["line"].values.shape == (steps + 1, 20) and results["place"].values.shape == (steps // 3 + 1,)
    assert results["picture_density_electrons"].values.shape == (4, 24, 20)
    assert json.loads((whole / "summary.json").read_text())["answers"] == results.answers()
    page = (whole / "report.html").read_text()
    assert results.answers()[0] in page and digest(whole) in page and page.count("<figure") >= 9
    before = digest(whole)
    assert pic.report(whole) == whole / "report.html" and (whole / "report.html").read_text() == page
    assert pic.digest(whole)[0].startswith(before)


def test_no_particle_is_lost_and_the_walls_count(whole):
    results = pic.load(whole)
    for name in ("electrons", "ions"):
        over_sides = lambda what, name=name: sum(results[f"{name}.{what}_{d}{end}"].values for d in "xyz"
                                                 for end in ("low", "high"))
        left, gone = over_sides("left"), over_sides("left_weight")
        number = results[f"{name}.number"].values
        assert number[0] + left[0] == 12 * 20 * 9 and np.array_equal(number[:-1] - left[1:], number[1:])
        weight = results[f"{name}.weight"].values
        assert weight[:-1] - gone[1:] == pytest.approx(weight[1:], abs=1e-12)
    assert sum(results["electrons.left_xhigh"].values) > 50 > 0 == sum(results["ions.left_xhigh"].values)
    assert np.nanmax(results["gauss"].values) < 1e-12


def test_histograms_have_all_particles_by_weight(whole):
    results = pic.load(whole)
    phase, weight = results["phase"], results["electrons.weight"].values
    assert phase.values[1].sum() == pytest.approx(weight[9],
                                                  rel=1e-3) and phase.values[0].sum() == pytest.approx(0.6, rel=1e-12)
    assert phase.values[0][6:].sum() == 0  # the plasma begins in the half with x < 6
    assert results["spectrum"].values[0].sum() == pytest.approx(0.6, rel=2e-2)


def stopped(folder, after):
    """A run of the input that is told to stop when it has asked so often."""
    asked = itertools.count(1)
    stop = SimpleNamespace(requested=lambda: "SIGTERM" if next(asked) >= after else None)
    with pytest.raises(Interrupted, match="SIGTERM"):
        driver.run_on(Pic, world(), pic.Parameters.read(folder / "input.toml"), folder / "run", "input.toml", stop, Log)


def test_a_stopped_run_resumes_bitwise_identical(folder, whole):
    for after in (1, 2, 5):
        stopped(folder, after)
    assert len(list((folder / "run").glob("checkpoint.parts.*"))) == 1
    done = plaq(folder, "pic", "run", "input.toml")
    assert done.returncode == 0 and digest(folder / "run") == digest(whole), done.stderr


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
@pytest.mark.parametrize("ranks", [2, 3])
def test_results_do_not_depend_on_ranks_before_and_after_a_checkpoint(folder, whole, ranks):
    stopped(folder, 3)
    done = plaq(folder, "pic", "run", "input.toml", ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert digest(folder / "run") == digest(whole)
    name = "openpmd/data_00000020.h5"
    assert contents(folder / "run" / name) == contents(whole / name)


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
def test_a_rank_that_hangs_between_steps_is_named(folder):
    command = [*launcher_command(2), sys.executable, "-m", "plaq", "pic", "run", "input.toml", "--set", "time.end=1e5",
               "--set", "output.every=0", "--set", "output.particles=[]", "--set", "run.timeout=4"]
    running = subprocess.Popen(command, cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE,
                               env={**os.environ, "PLAQ_EXPECTED_RANKS": "2", "PLAQ_TERMINAL": ""})
    log, begun = folder / "run/log.txt", time.monotonic()
    while not (log.exists() and "seed" in log.read_text()) and time.monotonic() - begun < 60:
        time.sleep(0.05)
    time.sleep(1)  # into the steps
    last = int(subprocess.run(["pgrep", "-P", str(running.pid)], capture_output=True, text=True,
                              check=True).stdout.split()[-1])
    os.kill(last, signal.SIGSTOP)
    try:
        said = running.communicate(timeout=90)[1]
    finally:
        running.kill()
    assert running.returncode == 1 and "does not respond, and others wait for it (run.timeout = 4 s)" in said


def contents(path):
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()].tobytes()}) if isinstance(item, h5py.Dataset)
                        else None)
    return found


def test_a_killed_run_resumes_bitwise_identical(folder, whole):
    """Twice, after checkpoints that come as often as they can."""
    for _ in range(2):
        running = plaq(folder, "pic", "run", "input.toml", "--set", "run.checkpoint_every=1e-9", wait=False)
        begun = time.monotonic()
        while not (folder / "run/checkpoint.h5").exists() and running.poll() is None and time.monotonic() - begun < 60:
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
        running.wait()
    done = plaq(folder, "pic", "run", "input.toml")
    assert done.returncode == 0 and digest(folder / "run") == digest(whole), done.stderr


def test_a_finished_run_resumes_to_a_later_end(folder, whole):
    short = plaq(folder, "pic", "run", "input.toml", "--set", "time.end=6", "--set", "output.pictures=0")
    assert short.returncode == 0, short.stderr
    on = plaq(folder, "pic", "run", "input.toml", "--set", "output.pictures=0")
    assert on.returncode == 0, on.stderr
    at_once = driver.run(Pic, pic.Parameters.read(folder / "input.toml", ["output.pictures=0"]))
    found = pic.load(folder / "run")
    assert all(np.array_equal(found.recorded[name].values, one.values) for name, one in at_once.recorded.items())
    back = plaq(folder, "pic", "run", "input.toml", "--set", "time.end=6", "--set", "output.pictures=0")
    assert back.returncode == 2 and "a run resumes to a later end, never to an earlier one" in back.stderr


def test_plates_resume_bitwise_identical(tmp_path):
    """One at an angle with a flux that grows, one that space charge limits; from a checkpoint and at once."""
    def run(end, folder):
        return pic.run(pic.Parameters(
            grid={"cells": [16, 12], "length": [4, 3], "patches": [4, 3]}, time={"end": end, "step": 0.1},
            run={"workers": 1},
            fields={"solver": "electrostatic"}, boundaries={"x": "conducting", "y": "conducting",
                                                            "potential_x": [0, 0.2]},
            species={"e": {"charge": -1, "mass": 1}}, output={"pictures": 0}, emission={
                "slanted": {"species": "e", "at": [2, 1.5], "normal": [1, 2], "half_width": 0.8, "flux": "0.1*t",
                            "per_cell": 50,
                            "temperature": 0.01},
                "cathode": {"species": "e", "at": [0, 1.5], "normal": [1, 0], "half_width": 1,
                            "space_charge_limited": True,
                            "per_cell": 500}}), folder)

    run(1, tmp_path / "twice")
    found = run(2, tmp_path / "twice")
    run(2, tmp_path / "once")
    assert digest(tmp_path / "twice") == digest(tmp_path / "once") and found["e.emitted"].values.sum() > 100
    number = found["e.number"].values
    left = sum(found[f"e.left_{d}{end}"].values.sum() for d in "xyz" for end in ("low", "high"))
    assert found["e.emitted"].values.sum() - left == number[-1] and np.nanmax(found["gauss"].values) < 1e-12


@pytest.mark.parametrize("setting, words", [
    ("species.electrons.masss=2", "unknown key species.electrons.masss; did you mean species.electrons.mass?"),
    ("time.step=1", "the Courant limit"),
    ("species.electrons.density=1/(x-1)", "species.electrons.density: 1/(x-1) is below 0 at x = 0.75, y = 0.25"),
    ("species.electrons.per_cell=1e7", "species.ions.per_cell = 9 is not allowed"),
    ("fields.e=[\"1/(x-x)\", 0, 0]", "fields.e: 1/(x-x) is inf at x = "),
])
def test_errors_are_one_line_before_anything_is_written(folder, setting, words):
    done = plaq(folder, "pic", "run", "input.toml", "--set", setting)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("plaq: error: input.toml: ") or "--set" in done.stderr
    assert [path.name for path in folder.iterdir()] == ["input.toml"]


def test_check_prints_the_memory_and_work_of_a_run(folder):
    for command in (("check",), ("pic", "check")):
        done = plaq(folder, *command, "input.toml")
        assert done.returncode == 0 and "2160 macro-particles at the beginning" in done.stdout, done.stderr
        assert "ω_p = 5.64146e+13 1/s" in done.stdout and "3 x 2 = 6" in done.stdout
    too_much = plaq(folder, "pic", "check", "input.toml", "--set", "species.electrons.per_cell=10000000",
                    "--set", "species.ions.per_cell=10000000")
    assert too_much.returncode == 2 and "take more ranks" in too_much.stderr


def test_files_have_fields_and_particles_of_their_time(whole):
    series, results = pic.Series(whole), pic.load(whole)
    assert series.steps == [0, 20] and series.time(20) == pytest.approx(results.time[19])
    energy = sum(0.5 * 0.25 * np.sum(series.field(f"e{d}", 20) ** 2) for d in "xyz")
    assert energy == pytest.approx(sum(results[f"electric_{d}"].values[19] for d in "xyz"), rel=1e-10)
    found = series.particles("electrons", 0)
    # every second one stands for two
    assert found["x"].shape == (12 * 20 * 9 // 2, 2) and found["w"].sum() == pytest.approx(0.6, rel=1e-12)
    assert found["u"][:, 0].mean() == pytest.approx(0.8, abs=4 * 0.1 / np.sqrt(1080))
    with pytest.raises(InputError, match="there is no such step; there are 0, 20"):
        series.field("ex", 7)
    with pytest.raises(InputError, match="has no field jx"):
        series.field("jx", 20)
    with pytest.raises(InputError, match="has no species ions"):
        series.particles("ions", 20)
    with pytest.raises(InputError, match="has no files data_%08T.h5"):
        pic.Series(whole / "nowhere")


def test_a_plasma_at_rest_is_reported_without_warnings(tmp_path):
    """No curve has a name in a figure of its energies, and a field that is the same everywhere has no ω(k): no warning
    and no error, in Python and on the page."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = pic.run(pic.Parameters(
            grid={"cells": [16], "length": [4]}, time={"end": 1}, run={"workers": 1}, fields={"b": [0, 0, 0.5]},
            species={"e": {"charge": -1, "mass": 1, "density": 1, "per_cell": 2, "placed": "even"}},
            probe={"line": {"field": "bz", "at": [0], "along": "x"}}), tmp_path)
        for name in ("energy", "conservation", "ex", "density_e"):
            found.plot(name)


def test_damaged_files_are_one_line(whole, tmp_path):
    """A reader of changed bytes raises an error or returns the numbers that were written."""
    rng = np.random.default_rng(1)
    content, refused = (whole / "openpmd/data_00000020.h5").read_bytes(), 0
    readers = (lambda s: [s.field(name, 20) for name in ("ex", "bz", "rho")],
               lambda s: list(s.particles("electrons", 20).values()))
    right = [read(pic.Series(whole)) for read in readers]
    for _ in range(100):
        (tmp_path / "data_00000020.h5").write_bytes(damaged(content, rng)[1])
        for read, expected in zip(readers, right):
            try:
                assert all(map(np.array_equal, read(pic.Series(tmp_path)), expected))
            except InputError as error:
                assert "\n" not in str(error) and "data_00000020.h5" in str(error)
                refused += 1
    assert refused > 50
    results = (whole / "results.h5").read_bytes()
    for _ in range(20):
        (tmp_path / "results.h5").write_bytes(damaged(results, rng)[1])
        with pytest.raises(InputError, match="results.h5"):
            pic.load(tmp_path)


def test_files_follow_the_standard(whole):
    """Attributes that openPMD 1.1.0 requires of the file, of meshes and of particles."""
    with h5py.File(whole / "openpmd/data_00000020.h5") as file:
        assert file.attrs["openPMD"] == b"1.1.0"
        assert file.attrs["basePath"] == b"/data/%T/"
        assert file.attrs["openPMDextension"] == 1
        data = file["data/20"]
        assert {"time", "dt",
                "timeUnitSI"} <= set(data.attrs) and data.attrs["timeUnitSI"] == pytest.approx(1.7725907e-14)
        e = data["fields/E"]
        needed = {"geometry", "dataOrder", "axisLabels", "gridSpacing", "gridGlobalOffset", "gridUnitSI",
                  "unitDimension", "timeOffset"}
        assert needed <= set(e.attrs) and list(e.attrs["axisLabels"]) == [b"x", b"y"] and sorted(e) == ["x", "y", "z"]
        assert e["x"].attrs["position"].tolist() == [0.5,
                                                     0.0] and e["x"].attrs["unitSI"] == pytest.approx(9.6160e10,
                                                                                                      rel=1e-4)
        assert data["fields/rho"].attrs["unitDimension"].tolist() == [-3, 0, 1, 1, 0, 0, 0]
        electrons = data["particles/electrons"]
        assert {"position", "positionOffset", "momentum", "weighting", "charge", "mass", "id"} == set(electrons)
        assert electrons["charge"].attrs["value"] == -1
        assert electrons["charge"].attrs["unitSI"] == pytest.approx(1.602176634e-19)
        for record in electrons.values():
            assert {"unitDimension", "timeOffset", "weightingPower", "macroWeighted"} <= set(record.attrs)


def test_the_public_reader_reads_them(whole):
    """openPMD-viewer, where it is installed."""
    viewer = pytest.importorskip("openpmd_viewer")
    series = viewer.OpenPMDTimeSeries(str(whole / "openpmd"))
    field, info = series.get_field("E", "x", iteration=20)
    assert field.shape == (24, 20) and info.axes == {0: "x", 1: "y"}
    momentum, weight = series.get_particle(["ux", "w"], species="electrons", iteration=0)
    assert momentum.mean() == pytest.approx(0.8, abs=0.02) and weight.sum() > 0
    tracker = viewer.ParticleTracker(series, iteration=0, select={"ux": [0.9, None]}, species="electrons")
    fast, x = series.get_particle(["id", "x"], species="electrons", iteration=20, select=tracker)
    ours = series.get_particle(["id"], species="electrons", iteration=0, select={"ux": [0.9, None]})[0]
    assert len(fast) and set(fast) <= set(ours) and x.min() >= 0

"""``plaq lqcd run``: the same bits however it is carried out, and one line for what cannot be."""

import errno
import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from plaq import _core, lqcd
from plaq.comm import world
from plaq.comm.launch import launcher_command
from plaq.data import results_file
from plaq.errors import Interrupted, RunError
from plaq.files import checkpoint
from plaq.lqcd.analysis import effective_mass, folded, scale
from plaq.lqcd.application import Lqcd
from plaq.lqcd.parameters import SCHEMA, Parameters
from plaq.run import driver
from plaq.run.live import Log

ROOT = Path(__file__).parents[2]
WITH_RANKS = pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
INPUT = """[lattice]
extents = [4, 4, 2, 4]
[action]
beta = 5.7
[updates]
thermalisation = 3
configurations = 5
sweeps = 2
over_relaxations = 1
save_every = 4
[mesons]
kappa = 0.13
structures = ["gamma5", "gammaz"]
source = "noise"
sink = "smeared"
fit_from = 0
residual = 1e-6
[smearing]
ape_steps = 1
gauss_steps = 2
[loops]
space = 1
time = 2
[flow]
time = 0.2
step = 0.1
"""

HMC = """[quarks]
kappa = 0.14
mu = 0.1
csw = 1.1
masses = [0.6]
residual = 1e-9
force_residual = 1e-6
[hmc]
length = 0.5
steps = [1, 1, 1, 1]
[strange]
kappa = 0.13
range = [0.02, 5]
poles = 8
"""
FOUR = HMC.replace("csw = 1.1\n", "").split("[strange]")[0] + """[heavy]
kappa = 0.13
mu = 0.3
epsilon = 0.2
range = [0.02, 5]
poles = 8
"""
ALGORITHMS = {"heatbath": INPUT, "hmc": INPUT.replace("sweeps = 2\nover_relaxations = 1",
                                                      'sweeps = 1\nalgorithm = "hmc"') + HMC}
ALGORITHMS["2+1+1"] = ALGORITHMS["hmc"].replace(HMC, FOUR)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "input.toml").write_text(INPUT)
    return tmp_path


def plaq(folder, *arguments, ranks=None):
    launcher = launcher_command(ranks) if ranks else []
    told = {"PLAQ_EXPECTED_RANKS": str(ranks), "PLAQ_TERMINAL": ""} if ranks else {}
    return subprocess.run([*launcher, sys.executable, "-m", "plaq", "lqcd", *map(str, arguments)], cwd=folder,
                          capture_output=True, text=True, timeout=900, check=False, stdin=subprocess.DEVNULL,
                          env={**os.environ, **told})


@pytest.fixture
def again(whole, tmp_path):
    """A folder with the same input."""
    shutil.copy(whole / "input.toml", tmp_path)
    return tmp_path


def digest(folder):
    return results_file.digest_of(folder / "run/results.h5", results_file.format_of("plaq lqcd"))


@pytest.fixture(scope="module", params=ALGORITHMS)
def whole(tmp_path_factory, request):
    """The folder of a run that nothing disturbs."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "input.toml").write_text(ALGORITHMS[request.param])
    done = plaq(folder, "run", "input.toml", "--workers", 1)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_run_leaves_results_and_configurations(whole):
    findings, _, header = results_file.read(whole / "run/results.h5", results_file.format_of("plaq lqcd"))
    assert findings["meson_gamma5"].mean.shape == (4,) and (findings["meson_gamma5"].mean > 0).all()
    assert "only 5 bins" in findings["plaquette"].note and header["seed"] == 1
    energy, charge = findings["flow_energy"], findings["charge_squared"]
    assert energy.axes[0].values.tolist() == [0.1, 0.2] and (np.diff(energy.mean) < 0).all() and (charge.mean > 0).all()
    gauge = lqcd.read_ildg(whole / "run/conf.000004", lqcd.Lattice((4, 4, 2, 4)))
    assert gauge.unitarity_violation() < 1e-13
    assert sorted(path.name for path in (whole / "run").glob("conf.*")) == ["conf.000004"]
    loops = findings["wilson_loops"]
    assert loops.mean.shape == (1, 2) and np.isclose(findings["potential"].mean,
                                                     np.log(loops.mean[0, 0] / loops.mean[0, 1]))
    assert 0 < findings["rectangle"].mean < findings["plaquette"].mean and "r0" not in findings.estimates
    assert any(sentence.startswith("static potential at r = 1: ") for sentence in findings.answers())
    assert findings.recorded["polyakov"].values.shape == (5, 2) and "pcac_mass" not in findings.estimates  # T = 4
    assert any(sentence.startswith("no mass of gammaz: a fit takes errors") for sentence in findings.answers())
    assert (whole / "run/report.html").read_text().count("<svg") == (6 if "delta_h" in findings.recorded else 5)
    assert "plaquette = " in (whole / "run/report.html").read_text()
    if "hmc" in (whole / "input.toml").read_text():
        changes, accepted = findings.recorded["delta_h"].values, findings.recorded["accepted"].values
        assert len(changes) == len(accepted) == 7 and np.isclose(findings["acceptance"].mean, accepted[3:].mean())
        assert np.isclose(findings["exp_minus_delta_h"].mean, np.exp(-changes[3:]).mean(), rtol=1e-14)
    else:
        assert 0.3 < findings["plaquette"].mean < 0.8
        assert any(sentence.startswith("no t0: t^2 E is 0.0") for sentence in findings.answers())


def stopped(folder, after):
    """The run of the input in a folder, on this rank, until it has been asked so often whether to stop."""
    asked = itertools.count(1)
    stop = SimpleNamespace(requested=lambda: "SIGTERM" if next(asked) >= after else None)
    with pytest.raises(Interrupted, match="SIGTERM"):
        driver.run_on(Lqcd, world(), Parameters.read(folder / "input.toml"), folder / "run", "input.toml", stop, Log)


def test_a_stopped_run_goes_on_to_the_same_bits(again, whole):
    """On other numbers of workers and ranks too."""
    folder = again
    for after in (1, 4, 6):
        stopped(folder, after)
    done = plaq(folder, "run", "input.toml", "--workers", 1, ranks=2 if _core.comm.mpiexec() else None)
    assert done.returncode == 0, done.stderr
    assert digest(folder) == digest(whole)
    assert (folder / "run/conf.000004").read_bytes() == (whole / "run/conf.000004").read_bytes()
    assert len(list((folder / "run").glob("checkpoint.*"))) == 2


@pytest.mark.parametrize("where, error", [
    ("posix_fallocate", OSError(errno.ENOSPC, "No space left on device")),  # no room for the gauge field
    ("save", KeyboardInterrupt())])  # killed when it is written, and the rest is not
def test_a_checkpoint_that_is_not_finished_leaves_the_one_before(folder, monkeypatch, where, error):
    stopped(folder, 3)
    before = {path.name: path.read_bytes() for path in (folder / "run").glob("checkpoint.*")}

    def fails(*_):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(os if where == "posix_fallocate" else checkpoint, where, fails)
        with pytest.raises(RunError if isinstance(error, OSError) else type(error)) as raised:
            stopped(folder, 3)
    if isinstance(error, OSError):
        assert re.fullmatch(r"\S*/run/checkpoint.parts.\d+: cannot be written: no space left for it \(No space left on "
                            r"device\)", str(raised.value))
    assert before.items() <= {path.name: path.read_bytes() for path in (folder / "run").glob("checkpoint.*")}.items()
    stopped(folder, 4)
    assert len(list((folder / "run").glob("checkpoint.*"))) == 2


@pytest.mark.parametrize("harm, words", [
    (lambda path: path.write_bytes(damaged_in(path, 999)), "damaged: its checksum is"),
    (lambda path: path.unlink(), "there is no such file")])
def test_a_gauge_field_that_is_not_that_of_its_checkpoint_is_refused(folder, harm, words):
    stopped(folder, 2)
    harm(next((folder / "run").glob("checkpoint.parts.*")))
    done = plaq(folder, "run", "input.toml")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr, done.stderr
    assert done.stderr.endswith("the checkpoint beside it needs it: remove both to start this run from the beginning\n")


def damaged_in(path, byte):
    content = bytearray(path.read_bytes())
    content[byte] ^= 4
    return bytes(content)


@WITH_RANKS
@pytest.mark.parametrize("ranks, more", [(2, ()), (4, ("--set", "run.grid=[1, 2, 1, 2]"))])
def test_any_grid_of_ranks_finds_the_same_bits(again, whole, ranks, more):
    folder = again
    done = plaq(folder, "run", "input.toml", "--workers", 1, *more, ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert digest(folder) == digest(whole)


DOUBLET = ("--set", "updates.algorithm=hmc", "--set", "heavy.kappa=0.15", "--set", "heavy.mu=0.5", "--set",
           "heavy.range=[0.1, 5]", "--set", "heavy.epsilon=0.3")


@pytest.mark.parametrize("arguments, words", [
    (("--set", "lattice.extents=[4, 4, 3, 4]"), "extents are even"),
    (("--set", "lattice.extents=[4, 4, 4]"), "a list of 4 values"),
    (("--set", "action.beta=-1"), "action.beta = -1"),
    (("--set", 'mesons.structures=["gamma6"]'), "mesons.structures"),
    (("--set", "quarks.kappa=0.14"), 'quarks.kappa = 0.14 is not allowed with updates.algorithm = "heatbath"'),
    (("--set", "updates.algorithm=hmc", "--set", "hmc.steps=[4, 2]"),
     "hmc.steps = [4, 2] is not allowed: one number for each term"),
    (("--set", "updates.algorithm=hmc", "--set", "quarks.kappa=0.14", "--set", "quarks.masses=[0.5, 0.1]"),
     "masses ascend"),
    (("--set", "updates.algorithm=hmc", "--set", "strange.kappa=0.1"),
     "strange.range = unset is not allowed with strange.kappa"),
    (("--set", "heavy.kappa=0.1"), 'heavy.kappa is not allowed with updates.algorithm = "heatbath"'),
    ((*DOUBLET, "--set", "heavy.range=[2, 1]"), "heavy.range = [2.0, 1.0] is not allowed with heavy.kappa"),
    ((*DOUBLET[:-2], "--set", "heavy.range=[0.1, 5]"), "heavy.epsilon is missing: it is needed with heavy.kappa"),
    ((*DOUBLET, "--set", "heavy.epsilon=9"), "heavy.epsilon = 9 is not allowed: it is less than sqrt("),
    ((*DOUBLET, "--set", "quarks.csw=1"), "quarks.csw = 1 is not allowed with heavy.kappa: the heavy"),
    (("--set", "mesons.fit_from=1"), "mesons.fit_from = 1 is not allowed: a fit takes three points up to T/2 = 2"),
    (("--set", "loops.space=2"),
     "loops.space = 2 is not allowed with lattice.extents = [4, 4, 2, 4]: sides are at most 1"),
    (("--set", "loops.plateau=2"), "loops.plateau = 2 is not allowed: it is below loops.time = 2"),
    (("--set", "smearing.gauss_steps=0"), 'mesons.sink = "smeared" is not allowed with smearing.gauss_steps = 0'),
    (("-n", 3), "cannot be cut for 3 ranks"),
    (("--set", "run.grid=[2, 1, 1, 1]"), "run.grid = [2, 1, 1, 1]: it is for 2 ranks, and there are 1"),
])
def test_errors_are_one_line_and_leave_nothing(folder, arguments, words):
    done = plaq(folder, "run", "input.toml", *arguments)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert [path.name for path in folder.iterdir()] == ["input.toml"]


def test_quarks_that_cannot_be_inverted_end_the_run_with_a_sentence(folder):
    done = plaq(folder, "run", "input.toml", "--set", "mesons.kappa=0.125", "--set", "updates.start=cold", "--set",
                "mesons.theta=[0, 0, 0, 0]", "--set", "updates.thermalisation=0", "--set", "action.beta=1000",
                "--workers", 1)
    assert done.returncode == 1 and "cg for kappa = 0.125, mu = 0" in done.stderr and done.stderr.count("\n") == 1, (
        done.stderr)


def test_the_page_of_parameters_and_the_example_are_those_of_the_table():
    page = SCHEMA.markdown("Parameters of `plaq lqcd`")
    assert (ROOT / "docs/lqcd_parameters.md").read_text() == page, (
        "run: plaq lqcd parameters --markdown > docs/lqcd_parameters.md")
    for example in ("quenched", "dynamical"):
        assert Parameters.read(ROOT / f"examples/{example}/input.toml").action.beta == 6


def test_a_scale_is_where_t_squared_e_passes_its_level():
    t = np.arange(1, 41) / 10
    assert np.isclose(scale(t, 0.1 / t), 3) and np.isnan(scale(t, 0.01 / t)) and np.isnan(scale(t[29:], 0.1 / t[29:]))


def test_a_cosh_has_its_effective_mass():
    t = np.arange(16)
    correlator = 3 * np.cosh(0.37 * (t - 8))
    assert np.allclose(folded(correlator), correlator[:9]) and np.allclose(effective_mass(correlator), 0.37)

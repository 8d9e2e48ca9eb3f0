"""``plaq lqcd run``: the same bits however it is carried out, and one line for what cannot be."""

import errno
import itertools
import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import run_plaq

from plaq import _core, lqcd
from plaq.comm import world
from plaq.data import results_file
from plaq.errors import Interrupted, RunError
from plaq.files import checkpoint
from plaq.lqcd.application import Lqcd
from plaq.lqcd.measurements.correlators import effective_mass, fold
from plaq.lqcd.measurements.scales import t0, w0
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
[mesons.pion]
kappa = 0.13
structures = ["gamma5", "gammaz"]
source = "noise"
ape_steps = 1
gauss_source = 2
gauss_sink = 2
fit_from = 0
residual = 1e-6
[mesons.second]
kappa = 0.12
fit_from = 0
residual = 1e-6
every = 2
[loops.static]
space = 1
time = 2
ape_steps = 1
[flow.wilson]
time = 0.2
step = 0.1
"""

HMC = """[quarks.light]
kappa = 0.14
mu = 0.1
csw = 1.1
masses = [0.6]
residual = 1e-9
force_residual = 1e-6
[hmc]
length = 0.5
steps = [1, 1, 1, 1]
[quarks.strange]
flavours = 1
kappa = 0.13
csw = 1.1
range = [0.02, 5]
poles = 8
"""
FOUR = HMC.split("[quarks.strange]")[0] + """[quarks.heavy]
kappa = 0.13
csw = 1.1
mu = 0.3
epsilon = 0.2
range = [0.02, 5]
poles = 8
"""
ALGORITHMS = {"heatbath": INPUT, "hmc": INPUT.replace("sweeps = 2\nover_relaxations = 1",
                                                      'sweeps = 1\nalgorithm = "hmc"') + HMC}
ALGORITHMS["2+1+1"] = ALGORITHMS["hmc"].replace(HMC, FOUR)


def plaq(folder, *arguments, ranks=None):
    return run_plaq("lqcd", *arguments, folder=folder, ranks=ranks, timeout=900)


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
    assert findings["mesons/pion/gamma5"].mean.shape == (4,) and (findings["mesons/pion/gamma5"].mean > 0).all()
    assert "only 5 bins" in findings["plaquette"].note and header["seed"] == 1
    energy, charge = findings["flow/wilson/energy"], findings["flow/wilson/charge_squared"]
    assert energy.axes[0].values.tolist() == [0.1, 0.2] and (np.diff(energy.mean) < 0).all()
    assert (charge.mean > 0).all()
    gauge = lqcd.read_ildg(whole / "run/conf.000004", lqcd.Lattice((4, 4, 2, 4)))
    assert gauge.unitarity_violation() < 1e-13
    assert sorted(path.name for path in (whole / "run").glob("conf.*")) == ["conf.000004", "conf.000005"]
    loops = findings["loops/static/wilson_loops"]
    assert loops.mean.shape == (1, 2) and np.isclose(findings["loops/static/potential"].mean,
                                                     np.log(loops.mean[0, 0] / loops.mean[0, 1]))
    assert 0 < findings["loops/static/rectangle"].mean < findings["plaquette"].mean
    assert "loops/static/r0" not in findings.estimates
    assert any(sentence.startswith("loops.static: static potential at r = 1: ") for sentence in findings.answers())
    assert "mesons/pion/pcac_mass" not in findings.estimates  # T = 4
    assert any(sentence.startswith("mesons.pion: no mass of gammaz: a fit takes errors")
               for sentence in findings.answers())
    assert (whole / "run/report.html").read_text().count("<svg") == (10 if "delta_h" in findings.recorded else 9)
    assert "plaquette = " in (whole / "run/report.html").read_text()
    if "hmc" in (whole / "input.toml").read_text():
        changes, accepted = findings.recorded["delta_h"].values, findings.recorded["accepted"].values
        assert len(changes) == len(accepted) == 7 and np.isclose(findings["acceptance"].mean, accepted[3:].mean())
        assert np.isclose(findings["exp_minus_delta_h"].mean, np.exp(-changes[3:]).mean(), rtol=1e-14)
    else:
        assert 0.3 < findings["plaquette"].mean < 0.8
        assert any(sentence.startswith("flow.wilson: no t0: t^2 E is 0.0") for sentence in findings.answers())


SERIES = {"plaquette": (5,), "plaquette_temporal": (5,), "plaquette_spatial": (5,), "polyakov": (5, 2),
          "plaquette_planes": (5, 6),
          "loops/static/rectangle": (5,), "loops/static/wilson_loops": (5, 1, 2), "mesons/pion/gamma5": (5, 4),
          "mesons/pion/gammaz": (5, 4), "mesons/pion/gammatgamma5_gamma5": (5, 4), "mesons/second/gamma5": (2, 4),
          "mesons/second/gammatgamma5_gamma5": (2, 4), **{
              f"mesons/{name}/{quantity}": (count, *shape) for name, count in (("pion", 5), ("second", 2))
              for quantity, shape in (("gammat_gamma5", (4,)), ("conserved_gamma5", (4,)), ("ward_violation", ()))},
          "flow/wilson/energy": (5, 2),
          "flow/wilson/energy_plaquette": (5, 2), "flow/wilson/charge": (5, 2)}


def test_what_was_measured_on_each_configuration_is_kept(whole):
    """With axes, and as what the averages are made of; the last field is there, and says where it comes from."""
    findings, _, _ = results_file.read(whole / "run/results.h5", results_file.format_of("plaq lqcd"))
    series = {name: one for name, one in findings.recorded.items()
              if name not in ("delta_h", "accepted", "strange_range", "heavy_range")}
    assert {name: one.values.shape for name, one in series.items()} == SERIES
    assert series["mesons/second/gamma5"].axis("configuration").tolist() == [2, 4]
    assert all(one.axes[0].name == "configuration" and one.convention for one in series.values())
    for name in ("plaquette", "mesons/pion/gammaz", "mesons/second/gamma5", "loops/static/wilson_loops",
                 "flow/wilson/energy", "flow/wilson/energy_plaquette"):
        assert np.allclose(series[name].values.mean(axis=0), findings[name].mean, rtol=1e-14), name
    squares = (series["flow/wilson/charge"].values**2).mean(axis=0)
    assert np.allclose(squares, findings["flow/wilson/charge_squared"].mean, rtol=1e-14)
    last = lqcd.read_ildg(whole / "run/conf.000005", lqcd.Lattice((4, 4, 2, 4)))
    assert last.plaquette() == pytest.approx(series["plaquette"].values[-1], abs=1e-14)
    last.flow(0.2, 0.1)
    assert last.energy_and_charge()[0] == pytest.approx(series["flow/wilson/energy"].values[-1, 1], rel=1e-12)
    assert last.plaquette_energy() == pytest.approx(36 * (1 - last.plaquette()), rel=1e-14)
    assert last.plaquette_energy() == pytest.approx(series["flow/wilson/energy_plaquette"].values[-1, 1], rel=1e-12)
    text = (whole / "run/conf.000005").read_bytes()
    done = 3 + 4 * Parameters.read(whole / "input.toml").updates.sweeps
    assert f"\ntrajectory nr = {done}\nbeta = 5.7, ".encode() in text and b"c2_rec = 0.0\n" in text
    assert re.search(rb"lfn://plaq/[0-9a-f]{16}/conf\.000005", text)


def test_python_has_the_results_of_a_run(whole):
    found = lqcd.load(whole / "run")
    assert found["plaquette"].mean == found.recorded["plaquette"].values.mean()
    assert lqcd.digest(whole / "run")[0].split()[0] == digest(whole)
    assert lqcd.report(whole / "run") == whole / "run/report.html"
    p = lqcd.Parameters(lattice={"extents": [4, 2, 2, 2]}, action={"beta": 5.5},
                        updates={"thermalisation": 1, "configurations": 2, "sweeps": 1})
    assert lqcd.run(p)["plaquette"].mean > 0


def test_a_report_has_numbers_for_arrays(whole):
    page = (whole / "run/report.html").read_text()
    findings, _, _ = results_file.read(whole / "run/results.h5", results_file.format_of("plaq lqcd"))
    for name, where in (("mesons/pion/gamma5", {"t": 3}), ("mesons/pion/mass_gamma5", {"t": 0}),
                        ("flow/wilson/energy", {"t": 1}), ("loops/static/wilson_loops", {"r": 0, "t": 1})):
        assert f"<td>{findings[name].pick(**where)}</td>" in page
    assert "effective mass of gamma5" not in page and "t<sup>2</sup> E" in page and "a<sup>−4</sup>" in page


def test_a_chain_that_is_not_thermal_says_so(tmp_path):
    """Pure gauge, from a hot start, with so coarse steps that it is far from 0.594 and gets there slowly."""
    (tmp_path / "input.toml").write_text("[lattice]\nextents = [4, 4, 4, 4]\n[action]\nbeta = 6.0\n[updates]\n"
                                         'algorithm = "hmc"\nthermalisation = 10\nconfigurations = 40\nsweeps = 1\n'
                                         "[hmc]\nsteps = [2]\n")
    done = plaq(tmp_path, "run", "input.toml", "--workers", 1)
    words = "warning: the chain is too short or not thermalised: plaquette is 0.528(2) in its first half and 0.5663(18)"
    assert done.returncode == 0 and words in done.stdout and "plaquette = 0.5474(?)" in done.stdout
    for file in ("log.txt", "summary.json", "report.html"):
        assert words in (tmp_path / "run" / file).read_text()


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


def test_a_run_with_multigrid_goes_on_with_its_test_vectors(tmp_path):
    text = ("[lattice]\nextents = [4, 4, 4, 4]\n[action]\nbeta = 5.6\n[quarks.light]\nkappa = 0.14\nmu = 0.1\n"
            'solver = "multigrid"\naggregates = [[2, 2, 2, 2]]\n[updates]\nalgorithm = "hmc"\nthermalisation = 1\n'
            "configurations = 3\nsweeps = 1\n[hmc]\nsteps = [1, 2]\nlength = 0.1\n")
    for name in ("whole", "again"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "input.toml").write_text(text)
    stopped(tmp_path / "again", 2)
    assert {path.name for path in next((tmp_path / "again/run").glob("checkpoint.parts.*")).iterdir()} == {
        "links", "light"}
    for name in ("whole", "again"):
        done = plaq(tmp_path / name, "run", "input.toml", "--workers", 1)
        assert done.returncode == 0, done.stderr
    assert digest(tmp_path / "again") == digest(tmp_path / "whole")


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
    (lambda path: path.write_bytes(damaged_in(path, 999)), "damaged, or of another run or step"),
    (lambda path: path.unlink(), "is missing")])
def test_a_gauge_field_that_is_not_that_of_its_checkpoint_is_refused(folder, harm, words):
    stopped(folder, 2)
    harm(next((folder / "run").glob("checkpoint.parts.*")))
    done = plaq(folder, "run", "input.toml")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and words in done.stderr, done.stderr
    assert done.stderr.endswith("put the right one back, or remove run/checkpoint.h5 to start this run from the "
                                "beginning\n")


STRANGE = """[lattice]
extents = [4, 4, 2, 2]
[action]
beta = 5.7
[updates]
algorithm = "hmc"
thermalisation = 2
configurations = 3
sweeps = 1
[hmc]
length = 0.5
steps = [2, 1]
[quarks.strange]
flavours = 1
kappa = 0.13
range = [1, 5]
poles = 8
"""


def test_a_range_that_is_too_narrow_may_be_wider_when_the_run_goes_on(tmp_path):
    (tmp_path / "input.toml").write_text(STRANGE)
    done = plaq(tmp_path, "run", "input.toml", "--workers", 1)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert "from 1 to 5 is off by" in done.stderr and "a run can continue with a wider range" in done.stderr
    (tmp_path / "input.toml").write_text(STRANGE.replace("[1, 5]", "[0.02, 5]"))
    stopped(tmp_path, 3)
    (tmp_path / "input.toml").write_text(STRANGE.replace("[1, 5]", "[0.01, 6]").replace("poles = 8", "poles = 10"))
    stopped(tmp_path, 1)  # before anything is saved with it
    narrower = plaq(tmp_path, "run", "input.toml", "--set", "quarks.strange.range=[0.03, 6]")
    assert narrower.returncode == 2 and "a run can continue with a wider range" in narrower.stderr, narrower.stderr
    done = plaq(tmp_path, "run", "input.toml", "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert ("strange: inverse root of eigenvalues from 0.02 to 5 by 8 poles to 7e-09; from trajectory 3 on eigenvalues "
            "from 0.01 to 6 by 10 poles to 6e-10") in done.stdout, done.stdout
    findings, *_ = results_file.read(tmp_path / "run/results.h5", results_file.format_of("plaq lqcd"))
    assert findings.recorded["strange_range"].values.tolist() == [[0, 0.02, 5, 8], [2, 0.01, 6, 10]]
    assert len(findings.recorded["accepted"].values) == 4


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


DOUBLET = ("--set", "updates.algorithm=hmc", "--set", "quarks.heavy.kappa=0.15",
           "--set", "quarks.heavy.mu=0.5", "--set",
           "quarks.heavy.epsilon=0.3", "--set", "hmc.steps=[1, 1]", "--set", "quarks.heavy.range=[0.1, 5]")
PAIR = ("--set", "updates.algorithm=hmc", "--set", "quarks.light.kappa=0.14", "--set", "hmc.steps=[1, 1]")


@pytest.mark.parametrize("arguments, words", [
    (("--set", "lattice.extents=[4, 4, 3, 4]"), "extents must be even"),
    (("--set", "lattice.extents=[4, 4, 4]"), "a list of 4 values"),
    (("--set", "action.beta=-1"), "action.beta = -1"),
    (("--set", 'mesons.pion.structures=["gamma6"]'), "mesons.pion.structures"),
    (("--set", "quarks.light.kappa=0.14"), '[quarks.light] is not allowed with updates.algorithm = "heatbath"'),
    (("--set", "updates.algorithm=hmc", "--set", "hmc.steps=[4, 2]"),
     "hmc.steps = [4, 2] is not allowed: one number for each term"),
    ((*PAIR, "--set", "quarks.light.masses=[0.5, 0.1]"),
     "quarks.light.masses = [0.5, 0.1] is not allowed: masses ascend"),
    ((*PAIR, "--set", "quarks.light.aggregates=[[2, 2, 2, 2]]"),
     'quarks.light.aggregates = [[2, 2, 2, 2]] is not allowed with solver = "cg": it is for multigrid'),
    (("--set", "mesons.pion.solver=multigrid", "--set", "mesons.pion.aggregates=[[2, 2, 2, 2], [2, 1, 1, 1]]"),
     "[2, 2, 2, 2] does not divide [4, 4, 2, 4] into an even number of aggregates in each direction"),
    ((*PAIR, "--set", "quarks.light.range=[0.1, 5]"),
     "quarks.light.range = [0.1, 5.0] is not allowed: two quarks of one"),
    ((*PAIR, "--set", "quarks.light.masses=[0.1]", "--set", "quarks.light.kappas=[0.1, 0.12]"),
     "one for each of masses"),
    ((*PAIR, "--set", "quarks.light.flavours=1"), "quarks.light.range = unset is not allowed of one quark"),
    ((*PAIR, "--set", "quarks.light.cF=2"), 'quarks.light.cF = 2.0 is not allowed with lattice.boundary = "periodic"'),
    ((*PAIR, "--set", "quarks.light.clover=exponential"), 'clover = "exponential" is not allowed with csw = 0'),
    ((*PAIR, "--set", 'hmc.scales=["light", "gluons"]'),
     '"gluons" is no term of the action, whose terms are light, gauge'),
    ((*PAIR, "--set", 'hmc.scales=["light"]'), "gauge is missing"),
    ((*PAIR, "--set", 'hmc.scales=["light gauge", "gauge"]'), '"gauge" is there twice'),
    ((*PAIR, "--set", 'hmc.integrator=["2mn", "omf4", "2mn"]'), "one value, or one for each of 2 scales"),
    ((*PAIR, "--set", 'hmc.integrator=["omf4"]', "--set", "hmc.lambdas=[0.2]"),
     "hmc.lambdas = [0.2] is not allowed with"),
    ((*PAIR, "--set", "action.cG=2"), 'action.cG = 2 is not allowed with lattice.boundary = "periodic"'),
    ((*DOUBLET, "--set", "quarks.heavy.range=[2, 1]"),
     "quarks.heavy.range = [2.0, 1.0] is not allowed of two quarks of"),
    ((*DOUBLET, "--set", "quarks.heavy.epsilon=9"), "quarks.heavy.epsilon = 9.0 is not allowed: it is less than sqrt("),
    ((*DOUBLET, "--set", "quarks.heavy.split=[4, 4]"), "its numbers add up to poles = 12"),
    ((*DOUBLET, "--set", "quarks.heavy.history=3"), "quarks.heavy.history = 3 is not allowed of two quarks of"),
    (("--set", "lattice.boundary=open"),
     'lattice.extents = [4, 4, 2, 4] is not allowed with lattice.boundary = "open"'),
    (("--set", "lattice.boundary=open", "--set", "lattice.extents=[6, 4, 2, 4]"),
     '[loops.static] is not allowed with lattice.boundary = "open"'),
    (("--set", "mesons.pion.solver=multigrid", "--set", "mesons.pion.precision=half"),
     'mesons.pion.precision = "half" is not allowed with solver = "multigrid"'),
    (("--set", "mesons.pion.fit_from=1"),
     "mesons.pion.fit_from = 1 is not allowed: a fit takes three points up to T/2 = 2"),
    (("--set", "loops.static.space=2"),
     "loops.static.space = 2 is not allowed with lattice.extents = [4, 4, 2, 4]: sides are at most 1"),
    (("--set", "loops.static.plateau=2"), "loops.static.plateau = 2 is not allowed: it is below time = 2"),
    (("--set", "flow.wilson.every=6"), "flow.wilson.every = 6 is not allowed with updates.configurations = 5"),
    (("--set", "mesons.third.mu=0.1"), "mesons.third.kappa is missing"),
    (("--set", "mesons.kappa=0.1"), "unknown key mesons.kappa; did you mean mesons.*.kappa?"),
    (("-n", 3), "cannot be cut for 3 ranks"),
    (("--set", "run.grid=[2, 1, 1, 1]"), "run.grid = [2, 1, 1, 1]: it is for 2 ranks, and there are 1"),
])
def test_errors_are_one_line_and_leave_nothing(folder, arguments, words):
    done = plaq(folder, "run", "input.toml", *arguments)
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert [path.name for path in folder.iterdir()] == ["input.toml"]


def test_solves_are_in_the_precision_that_was_asked_for(folder):
    runs = [driver.run(Lqcd, Parameters.read(folder / "input.toml", [f"mesons.pion.precision={precision}"]))
            for precision in ("double", "single", "half")]
    found = [run["mesons/pion/gamma5"].mean for run in runs]
    assert all(np.allclose(one, found[0], rtol=1e-4) for one in found)
    assert len({one.tobytes() for one in found}) == 3


def test_quarks_that_cannot_be_inverted_end_the_run_with_a_sentence(folder):
    done = plaq(folder, "run", "input.toml", "--set", "mesons.pion.kappa=0.125", "--set", "updates.start=cold", "--set",
                "mesons.pion.theta=[0, 0, 0, 0]", "--set", "updates.thermalisation=0", "--set", "action.beta=1000",
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
    assert np.isclose(t0(t, 0.1 / t), 3) and np.isnan(t0(t, 0.01 / t)) and np.isnan(t0(t[29:], 0.1 / t[29:]))


def test_w0_is_that_of_a_known_energy():
    """t^2 E = a t + b t^2 has W = a t + 2 b t^2 exactly, by differences too; and a form that is no polynomial."""
    t = np.arange(1, 101) / 25
    a, b = 0.05, 0.02
    at = (-a + np.sqrt(a**2 + 8 * b * 0.3)) / (4 * b)
    assert np.isclose(w0(t, a / t + b), np.sqrt(at), rtol=1e-4) and np.isnan(w0(t[:50], a / t[:50] + b))
    assert np.isclose(w0(t, 0.1 * t**1.5 / t**2), np.sqrt(2 ** (2 / 3)), rtol=1e-3)  # t^2 E = 0.1 t^1.5, W = 0.15 t^1.5
    assert np.isnan(w0(t[:2], t[:2]))


def test_a_cosh_has_its_effective_mass():
    t = np.arange(16)
    correlator = 3 * np.cosh(0.37 * (t - 8))
    assert np.allclose(fold(correlator), correlator[:9]) and np.allclose(effective_mass(correlator), 0.37)

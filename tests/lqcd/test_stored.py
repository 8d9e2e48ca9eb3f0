"""Chains that go on, chains that start from files, and measurements on stored configurations."""

import shutil

import numpy as np
import pytest
from command_line import run_plaq

from plaq import _core, lqcd
from plaq.errors import InputError
from plaq.lqcd.files.info import describe

WITH_RANKS = pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
EXTENTS = (4, 4, 2, 4)
INPUT = """[lattice]
extents = [4, 4, 2, 4]
[action]
beta = 5.7
[updates]
thermalisation = 2
configurations = 4
sweeps = 1
save_every = 1
seed = 7
[mesons.pion]
kappa = 0.13
structures = ["gamma5", "gammax"]
residual = 1e-6
[loops.static]
space = 1
time = 2
[flow.wilson]
time = 0.1
step = 0.1
"""


def plaq(folder, *arguments, ranks=None):
    return run_plaq("lqcd", *arguments, folder=folder, ranks=ranks, timeout=300)


def well(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


def digest(folder):
    return lqcd.digest(folder)[-1].split()[0]


@pytest.fixture(scope="module")
def ensemble(tmp_path_factory):
    """The folder of a finished run, with all its configurations."""
    folder = tmp_path_factory.mktemp("ensemble")
    (folder / "input.toml").write_text(INPUT)
    well(plaq(folder, "run", "input.toml", "--workers", 1))
    return folder


@WITH_RANKS
def test_a_finished_chain_goes_on_as_if_more_had_been_asked_for(ensemble, tmp_path):
    """More configurations, and a table that is new, which is measured on stored ones first."""
    shutil.copytree(ensemble, tmp_path, dirs_exist_ok=True)
    longer = ("--set", "updates.configurations=6", "--set", "updates.save_every=4", "--set", "mesons.late.kappa=0.12",
              "--set", "mesons.late.every=2", "--set", "mesons.late.residual=1e-6")
    well(plaq(tmp_path, "run", "input.toml", *longer, ranks=2))
    well(plaq(tmp_path, "run", "input.toml", *longer, "--out", "whole"))
    assert digest(tmp_path / "run") == digest(tmp_path / "whole")
    for name in ("conf.000004", "conf.000006"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    for more, words in ((("--set", "flow.late.time=0.1"), "flow.late: this run has already passed configuration 5"),
                        (("--set", "mesons.late.mu=0.1"), "mesons.late.mu = 0.0 in run/input.resolved.toml, 0.1 in"),
                        (("--set", "updates.configurations=5"), "a run can continue with more configurations")):
        refused = plaq(tmp_path, "run", "input.toml", *longer, *more)
        assert refused.returncode == 2 and words in refused.stderr and refused.stderr.count("\n") == 1, refused.stderr


@WITH_RANKS
def test_stored_configurations_give_what_their_chain_measured(ensemble, tmp_path):
    shutil.copytree(ensemble, tmp_path, dirs_exist_ok=True)
    seed = ("--set", "measure.seed=7")
    out = well(plaq(tmp_path, "measure", "input.toml", "run/conf.000001", "run/conf.000002", *seed, ranks=2))
    assert "not used: [action], [updates]" in " ".join(out.split())
    late = ("--set", "flow.late.time=0.1", "--set", "flow.late.step=0.1")
    well(plaq(tmp_path, "measure", "input.toml", "run/conf.*", *seed, *late))  # two more, and a table more
    chain, stored = lqcd.load(tmp_path / "run"), lqcd.load(tmp_path / "measured")
    assert {name for name in stored.recorded if "late" not in name} == chain.recorded.keys()
    assert np.array_equal(stored.recorded["flow/late/energy"].values, stored.recorded["flow/wilson/energy"].values)
    for name, series in chain.recorded.items():
        assert np.array_equal(series.values, stored.recorded[name].values), name
    assert chain["mesons/pion/mass_gamma5"].mean.tolist() == stored["mesons/pion/mass_gamma5"].mean.tolist()
    refused = plaq(tmp_path, "measure", "input.toml", "run/conf.000002", *seed, *late)
    assert refused.returncode == 2 and "has measured conf.000001 as number 1" in refused.stderr


@pytest.mark.parametrize(("files", "words"), [
    (["nothing.*"], '"nothing.*" matches no file'),
    (["run/conf.*", "run/conf.000001"], "run/conf.000001 is named twice"),
    (["input.toml"], "neither a LIME file (ILDG, SciDAC) nor one in the format of NERSC, MILC, openQCD, HiRep"),
])
def test_files_that_cannot_be_measured_are_refused_in_a_line(ensemble, files, words):
    done = plaq(ensemble, "measure", "input.toml", *files, "--out", "none")
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1


def test_a_chain_starts_from_a_file_or_from_another_chain(ensemble, tmp_path):
    p = lqcd.Parameters(lattice={"extents": EXTENTS}, action={"beta": 5.7},
                        updates={"thermalisation": 0, "configurations": 1, "seed": 8})
    file = ensemble / "run/conf.000004"
    first = lqcd.run(p.replace(updates={"start": str(file)}), tmp_path / "file", progress=False)
    plaquette = lqcd.read_gauge(file, lqcd.Lattice(EXTENTS)).plaquettes()
    assert np.array_equal(first.recorded["plaquette"].values, [np.mean(plaquette)])
    lqcd.run(p, tmp_path / "other", start=ensemble / "run", progress=False)
    assert (digest(tmp_path / "file")) == digest(tmp_path / "other")
    lqcd.run(p, tmp_path / "other", progress=False)  # it has its own field
    with pytest.raises(InputError, match=r"updates.seed = 7: it is the seed of the chain that made .*conf.000004"):
        lqcd.run(p.replace(updates={"seed": 7}), start=ensemble / "run", progress=False)
    with pytest.raises(InputError, match='updates.start = "Hot": there is no such file; allowed are "hot", "cold"'):
        lqcd.run(p.replace(updates={"start": "Hot"}), progress=False)
    with pytest.raises(InputError, match="has no configuration"):
        lqcd.run(p, start=tmp_path, progress=False)


def test_info_says_what_a_file_holds(ensemble, tmp_path):
    file = ensemble / "run/conf.000004"
    text = describe(file)
    assert "configuration, LIME, 64 bits" in text and "lattice: 4 x 4 x 2 x 4 (t, x, y, z)" in text
    assert "beta = 5.7" in text and "links: in SU(3)" in text
    matrix = lqcd.Wilson(lqcd.read_gauge(file, lqcd.Lattice(EXTENTS)), kappa=0.12)
    lqcd.write_propagator(tmp_path / "prop", lqcd.point_propagator(matrix, (1, 2, 0, 3), 1e-6))
    text = describe(tmp_path / "prop")
    assert "propagator, 1 field of 144 complex numbers a site" in text and "source (t, x, y, z): 1 2 0 3" in text
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "damaged").write_bytes(damaged)
    with pytest.raises(InputError, match="damaged"):
        describe(tmp_path / "damaged")
    with pytest.raises(InputError, match="neither a LIME file"):
        describe(ensemble / "input.toml")


HADRONS = """[lattice]
extents = [4, 4, 2, 4]
[mesons.kept]
kappa = 0.12
kappa_2 = 0.11
keep = true
sources = 2
momenta = [[0, 0, 0], [1, 0, -1]]
residual = 1e-6
every = 2
[mesons.noise]
kappa = 0.12
mu = 0.1
source = "noise"
dilution = ["spin", "colour"]
momenta = [[0, 0, 0], [0, 1, 0]]
gauss_sink = 2
residual = 1e-6
every = 2
[baryons.kept]
kappa = 0.12
kappa_s = 0.11
keep = true
particles = ["nucleon", "lambda", "omega"]
sources = 2
residual = 1e-6
every = 2
[charges.one]
kappa = 0.12
sink_times = [2]
structures = ["gammat", "gammazgamma5"]
gauss_source = 2
gauss_sink = 1
residual = 1e-6
every = 4
[form_factors.kaon]
kappa = 0.12
kappa_2 = 0.11
sink_times = [2]
momenta = [[1, 0, -1]]
gauss_source = 2
gauss_sink = 1
residual = 1e-6
every = 4
[disconnected.some]
kappa = 0.12
probing = 2
time_dilution = 2
vectors = 2
residual = 1e-6
every = 4
"""


@WITH_RANKS
def test_hadrons_have_the_same_bits_on_any_ranks_and_share_propagators(ensemble, tmp_path):
    shutil.copytree(ensemble, tmp_path, dirs_exist_ok=True)
    (tmp_path / "hadrons.toml").write_text(HADRONS)
    measure = ("measure", "hadrons.toml", "run/conf.*", "--workers", 1, "--out")
    said = " ".join(well(plaq(tmp_path, *measure, "one")).split())
    files = sorted(path.name for path in (tmp_path / "one/propagators").iterdir())
    assert len(files) == 2 * 2 * 2 and files[0].startswith("propagator.000002.")  # configurations, sources, quarks
    well(plaq(tmp_path, *measure, "two", ranks=2))
    assert digest(tmp_path / "one") == digest(tmp_path / "two")
    for words in ("mesons.noise: Ward identity of the conserved vector current: ",
                  "charges.one: vector u t2 at tau = 1: ", "form_factors.kaon: Z_V at tau = 1: ",
                  "form_factors.kaon: vector form factor, momentum (1, 0, -1), Q^2 = "):
        assert words in said
    found = lqcd.load(tmp_path / "one")
    assert found.recorded["baryons/kept/lambda"].values.shape == (2, 4)
    assert found.recorded["disconnected/some/1"].values.shape == (1, 2, 4)
    assert found.recorded["mesons/noise/ward_violation"].values.max() < 1e-5
    # From the files, as a table that is new would take them.
    before = {name: (tmp_path / "one/propagators" / name).stat().st_mtime_ns for name in files}
    late = ("--set", "baryons.late.kappa=0.12", "--set", "baryons.late.keep=true", "--set", "baryons.late.every=2",
            "--set", "baryons.late.sources=2", "--set", "baryons.late.residual=1e-6")
    well(plaq(tmp_path, *measure, "one", *late))
    assert before == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "one/propagators").iterdir()}
    found = lqcd.load(tmp_path / "one")
    assert np.array_equal(found.recorded["baryons/late/nucleon"].values, found.recorded["baryons/kept/nucleon"].values)


@pytest.mark.parametrize("setting, words", [
    ('mesons.noise.dilution=[]', None),
    ('mesons.noise.structures=["gamma5", "gammax"]', None),
    ('mesons.noise.keep=true', 'mesons.noise.keep = true is not allowed with source = "noise"'),
    ('mesons.kept.sources=[[4, 0, 0, 0]]', "mesons.kept.sources = [[4, 0, 0, 0]] is not allowed with lattice.extents"),
    ('baryons.kept.kappa_s=none', 'baryons.kept.kappa_s is missing: it is needed for "lambda"'),
    ('charges.one.sink_times=[4]', "charges.one.sink_times = [4] is not allowed: times are below T = 4"),
    ('form_factors.kaon.sink_times=[1, 1]', "form_factors.kaon.sink_times = [1, 1] must not repeat a value"),
    ('form_factors.kaon.sink_times=[4]', "form_factors.kaon.sink_times = [4] is not allowed: times are below T = 4"),
    ('disconnected.some.probing=8', "disconnected.some.probing = 8 is not allowed"),
    ('disconnected.some.one_end=true', "disconnected.some.one_end = true is not allowed with mu = 0"),
    ('disconnected.some.time_dilution=3', "disconnected.some.time_dilution = 3 is not allowed: it divides T = 4"),
])
def test_hadrons_that_cannot_be_measured_are_refused(tmp_path, setting, words):
    (tmp_path / "hadrons.toml").write_text(HADRONS + '[measure]\nconfigurations = ["conf"]\n')
    read = lambda: lqcd.Parameters.read(tmp_path / "hadrons.toml", [setting])  # noqa: E731
    if words is None:
        assert read()
        return
    with pytest.raises(InputError) as refused:
        read()
    assert words in str(refused.value)


def test_a_wrong_header_is_ignored_if_the_input_says_so(tmp_path):
    lattice = lqcd.Lattice(EXTENTS)
    lqcd.write_ildg(tmp_path / "conf", lqcd.GaugeField(lattice).hot(seed=1))
    content = (tmp_path / "conf").read_bytes()
    at = content.index(b"plaquette = ") + 12
    (tmp_path / "conf").write_bytes(content[:at] + b"0.5" + content[at + 3:])
    p = lqcd.Parameters(lattice={"extents": list(EXTENTS)}, measure={"configurations": [str(tmp_path / "conf")]})
    with pytest.raises(InputError, match="states that its plaquette is 0.5.*; verify=False reads its links"):
        lqcd.run(p)
    found = lqcd.run(p.replace(measure={"verify": False}))
    assert abs(found.recorded["plaquette"].values[0]) < 0.2

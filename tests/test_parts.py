"""Missing parts of a build: `check` refuses an input that needs them, `plaq info` names the remedy."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from plaq import _core, machine
from plaq.cli.app import run_command
from plaq.errors import InputError, NotBuilt
from plaq.main import APPLICATIONS, app
from plaq.parts import PARTS, demand, list_parts

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"


@pytest.fixture
def plaq(monkeypatch):
    """The command line, in this process."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["plaq", *map(str, arguments)])
        return run_command(app)

    return run


@pytest.fixture
def bare(monkeypatch):
    """A build without any optional part."""
    monkeypatch.setattr(_core, "has_gpu_kernels", False)
    monkeypatch.delattr(_core, "otf2", raising=False)
    monkeypatch.setattr(_core.comm, "library_version", lambda: "")
    monkeypatch.setattr(_core.comm, "mpiexec", lambda: "")
    monkeypatch.setattr(_core.comm, "describe_mpi", lambda: {"why_none": ""})
    monkeypatch.setattr(_core.task, "backends", lambda: ["fiber", "os"])


@pytest.mark.parametrize("setting, remedy", [("run.threads=hpx", "HPX 1.10"), ('run.device="0"', "make gpu")])
@pytest.mark.parametrize("command", ["check", "run"])
def test_back_end_and_gpus_that_a_build_lacks_are_refused(plaq, bare, command, setting, remedy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=f"{setting.partition('=')[0]} = .*built without .*{remedy}"):
        plaq("dca", command, EXAMPLES / "tc_plaquette/demo.toml", "--set", setting)
    assert not list(tmp_path.iterdir())


def test_ranks_and_archives_that_a_build_lacks_are_refused(plaq, bare, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="-n 2 .*finds no MPI: apt-get install openmpi-bin"):
        plaq("dca", "run", EXAMPLES / "tc_plaquette/demo.toml", "-n", "2")
    with pytest.raises(InputError, match="built without OTF2 3: apt-get install libotf2-trace-dev"):
        demand("OTF2", "OTF2 archives are written by the OTF2 library")


def test_info_names_the_remedy_of_missing_parts(plaq, bare, capsys):
    plaq("info")
    said = capsys.readouterr().out
    for name, part in PARTS.items():
        assert f"{name + ':':<16}none: {part.remedy}\n" in said


def test_the_build_of_the_tests_has_what_two_commands_bring():
    assert not list_parts()["OTF2"].startswith("none")


def without_kernels(*arguments):
    """plaq where its C++ part was not compiled: run from the sources alone."""
    hide = ("import sys, runpy; from pathlib import Path; import plaq; from plaq import instruction_sets; "
            "instruction_sets.select_sets = lambda *_: ['x86-64-v0']; ")
    return subprocess.run([sys.executable, "-c", hide + "sys.argv = ['plaq', *sys.argv[1:]]; "
                           "from plaq.main import main; main()", *arguments],
                          capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_parameters_are_listed_without_kernels(name):
    listed = without_kernels(name, "parameters", "--markdown")
    assert listed.returncode == 0 and listed.stdout.startswith(f"# Parameters of `plaq {name}`")


def test_a_missing_c_part_is_one_sentence():
    told = without_kernels("info")
    assert told.returncode == 2 and told.stderr.count("\n") == 1
    assert "C++ part is missing for Python" in told.stderr and "make build" in told.stderr
    script = ("from plaq import instruction_sets; instruction_sets.select_sets = lambda *_: ['x86-64-v0']; "
              "import plaq; plaq.lqcd.GaugeField")
    raised = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert "NotBuilt" in raised.stderr.splitlines()[-1] and raised.stderr.count("\n") < 10
    assert issubclass(NotBuilt, ImportError)


def test_packages_list_their_public_names():
    import plaq
    from plaq import dca, lqcd, pic

    assert {"GaugeField", "Wilson", "point_propagator"} <= set(dir(lqcd))
    assert {"Parameters", "run", "load"} <= set(dir(dca)) & set(dir(pic))
    assert {"dca", "lqcd", "pic"} <= set(dir(plaq))


def test_an_installed_package_knows_its_commit(tmp_path, monkeypatch):
    build = ROOT / "build"
    if not (build / "cmake_install.cmake").exists() or not (ROOT / ".git").exists():
        pytest.skip("plaq was not built from a git checkout, in build/")
    subprocess.run(["cmake", "--install", build, "--component", "python", "--prefix", tmp_path], check=True,
                   capture_output=True, timeout=120)
    monkeypatch.setattr(machine, "__file__", str(tmp_path / "plaq/machine.py"))
    assert re.fullmatch(r"\S*[0-9a-f]{7,}\S*", machine.commit())
    (tmp_path / "plaq/commit.txt").unlink()
    assert machine.commit() == "unknown"


def test_a_build_without_mpi_asks_for_another_build_and_no_packages(bare, monkeypatch):
    why = re.search(r'why_none =\s+"(.+?)"', (ROOT / "src/plaq/comm/mpi/no_mpi.cpp").read_text())[1]
    monkeypatch.setattr(_core.comm, "describe_mpi", lambda: {"why_none": why})
    assert list_parts()["MPI"] == "none: it was built with PLAQ_MPI=off, and has to be built without that"

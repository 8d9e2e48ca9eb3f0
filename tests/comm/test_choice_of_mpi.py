"""The MPI that plaq loads: as asked for, as the launcher needs it, and none; each that this machine has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plaq import _core
from plaq.comm.launch import launcher_command

FOUND = _core.comm.describe_mpi()["library"]
# Those of wheels beside this Python (mpich's has two), and the one that is found anyway.
LIBRARIES = sorted({str(path.resolve()) for name in ("libmpi.so.40", "libmpi.so.12", "libmpi_abi.so.1")
                    for path in Path(sys.prefix, "lib").glob(name)} | ({FOUND} if FOUND else set()))
INPUT = """
[lattice]
extents = [4, 4, 2, 2]
[action]
beta = 5.7
[updates]
thermalisation = 1
configurations = 2
"""
needs_mpi = pytest.mark.skipif(not _core.comm.mpiexec(), reason="plaq finds no MPI")


def run(*command, cwd=None, **variables):
    clean = {name: value for name, value in os.environ.items() if name != "PLAQ_MPI"}
    return subprocess.run([str(word) for word in command], cwd=cwd, env=clean | variables, capture_output=True,
                          text=True, timeout=200, check=False, stdin=subprocess.DEVNULL)


def plaq(*arguments, **how):
    return run(sys.executable, "-P", "-m", "plaq", *arguments, **how)


def line(text: str, start: str) -> str:
    (found,) = [each for each in text.splitlines() if each.startswith(start)]
    return found


@needs_mpi
@pytest.mark.parametrize("library", LIBRARIES)
def test_every_mpi_gives_the_same_run(library, tmp_path):
    (tmp_path / "input.toml").write_text(INPUT)
    said = [plaq("lqcd", "run", "input.toml", "--out", f"on{ranks or 1}", *(["-n", ranks] if ranks else []),
                 cwd=tmp_path, PLAQ_MPI=library) for ranks in (None, 2)]
    assert [each.returncode for each in said] == [0, 0], said[0].stderr + said[1].stderr
    one, two = (line(each.stdout, "digest:").split()[1] for each in said)
    assert one == two
    assert "threads: " in line(said[1].stdout, "MPI:") and "threads: " not in line(said[0].stdout, "MPI:")


@pytest.mark.parametrize("library", LIBRARIES)
def test_info_names_the_library(library):
    told = line(plaq("info", PLAQ_MPI=library).stdout, "MPI:")
    assert "(libmpi" in told and f" of {Path(library).parent})" in told


@needs_mpi
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_launcher_chooses_the_library_beside_it(library):
    script = "from plaq import _core; import os; os.write(1, (_core.comm.describe_mpi()['library'] + chr(10)).encode())"
    command = [sys.executable, "-c", "from plaq.comm.launch import launcher_command; print(*launcher_command(2))"]
    launcher = run(*command, PLAQ_MPI=library).stdout.split()
    at = next((i for i, word in enumerate(launcher) if word.startswith("PLAQ_MPI=")), None)
    if at is not None:
        del launcher[at - 1:at + 1]
    chosen = run(*launcher, sys.executable, "-c", script, PLAQ_TERMINAL="", PLAQ_EXPECTED_RANKS="2")
    assert chosen.returncode == 0, chosen.stderr
    first, second = chosen.stdout.split()
    # The wheel of MPICH has two.
    assert first == second and Path(first).parent == Path(library).parent


def test_without_mpi_there_is_one_rank(tmp_path):
    (tmp_path / "input.toml").write_text(INPUT)
    told = line(plaq("info", PLAQ_MPI="none").stdout, "MPI:")
    assert "none: " in told and told.endswith("(PLAQ_MPI is none)")
    assert plaq("lqcd", "run", "input.toml", "--out", "run", cwd=tmp_path, PLAQ_MPI="none").returncode == 0
    refused = plaq("lqcd", "run", "input.toml", "--out", "no", "-n", 2, cwd=tmp_path, PLAQ_MPI="none")
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and "finds no MPI" in refused.stderr


@pytest.mark.parametrize("name, why", [
    ("intel", "PLAQ_MPI is 'intel'; it may be openmpi, mpich, abi, none, or the path of a library"),
    ("/nowhere/libmpi.so.40", "PLAQ_MPI is /nowhere/libmpi.so.40, which cannot be loaded: "),
    (_core.__file__, "is no MPI that plaq can load"),
])
def test_a_wrong_choice_is_one_line(name, why):
    told = plaq("info", PLAQ_MPI=name)
    assert told.returncode == 2 and told.stderr.count("\n") == 1 and why in told.stderr


@needs_mpi
def test_ranks_without_a_common_world_say_so_once(tmp_path):
    (tmp_path / "input.toml").write_text(INPUT)
    launcher = ["PLAQ_MPI=none" if word.startswith("PLAQ_MPI=") else word for word in launcher_command(3)]
    command = [*launcher, sys.executable, "-P", "-m", "plaq", "lqcd", "run", "input.toml", "--out", "run"]
    job = run(*command, cwd=tmp_path, PLAQ_MPI="none", PLAQ_TERMINAL="", PLAQ_EXPECTED_RANKS="3")
    assert job.returncode == 2
    (said,) = [each for each in job.stderr.splitlines() if "plaq: error" in each]
    assert "with 3 ranks, but plaq has no MPI: PLAQ_MPI is none" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("order", ["from mpi4py import MPI; from plaq.comm import world",
                                   "import plaq.comm; plaq.comm.library_version(); from mpi4py import MPI; "
                                   "from plaq.comm import world",
                                   "from plaq.comm import world; world(); from mpi4py import MPI"])
@needs_mpi
def test_mpi4py_and_plaq_share_one_mpi(order):
    pytest.importorskip("mpi4py")
    script = (f"{order}; a, b = MPI.COMM_WORLD, world(); from plaq import _core, comm; import os; "
              "assert comm.library_version() in MPI.Get_library_version().replace(chr(9), ' ').replace('      ', ' '); "
              "os.write(1, f'{a.rank == b.rank} {a.size} {b.size}\\n'.encode())")
    job = run(*launcher_command(2), sys.executable, "-c", script, PLAQ_TERMINAL="", PLAQ_EXPECTED_RANKS="2")
    assert job.returncode == 0, job.stderr
    assert job.stdout == "True 2 2\n" * 2

"""The C++ libraries by themselves: installed, found by CMake, and used by the example that the documentation shows."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plaq.comm import library_version
from plaq.comm.launch import launcher_command
from plaq.trace import read

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples/libraries"
BUILD = Path(os.environ.get("PLAQ_BUILD", ROOT / "build"))
LIBRARIES = ["base", "trace", "task", "batch", "comm", "collection", "fft"]
CMAKE = shutil.which("cmake")

pytestmark = pytest.mark.skipif(
    not CMAKE or not all((BUILD / f"src/plaq/{part}/libplaq_{part}.a").exists() for part in LIBRARIES),
    reason=f"no CMake, or no C++ libraries in {BUILD}",
)


def cmake(*arguments):
    return subprocess.run([CMAKE, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)


def built_with(name: str) -> str:
    """A variable of the C++ build."""
    return re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)[1]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("installed")
    done = cmake("--install", BUILD, "--component", "libraries", "--prefix", prefix)
    assert done.returncode == 0, done.stderr
    return prefix


@pytest.fixture(scope="module")
def example(tree, tmp_path_factory):
    """The folder in which examples/libraries is built."""
    folder = tmp_path_factory.mktemp("example")
    done = cmake("-S", EXAMPLE, "-B", folder, f"-DCMAKE_PREFIX_PATH={tree}", "-DCMAKE_BUILD_TYPE=Release",
                 "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DCMAKE_CXX_COMPILER={built_with('CMAKE_CXX_COMPILER')}")
    assert done.returncode == 0, done.stderr
    done = cmake("--build", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def configured(tree, folder, find, *options):
    """Return CMake's output for a project that has `find` in it."""
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)\n{find}\n")
    done = cmake("-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={tree}", "-Wno-dev", *options)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def energy(said: str) -> str:
    return re.search(r"E/N = (\S+), error", said)[1]


def test_the_example_finds_the_energy_for_any_number_of_workers_and_ranks(example, tmp_path):
    runs = {name: [example / "ising", tmp_path / name, *how] for name, how in
            {"one": ["fiber", "1"], "three": ["fiber", "3"], "threads": ["os", "2"]}.items()}
    if library_version():
        runs["ranks"] = [*launcher_command(3), *runs["three"]]
        runs["ranks"][-3] = tmp_path / "ranks"
    said = {}
    for name, command in runs.items():
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        said[name] = done.stdout
        t = read(tmp_path / name)
        assert len(t.ranks) == (3 if name == "ranks" else 1)
        assert [t.names[r["name"]] for r in t.regions].count("chain") == 32
    assert len({energy(each) for each in said.values()}) == 1
    mean, error, exact = map(float, re.search(r"= (\S+), error (\S+), exact (\S+)\n", said["one"]).groups())
    assert abs(mean - exact) < 4 * error
    assert energy(said["one"]) in (EXAMPLE / "README.md").read_text()


def test_a_program_gives_its_own_communicators(example):
    """The MPI is that of the program, which need not be the one that plaq would choose."""
    if not (example / "cartesian").exists():
        pytest.skip("CMake finds no MPI for programs")
    launcher = re.search(r"^MPIEXEC_EXECUTABLE:\w+=(.*)$", (example / "CMakeCache.txt").read_text(), re.M)[1]
    variables = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                 "OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    done = subprocess.run([launcher, "-n", "4", str(example / "cartesian")], capture_output=True, text=True,
                          timeout=100, check=False, env=os.environ | variables | {"PLAQ_EXPECTED_RANKS": "4"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout in (EXAMPLE / "README.md").read_text()


@pytest.mark.skipif(not library_version(), reason="plaq finds no MPI")
def test_a_rank_that_cannot_write_its_trace_ends_the_job(example, tmp_path):
    (tmp_path / "rank-0001.plaqtrace").touch()
    done = subprocess.run([*launcher_command(2), str(example / "ising"), str(tmp_path)], capture_output=True,
                          text=True, timeout=100, check=False)
    assert done.returncode == 2 and "rank-0001.plaqtrace" in done.stderr
    assert "rank 1 of 2 ended with exit code 2, which ended the job" in done.stderr


def test_a_collection_finds_the_same_heat_for_any_number_of_workers_and_ranks(example):
    runs = [[example / "heat"], [example / "heat", "os", "3"]]
    if library_version():
        runs.append([*launcher_command(3), example / "heat", "fiber", "2"])
    said = [subprocess.run([str(c) for c in run], capture_output=True, text=True, timeout=100, check=True).stdout
            for run in runs]
    heat = {re.search(r"centre (\S+),", each)[1] for each in said}
    assert len(heat) == 1 and heat.pop() in (EXAMPLE / "README.md").read_text()
    assert all(float(after) <= float(before) + 1e-9 for each in said
               for before, after in re.findall(r"imbalance (\S+), then (\S+),", each))


def test_the_stencil_of_the_tutorial_has_the_bits_of_its_plain_mpi(example):
    bits = re.findall(r"bits (\S+)", (EXAMPLE / "README.md").read_text())
    assert len(bits) == 2 and bits[0] == bits[1]
    runs = [[example / "flame"]]
    if library_version():
        runs.append([*launcher_command(2), example / "flame"])
    if (example / "flame_mpi").exists():
        runs.append([example / "flame_mpi"])
    for run in runs:
        said = subprocess.run([str(c) for c in run], capture_output=True, text=True, timeout=100, check=True).stdout
        assert re.search(r"bits (\S+)", said)[1] == bits[0]


def test_transforms_solve_poissons_equation_for_any_number_of_workers_and_ranks(example):
    runs = [[example / "poisson"], [example / "poisson", "os", "3"]]
    if library_version():
        runs.append([*launcher_command(3), example / "poisson", "fiber", "2"])
    for run in runs:
        said = subprocess.run([str(c) for c in run], capture_output=True, text=True, timeout=100, check=True).stdout
        assert float(re.fullmatch(r"phi is exact to (\S+), on [13] ranks\n", said)[1]) < 1e-13


def test_a_wrong_call_is_refused_in_one_line(example, tmp_path):
    done = subprocess.run([example / "ising", tmp_path / "t", "green"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "'green'; this build has: fiber" in done.stderr


def test_options_of_plaqs_own_sources_do_not_apply_to_users(example, tree):
    for command in [one["command"] for one in json.loads((example / "compile_commands.json").read_text())]:
        assert "-std=" in command and (str(tree) in command or "flame_mpi" in command)
        assert not re.search(r" -(march|W\w|fstack-\w|fno-\w)", command), command
    for file in (tree / "lib").rglob("*.cmake") if (tree / "lib").exists() else tree.rglob("*.cmake"):
        text = file.read_text()
        assert str(ROOT) not in text and str(BUILD) not in text, f"{file} names the folder that it was built in"


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="no pkg-config")
def test_pkg_config_knows_all_components(tree, tmp_path):
    folder = next(tree.rglob("pkgconfig"))
    environment = os.environ | {"PKG_CONFIG_PATH": str(folder)}

    def asked(*words):
        done = subprocess.run(["pkg-config", *words], capture_output=True, text=True, check=True, env=environment)
        return done.stdout.split()

    assert sorted(file.stem for file in folder.iterdir()) == sorted(f"plaq-{part}" for part in LIBRARIES)
    assert asked("--modversion", "plaq-fft")[0].startswith("0.")
    flags = asked("--cflags", "--libs", *(f"plaq-{part}" for part in LIBRARIES))
    command = [built_with("CMAKE_CXX_COMPILER"), EXAMPLE / "poisson.cpp", "-o", tmp_path / "poisson", *flags]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    said = subprocess.run([tmp_path / "poisson"], capture_output=True, text=True, timeout=100, check=True).stdout
    assert said.startswith("phi is exact to ")


@pytest.mark.parametrize("find, options, said", [
    ("find_package(plaq REQUIRED COMPONENTS task pic)", [],
     f"plaq has no component 'pic'; it has: {';'.join(LIBRARIES)}"),
    ("find_package(plaq 99 REQUIRED)", [], "compatible with requested version"),
    ("find_package(plaq REQUIRED COMPONENTS trace)", ["-DCMAKE_DISABLE_FIND_PACKAGE_Random123=ON"],
     "plaq::base needs Random123's headers (Debian"),
    ("find_package(plaq REQUIRED COMPONENTS task)", ["-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON"],
     "plaq::task needs Boost.Context 1.74 or later (Debian"),
])
def test_missing_parts_are_reported_in_one_line(tree, tmp_path, find, options, said):
    code, output = configured(tree, tmp_path / "user", find, *options)
    assert code != 0 and said in output
    assert output.count("CMake Error") == 1


def test_a_component_asks_for_no_more_than_it_needs(tree, tmp_path):
    found = 'message("found ${plaq_FOUND} ${plaq_task_FOUND} ${plaq_comm_FOUND}")'
    code, output = configured(
        tree, tmp_path / "user", f"find_package(plaq REQUIRED COMPONENTS trace OPTIONAL_COMPONENTS task)\n{found}",
        "-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON")
    assert code == 0 and "found TRUE FALSE" in output.replace("found 1", "found TRUE")


def test_no_mpi_is_asked_for(tree, tmp_path):
    """plaq loads the one that the machine has."""
    code, output = configured(tree, tmp_path / "user", "find_package(plaq REQUIRED COMPONENTS comm)",
                              "-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON")
    assert code == 0, output


def test_headers_stand_alone(tree, tmp_path):
    """All that they include is installed; those that no source of plaq's own includes first are compiled by
    themselves."""
    include = tree / "include"
    headers = sorted(str(h.relative_to(include)) for h in include.rglob("*.hpp"))
    for header in headers:
        for name in re.findall(r'^#include "(.+)"', (include / header).read_text(), re.M):
            assert (include / name).exists(), f"{header} includes {name}, which is not installed"
    compiler = built_with("CMAKE_CXX_COMPILER")

    def alone(header):
        return header, subprocess.run(
            [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-x", "c++", "-", f"-I{include}"],
            input=f'#include "{header}"\n', capture_output=True, text=True, timeout=100, check=False).stderr

    own = [h for h in headers if not (ROOT / "src" / h).with_suffix(".cpp").exists()
           and h != "plaq/comm/job/from_mpi.hpp"]  # needs mpi.h; the example includes it
    assert {"plaq/task/task.hpp", "plaq/base/random.hpp"} <= set(own)
    with ThreadPoolExecutor(2) as two:
        assert not {header: said for header, said in two.map(alone, own) if said}


def test_the_wheel_has_none_of_it(tmp_path):
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]
    assert wheel["install"]["components"] == ["python"]
    if not list(BUILD.glob("bindings/_core*.so")):
        pytest.skip("the Python module is not built")
    done = cmake("--install", BUILD, "--component", "python", "--prefix", tmp_path)
    assert done.returncode == 0, done.stderr
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert {file.name for file in files if file.suffix not in (".so", ".pyi")} <= {"commit.txt"}
    assert any(file.suffix == ".so" for file in files)

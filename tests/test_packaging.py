"""`make` on other machines: no packages, no MPI, no Boost, an old pip, another system."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGING = ROOT / "packaging"
SPACK = PACKAGING / "spack/spack_repo/plaq/packages/plaq/package.py"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOOLS = "bash sed cut sort tr grep printf env cat id tail wc mkdir make uname sh".split()


@pytest.fixture
def machine(tmp_path):
    """Folder that is the whole PATH of a machine: a few tools, and the programs that a test adds by `put`."""

    class Machine:
        path = tmp_path / "bin"

        def put(self, name, script):
            file = self.path / name
            file.write_text(f"#!{shutil.which('bash')}\n{script}\n")
            file.chmod(0o755)

        def run(self, *command, **variables):
            environment = {"PATH": str(self.path), "PYTHON": sys.executable, "HOME": str(tmp_path), **variables}
            return subprocess.run(command, env=environment, cwd=ROOT, text=True, timeout=60, check=False,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

        def look(self, purpose="build", **variables):
            return self.run("bash", str(PACKAGING / "install-deps.sh"), purpose, **variables)

    made = Machine()
    made.path.mkdir()
    for tool in TOOLS:
        (made.path / tool).symlink_to(shutil.which(tool))
    return made


def compiler(lacks="nothing"):
    """A compiler that does not find headers whose name has ``lacks`` in it."""
    return f'read -r first; case $first in *{lacks}*) exit 1;; esac; exit 0'


def test_nothing_is_asked_for_where_all_is_there(machine):
    machine.put("c++", compiler())
    machine.put("mpiexec", "exit 0")
    machine.put("apt-get", "echo asked; exit 1")
    found = machine.look()
    assert (found.returncode, found.stdout) == (0, "")


def test_without_a_package_manager_missing_parts_are_named_for_each_system(machine):
    machine.put("c++", compiler(lacks="boost"))
    found = machine.look()
    assert found.returncode == 1
    assert "Boost.Context" in found.stdout and "Random123" not in found.stdout
    for word in ("libboost-context-dev", "boost-devel", "libboost-devel", "boost+context", "module load"):
        assert word in found.stdout


def test_no_compiler_at_all(machine):
    found = machine.look()
    assert found.returncode == 1
    assert "C++20 compiler" in found.stdout and "gcc-c++" in found.stdout


def test_an_old_python_is_named(machine):
    machine.put("c++", compiler())
    machine.put("old", "exit 1")
    found = machine.look(PYTHON="old")
    assert found.returncode == 1 and "Python 3.11 or later" in found.stdout


def test_libraries_of_an_environment_are_found(machine):
    machine.put("c++", 'read -r first; case "$*" in *-I/opt/s/include*-I/envs/e/include*) exit 0;; esac; exit 1')
    machine.put("mpiexec", "exit 0")
    assert machine.look(CONDA_PREFIX="/envs/e", CMAKE_PREFIX_PATH="/opt/s").returncode == 0


def test_a_missing_mpi_is_no_error(machine):
    """It comes as a wheel."""
    machine.put("c++", compiler())
    assert machine.look().returncode == 0
    asked = machine.run(sys.executable, "-I", str(PACKAGING / "requirements.py"), "build")
    assert "mpich" in asked.stdout and "cmake" in asked.stdout and "ninja" in asked.stdout
    machine.put("mpiexec", "exit 0")
    machine.put("ninja", "exit 0")
    machine.put("cmake", "echo cmake version 3.25.1")
    asked = machine.run(sys.executable, "-I", str(PACKAGING / "requirements.py"), "build")
    assert not {"mpich", "cmake", "ninja"} & set(re.findall(r"^\w+", asked.stdout, re.M))
    machine.put("cmake", "echo cmake version 3.22.1")
    asked = machine.run(sys.executable, "-I", str(PACKAGING / "requirements.py"), "build")
    assert "cmake" in asked.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="apt-get is used by root")
def test_only_missing_parts_are_installed_and_the_rest_is_reported(machine):
    machine.put("c++", compiler(lacks="Random123"))
    machine.put("mpiexec", "exit 0")
    machine.put("apt-get", 'echo "asked $*"')
    found = machine.look()
    assert found.returncode == 1  # this apt-get installs nothing
    asked = re.findall(r"asked install .*", found.stdout)
    assert len(asked) == 1 and asked[0].split()[-1] == "librandom123-dev" and "g++" not in asked[0]
    assert "plaq: not found:\n  Random123" in found.stdout


def test_a_build_asks_for_nothing_that_only_tests_use(machine):
    machine.put("c++", compiler(lacks="gtest"))
    assert machine.look("build").returncode == 0
    found = machine.look("test")
    assert found.returncode == 1
    assert "GoogleTest" in found.stdout and "Graphviz" in found.stdout and "otf2-tools" in found.stdout


def steps(target, machine):
    """The commands of a target."""
    machine.put("python3", f'exec {sys.executable} "$@"')
    shown = machine.run("make", "-n", "-B", target)
    assert shown.returncode == 0, shown.stdout
    return [shlex.split(line) for line in shown.stdout.replace("\\\n", "").splitlines() if line.strip()]


def test_the_pip_that_a_new_environment_has_knows_the_options(machine, tmp_path):
    """Debian 12 has 23.0, which knows no -C."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    calls = [words[words.index(".venv/bin/pip"):] for target in ("demo", "test") for words in steps(target, machine)
             if ".venv/bin/pip" in words]
    assert len(calls) >= 4
    options = {word for call in calls for word in call if word.startswith("-")}
    asked = subprocess.run([tmp_path / "env/bin/pip", "install", *sorted(options - {"-e", "-r"}), "--help"],
                           capture_output=True, text=True, timeout=120, check=False)
    assert asked.returncode == 0, asked.stderr
    for page in (ROOT / "Makefile", *PACKAGING.rglob("*"), *ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        if page.is_file() and "pip" in (text := page.read_text()):
            assert not re.search(r"\s-C\s?[a-z]+\.", text), page


def test_a_step_reports_its_progress_and_fails_with_the_error(machine, tmp_path):
    (tmp_path / "build").mkdir()
    step = [shutil.which("bash"), PACKAGING / "step.sh"]

    def run(script):
        return subprocess.run([*step, "compiling", "bash", "-c", script], cwd=tmp_path, capture_output=True, text=True,
                              timeout=60, check=False)

    good = run("for i in $(seq 40); do echo \"[$i/40] Building $i\"; done")
    assert good.returncode == 0 and "20 of 40" in good.stdout and "Building" not in good.stdout
    assert re.search(r"plaq: compiling: done in \d+ s\n$", good.stdout)
    assert "Building 40" in (tmp_path / "build/make.log").read_text()
    bad = run("echo '[1/2] walker.cpp'; echo 'walker.cpp:3: error: expected ;' >&2; exit 7")
    assert bad.returncode == 7 and "expected ;" in bad.stderr and "build/make.log" in bad.stderr


def test_one_version_everywhere():
    from plaq import __version__

    cmake = re.search(r"project\(plaq VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    cited = re.search(r"^version: (\S+)", (ROOT / "CITATION.cff").read_text(), re.M)[1]
    conda = re.search(r'^  version: "(\S+)"', (PACKAGING / "conda/recipe.yaml").read_text(), re.M)[1]
    (easybuild,) = (PACKAGING / "easybuild").glob("plaq-*.eb")
    eb = re.search(r"^version = '(\S+)'", easybuild.read_text(), re.M)[1]
    assert {__version__, PROJECT["project"]["version"], cmake, cited, conda, eb} == {__version__}
    assert easybuild.name.startswith(f"plaq-{__version__}-")


def lower_bounds(names):
    """Name and oldest version of requirements as pip has them."""
    return dict(re.fullmatch(r"([\w-]+)>=([\d.]+)(?:,<[\d.]+)?", line).groups() for line in names)


def test_every_recipe_has_every_dependency_and_its_oldest_version():
    running = lower_bounds(PROJECT["project"]["dependencies"])
    building = lower_bounds(PROJECT["build-system"]["requires"])
    for page in ("conda/environment.yml", "conda/recipe.yaml"):
        conda = (PACKAGING / page).read_text().replace("matplotlib-base", "matplotlib")
        for name, oldest in (running | building).items():
            assert re.search(rf"- {name} >={oldest}$", conda, re.M), f"{page} lacks {name} >={oldest}"
    spack = SPACK.read_text()
    for name, oldest in (running | building).items():
        assert f'"py-{name}@{oldest}:"' in spack, f"the Spack recipe lacks py-{name}@{oldest}:"
    (easybuild,) = (PACKAGING / "easybuild").glob("plaq-*.eb")
    for name in running | building:
        assert re.search(rf"\b{name}\b", easybuild.read_text()), f"{easybuild.name} lacks {name}"


def asked_packages(machine, purpose):
    """Packages that a bare Debian is asked to install."""
    machine.put("c++", "exit 1")
    machine.put("bare", "exit 1")
    machine.put("apt-get", 'echo "asked $*"')
    found = machine.look(purpose, PYTHON="bare")
    lines = re.findall(r"^asked install (.*)", found.stdout, re.M)
    return {word for line in lines for word in line.split() if not word.startswith("-")}


@pytest.mark.skipif(os.geteuid() != 0, reason="apt-get is used by root")
def test_a_build_asks_for_all_that_every_application_and_trace_needs(machine):
    """`make demo` on a bare Debian installs OTF2 too, which the tests then find."""
    assert asked_packages(machine, "build") >= {"g++", "python3", "python3-venv", "python3-dev", "libboost-context-dev",
                                                "librandom123-dev", "libotf2-trace-dev", "openmpi-bin"}


@pytest.mark.skipif(os.geteuid() != 0, reason="apt-get is used by root")
def test_tests_ask_for_no_library_of_plaq_s_own(machine):
    """Else they would try a plaq that users do not have. Headers of MPI serve programs of the tests alone."""
    assert asked_packages(machine, "test") == {"libgtest-dev", "otf2-tools", "graphviz", "doxygen",
                                               "libopenmpi-dev"}


def test_missing_optional_parts_are_reported_in_one_line(machine):
    machine.put("c++", compiler(lacks="otf2"))
    machine.put("mpiexec", "exit 0")
    found = machine.look()
    assert (found.returncode, found.stdout.count("\n")) == (0, 1)
    assert "OTF2 3: no timelines" in found.stdout


def test_a_need_without_a_name_on_some_system_is_reported(machine):
    """Fedora's Python has venv and pip inside."""
    machine.put("c++", compiler())
    machine.put("mpiexec", "exit 0")
    machine.put("bare", 'case "$*" in *ensurepip*) exit 1;; esac; exit 0')
    found = machine.look(PYTHON="bare")
    assert found.returncode == 1 and "Python's venv and pip" in found.stdout and "python3-venv" in found.stdout


def test_recipes_have_every_library():
    """As `install-deps.sh build` asks for it, by the name that each system gives it."""
    rows = re.findall(r'^  "[^|]+\|[^|]+\|([^|]*)\|[^|]*\|([^|]*)\|([^|"]*)"$',
                      (PACKAGING / "install-deps.sh").read_text().partition("used_by_tests")[0], re.M)
    conda = (PACKAGING / "conda/environment.yml").read_text()
    spack = SPACK.read_text()
    assert len(rows) == 9
    for debian, in_conda, in_spack in rows:
        for name in in_conda.split():
            assert name == "-" or re.search(rf"- {re.escape(name)}\b", conda), f"environment.yml lacks {name}"
        library = re.split(r"[+@]", in_spack)[0]
        if debian.startswith("lib"):
            assert f'depends_on("{library}' in spack, f"the Spack recipe lacks {library}"
    assert "install-deps.sh build" in (PACKAGING / "Containerfile").read_text()


def test_an_archive_of_the_sources_holds_their_commit(tmp_path, monkeypatch):
    from plaq import machine

    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    packed = subprocess.run(["git", "archive", "HEAD", "packaging/commit.txt"], cwd=ROOT, capture_output=True,
                            check=True)
    subprocess.run(["tar", "-x", "-C", tmp_path], input=packed.stdout, check=True)
    monkeypatch.setattr(machine, "__file__", str(tmp_path / "python/plaq/machine.py"))
    assert machine.commit() == head.strip()
    (tmp_path / "packaging/commit.txt").write_text((PACKAGING / "commit.txt").read_text())
    assert machine.commit() == "unknown"


def test_a_python_that_cannot_build_wheels_is_named(tmp_path):
    """Only those that PYTHONS names: others are passed over."""
    asked = subprocess.run([PACKAGING / "wheel.sh"], env={**os.environ, "PYTHONS": "python2.9"}, capture_output=True,
                           text=True, timeout=60, check=False)
    assert asked.returncode == 1 and asked.stderr.startswith("error: no wheel can be built with python2.9: ")


def test_the_script_that_tries_a_wheel_says_what_it_takes():
    asked = subprocess.run([PACKAGING / "try-wheel.sh"], capture_output=True, text=True, timeout=60, check=False)
    assert asked.returncode == 2 and "try-wheel.sh WHAT [FOLDER]" in asked.stderr


def test_the_c_part_is_found_by_the_stable_interface_too(tmp_path):
    """The wheel for Python 3.12 and later has it by that name alone."""
    from plaq import _core

    built = Path(_core.__file__)
    placed = tmp_path / "kernels" / built.parent.name / f"_core.abi{sys.version_info.major}.so"
    placed.parent.mkdir(parents=True)
    placed.symlink_to(built)
    script = f"import plaq; plaq.__path__.insert(0, {str(tmp_path)!r}); from plaq import _core; print(_core.__file__)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert found.stdout.strip() == str(placed), found.stderr

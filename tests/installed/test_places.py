"""An installed plaq in places that a checkout never is: other users' folders, unwritable ones, other names.

packaging/try-wheel.sh has those that every wheel is tried in.
"""

import os

import pytest

INPUT = """
[lattice]
extents = [4, 4, 4, 4]
[action]
beta = 5.7
[updates]
thermalisation = 1
configurations = 2
"""


@pytest.fixture
def place(tmp_path):
    (tmp_path / "input.toml").write_text(INPUT)
    return tmp_path


def tree(folder):
    """Path, size and time of change of all files but Python's own cache."""
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts}


@pytest.mark.parametrize("ranks", [[], ["-n", "2"]], ids=["one rank", "two ranks"])
def test_a_run_needs_no_environment_that_is_activated(installed, place, ranks):
    """By its path, as in a crontab; and the package stays as it was."""
    before = tree(installed.package)
    done = installed.plaq("lqcd", "run", "input.toml", *ranks, folder=place, PATH="/usr/bin:/bin", PYTHONOPTIMIZE="2")
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert tree(installed.package) == before


def test_a_link_to_the_command_is_the_command(installed, place):
    (place / "bin").mkdir()
    (place / "bin/plaq").symlink_to(installed.bin / "plaq")
    done = installed.run(place / "bin/plaq", "lqcd", "check", "input.toml", folder=place)
    assert done.returncode == 0, done.stderr


def test_an_environment_that_cannot_be_written_is_used(installed, place):
    """Neither package nor home, as on a cluster; those without rights are no root, who may write everywhere."""
    no_rights = ["/usr/bin/setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]
    folders = [installed.package, *(path for path in installed.package.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = installed.run(*no_rights * (os.geteuid() == 0), installed.bin / "plaq", "lqcd", "run", "input.toml",
                             folder=place, HOME="/proc/nobody")
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert done.returncode == 0, done.stderr


def test_a_working_directory_that_cannot_be_written_is_one_sentence(installed, place):
    done = installed.plaq("lqcd", "run", place / "input.toml", folder="/proc")
    assert done.returncode in (1, 2) and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr

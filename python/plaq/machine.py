"""What this process may use of the machine, and what it was built with."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from plaq import __version__


def workers_of(wanted: int | str, ranks: int) -> int:
    """Worker threads of this rank: the number that the input gives, or for "auto" a fair share of the physical
    cores.

    Ranks on this machine are counted from what MPI launchers set in the environment; without that, all are.
    """
    if wanted != "auto":
        return int(wanted)
    from plaq import _core

    for name in ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"):
        ranks = int(os.environ.get(name, ranks))
    return max(1, _core.task.physical_cores() // ranks)


def commit() -> str:
    """The commit of the source tree that this package runs from; "unknown" when it is not run from one."""
    package = Path(__file__).resolve().parent
    root = package.parent.parent
    if package != root / "python" / "plaq" or not (root / ".git").exists():
        return "unknown"
    try:
        asked = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return asked.stdout.strip()


def build() -> dict[str, Any]:
    """Version, commit, BLAS core in use, MPI, thread back ends, Python and processor of this build, as short
    texts."""
    from plaq import _core

    return {
        "version": __version__,
        "commit": commit(),
        "BLAS core": _core.linalg.blas_core(),
        "MPI": _core.comm.library_version() or "none (serial build)",
        "threads": ", ".join(_core.task.backends()),
        "Python": platform.python_version(),
        "processor": processor(),
        "physical cores": _core.task.physical_cores(),
    }


def processor() -> str:
    """The processor's name, or its architecture when the system does not say."""
    cpuinfo = Path("/proc/cpuinfo")
    for line in cpuinfo.read_text().splitlines() if cpuinfo.exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()

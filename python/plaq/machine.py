"""What this process may use of the machine, and what it was built with."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from plaq import __version__
from plaq.errors import InputError
from plaq.inputs.kinds import BINDINGS, cpu_list


def pool_options(workers: int | str = "auto", bind: str = "auto"):
    """The ``_core.task.Options`` of this rank's pools: number of workers, what they are bound to, and the hardware
    threads that are this rank's among the ranks of its machine. Arguments as run.workers and run.bind.

    A list of hardware threads in ``bind`` is cut into blocks for the ranks of the machine. Raises InputError if it
    names one that this process may not use, or fewer than there are ranks.
    """
    from plaq import _core
    from plaq.comm import node

    here = node()
    options = _core.task.Options()
    if bind in BINDINGS:
        options.bind = getattr(_core.task.Binding, BINDINGS[bind])
        share = _core.task.fair_share(here.masks, here.rank, options.bind)
        options.cpus, options.workers = share.cpus, share.workers
    else:
        listed, ranks = cpu_list(bind), len(here.masks)
        unknown = [cpu for cpu in listed if cpu not in here.masks[here.rank]]
        if unknown:
            raise InputError(f"run.bind lists hardware thread {unknown[0]}, which this process may not use; it may "
                             f"use {', '.join(map(str, here.masks[here.rank]))}")
        if len(listed) < ranks:
            raise InputError(f"run.bind lists {len(listed)} hardware thread(s) for {ranks} ranks on this machine")
        options.bind = _core.task.Binding.threads
        options.cpus = listed[len(listed) * here.rank // ranks : len(listed) * (here.rank + 1) // ranks]
        options.workers = len(options.cpus)
    if workers != "auto":
        options.workers = int(workers)
    return options


def memory() -> float:
    """Bytes for each of the ranks on this machine: its memory over them, or what the control groups allow, if less."""
    from plaq.comm import node

    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    groups = Path("/proc/self/cgroup")
    for line in groups.read_text().splitlines() if groups.exists() else []:
        _, controllers, place = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        top, name = Path("/sys/fs/cgroup") / controllers, "memory.limit_in_bytes" if controllers else "memory.max"
        inside = top / place.lstrip("/")
        for limit in (folder / name for folder in (inside, *inside.parents) if folder.is_relative_to(top)):
            text = limit.read_text().strip() if limit.exists() else "max"
            limits.append(int(text) if text.isdigit() else limits[0])
    return min(limits) / len(node().masks)


def commit() -> str:
    """The commit of the source tree that this package runs from, or that an installed package was built from;
    "unknown" where that was no git checkout."""
    package = Path(__file__).resolve().parent
    root = package.parent.parent
    if package != root / "python" / "plaq":
        built_from = package / "commit.txt"
        return built_from.read_text().strip() if built_from.exists() else "unknown"
    if not (root / ".git").exists():
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
    """Version, commit, instruction set of the kernels, MPI, thread back ends, Python, numpy and
    processor of this build, as short texts."""
    from plaq import _core

    return {
        "version": __version__,
        "commit": commit(),
        "kernels": _core.linalg.instruction_set(),
        "MPI": mpi(),
        "threads": ", ".join(_core.task.backends()),
        "Python": platform.python_version(),
        "numpy": numpy(),
        "processor": processor(),
        "physical cores": _core.task.physical_cores(),
    }


def gpu_libraries() -> dict[str, str]:
    """GPUs to walk on; of the libraries for traces of them: NVML (counters), CUPTI (kernels, copies)."""
    from plaq import _core

    found = _core.gpu.find_devices()
    gpus = ", ".join(gpu.name for gpu in found.gpus) or f"none: {found.why_none}"
    return {"GPUs": gpus, "NVML": _core.trace.nvml_description(), "CUPTI": _core.trace.cupti_description()}


def mpi() -> str:
    """Which MPI, and the thread level that it granted where it is running."""
    from plaq import _core

    version, level = _core.comm.library_version(), _core.comm.thread_level()
    return (version or "none (serial build)") + (f", threads: {level}" if level else "")


def numpy() -> str:
    """numpy's version, and what its loops and its BLAS chose for this processor."""
    import numpy
    from threadpoolctl import threadpool_info

    sets = numpy.show_config(mode="dicts")["SIMD Extensions"]
    blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
    cores = sorted({library.get("architecture", library["internal_api"]) for library in blas})
    best = (sets["found"] or sets["baseline"])[-1]
    return f"{numpy.__version__}, {best}, BLAS core {' and '.join(cores)}"


def processor() -> str:
    """The processor's name, or its architecture when the system does not say."""
    cpuinfo = Path("/proc/cpuinfo")
    for line in cpuinfo.read_text().splitlines() if cpuinfo.exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()

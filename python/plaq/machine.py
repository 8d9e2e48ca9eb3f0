"""Resources that this process may use, and properties of its build."""

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
    """Return the ``_core.task.Options`` of this rank's pools; arguments as run.workers and run.bind.

    Options are the number of workers, their binding, and this rank's share of the hardware threads of its machine. A
    list of hardware threads in ``bind`` is cut into blocks for the ranks of the machine. Raises InputError if it names
    one that this process may not use, or fewer than there are ranks.
    """
    from plaq import _core
    from plaq.comm import node

    machine = node()
    options = _core.task.Options()
    if bind in BINDINGS:
        options.bind = getattr(_core.task.Binding, BINDINGS[bind])
        share = _core.task.fair_share(machine.masks, machine.rank, options.bind)
        options.cpus, options.workers = share.cpus, share.workers
    else:
        listed, ranks = cpu_list(bind), len(machine.masks)
        unknown = [cpu for cpu in listed if cpu not in machine.masks[machine.rank]]
        if unknown:
            raise InputError(f"run.bind lists hardware thread {unknown[0]}, which this process may not use; it may "
                             f"use {', '.join(map(str, machine.masks[machine.rank]))}")
        if len(listed) < ranks:
            raise InputError(f"run.bind lists {len(listed)} hardware thread(s) for {ranks} ranks on this machine")
        options.bind = _core.task.Binding.threads
        options.cpus = listed[len(listed) * machine.rank // ranks : len(listed) * (machine.rank + 1) // ranks]
        options.workers = len(options.cpus)
    if workers != "auto":
        options.workers = int(workers)
    return options


def memory() -> float:
    """Return bytes for each rank on this machine: its memory over them, or the limit of the control groups, if less."""
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
    """Return the commit of the source tree that this package runs from, or that it was built from.

    "unknown" if that was neither a git checkout nor an archive of one.
    """
    package = Path(__file__).resolve().parent
    root = package.parent.parent
    if package != root / "python" / "plaq":
        return _read_commit(package / "commit.txt")
    if not (root / ".git").exists():
        return _read_commit(root / "packaging/commit.txt")
    try:
        described = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return described.stdout.strip()


def _read_commit(file: Path) -> str:
    """Return the commit in a file, which `git archive` or the build wrote; "unknown" if neither did."""
    text = file.read_text().strip() if file.exists() else ""
    return "unknown" if not text or text.startswith("$") else text


def package() -> str:
    """Return the tags of the installed package, as cp312-abi3-manylinux_2_34_x86_64; "none" if it is not installed."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        lines = (distribution("plaq").read_text("WHEEL") or "").splitlines()
    except PackageNotFoundError:
        lines = []
    return " ".join(value for key, _, value in (line.partition(": ") for line in lines) if key == "Tag") or "none"


def compiled() -> str:
    """Return compiler, flags and instruction sets of the C++ part."""
    from plaq import _core

    sets = sorted(folder.name for folder in Path(_core.__file__).parents[1].iterdir())
    return f"{_core.compiler}, for {', '.join(sets)}"


def build() -> dict[str, Any]:
    """Return version, commit, package, compiler, kernels, MPI, threads, Python, numpy, processor, as short texts."""
    from plaq import _core

    return {
        "version": __version__,
        "commit": commit(),
        "package": package(),
        "compiled": compiled(),
        "kernels": _core.linalg.instruction_set(),
        "MPI": mpi(),
        "threads": ", ".join(_core.task.backends()),
        "Python": platform.python_version(),
        "numpy": numpy(),
        "processor": processor(),
        "physical cores": _core.task.physical_cores(),
    }


def gpu_libraries() -> dict[str, str]:
    """Return GPUs to walk on, and the libraries for traces of them: NVML (counters), CUPTI (kernels, copies)."""
    from plaq import _core

    devices = _core.gpu.find_devices()
    gpus = ", ".join(gpu.name for gpu in devices.gpus) or f"none: {devices.why_none}"
    return {"GPUs": gpus, "NVML": _core.trace.nvml_description(), "CUPTI": _core.trace.cupti_description()}


def mpi() -> str:
    """Return the MPI, and the thread level that it granted if it is running."""
    from plaq import _core

    version, level = _core.comm.library_version(), _core.comm.thread_level()
    return (version or "none") + (f", threads: {level}" if level else "")


def numpy() -> str:
    """Return numpy's version, and the code paths of its loops and its BLAS for this processor."""
    import numpy
    from threadpoolctl import threadpool_info

    sets = numpy.show_config(mode="dicts")["SIMD Extensions"]
    blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
    cores = sorted({library.get("architecture", library["internal_api"]) for library in blas})
    best = (sets.get("found") or sets["baseline"])[-1]  # a list that is empty is left out
    return f"{numpy.__version__}, {best}, BLAS core {' and '.join(cores)}"


def processor() -> str:
    """Return the processor's name, or its architecture if the system does not give one."""
    cpuinfo = Path("/proc/cpuinfo")
    for line in cpuinfo.read_text().splitlines() if cpuinfo.exists() else []:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()

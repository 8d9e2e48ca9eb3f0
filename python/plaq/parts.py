"""Optional parts of a build and of the machine: those present, and how to get the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from plaq.errors import InputError

BUILT = "it was built with "  # begins the reason of a part that this build has excluded


class Part(NamedTuple):
    """An optional part. ``version()`` is empty if this plaq lacks it; ``remedy`` is the command that adds it.

    ``why()`` tells what went wrong with one that is there, empty if nothing is.
    """

    description: str
    version: Callable[[], str]
    remedy: str
    lacks: str = "was built without"
    why: Callable[[], str] = str

    def none(self) -> str:
        """Return why it is missing, if known, and the remedy, which that may contain."""
        why = self.why()
        if why.startswith(BUILT):
            return why
        return f"{self.remedy} ({why})" if why else self.remedy


def _otf2() -> str:
    from plaq import _core

    return _core.otf2.version() if hasattr(_core, "otf2") else ""


def _mpi() -> str:
    from plaq import _core

    if not _core.comm.library_version():
        return ""
    return _core.comm.describe_mpi()["in_words"] + ("" if _core.comm.mpiexec() else ", without mpiexec beside it")


def _why_no_mpi() -> str:
    from plaq import _core

    return _core.comm.describe_mpi()["why_none"]


def _hpx() -> str:
    from plaq import _core

    return "there" if "hpx" in _core.task.backends() else ""


def _gpu_kernels() -> str:
    from plaq import _core

    return "CUDA" if _core.has_gpu_kernels else ""


PARTS = {
    "OTF2": Part("OTF2 3", _otf2, "apt-get install libotf2-trace-dev (conda, Spack: otf2), then build plaq again"),
    "MPI": Part("MPI", _mpi,
                "apt-get install openmpi-bin, or pip install mpich, or the path of its library in PLAQ_MPI",
                lacks="finds no", why=_why_no_mpi),
    "HPX": Part("HPX", _hpx, "install HPX 1.10, then build plaq with PLAQ_WITH_HPX=ON"),
    "GPU kernels": Part("kernels for GPUs", _gpu_kernels, "`make gpu` in a checkout"),
}


def demand(name: str, need: str) -> None:
    """Raise InputError if this build lacks the part ``name``; ``need`` names what requires it."""
    part = PARTS[name]
    if not part.version():
        raise InputError(f"{need}, and this plaq {part.lacks} {part.description}: {part.none()}")


def list_parts() -> dict[str, str]:
    """Return the version of every optional part, or the remedy if it is missing."""
    return {name: part.version() or f"none: {part.none()}" for name, part in PARTS.items()}

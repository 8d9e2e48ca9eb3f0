"""Instruction sets that plaq's kernels are built for, and the choice of a process.

CMake runs this file with the name of a machine, and it prints all sets of that, a name on a line; with ``--here`` those
that this processor runs. The best is the last.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

VARIABLE = "PLAQ_INSTRUCTION_SET"  # of the environment: the set to use instead of the best
# Flags of a level beyond those of the previous one, as /proc/cpuinfo calls it (levels of the x86-64 psABI).
X86_64 = {
    "x86-64-v2": "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3",
    "x86-64-v3": "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave",
    "x86-64-v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
}


def built_sets(machine: str = platform.machine()) -> list[str]:
    """Return the sets that plaq is built for on a machine; other than on x86-64 one set, named after it."""
    return list(X86_64) if machine.lower() in ("x86_64", "amd64") else [machine]


def runnable_sets(cpuinfo: str, machine: str = platform.machine()) -> list[str]:
    """Return those of `built_sets` that a processor with this /proc/cpuinfo runs; the first is assumed to run."""
    first, *better = built_sets(machine)
    sets = [first]
    lines = (line.partition(":") for line in cpuinfo.splitlines())
    flags = next((set(value.split()) for key, _, value in lines if key.strip() == "flags"), set())
    for name in better:
        if not set(X86_64[name].split()) <= flags:
            break
        sets.append(name)
    return sets


def supported_sets() -> list[str]:
    """Return the sets that this processor runs."""
    cpuinfo = Path("/proc/cpuinfo")
    return runnable_sets(cpuinfo.read_text() if cpuinfo.exists() else "")


def select_sets(name: str, runs: list[str]) -> list[str]:
    """Return the sets to search, best first: ``name``, or all of ``runs`` if it is empty.

    InputError for one that is not in ``runs``.
    """
    if not name:
        return runs[::-1]
    if name not in runs:
        from plaq.errors import InputError

        raise InputError(f"{VARIABLE} is '{name}', but this processor runs {', '.join(runs)}")
    return [name]


if __name__ == "__main__":
    print(*(supported_sets() if sys.argv[1] == "--here" else built_sets(sys.argv[1])), sep="\n")

"""The instruction sets that plaq's kernels are built for, and which of them a process uses.

CMake runs this file: all of them, a name on a line; with ``--here`` those that this processor runs. The best is
the last.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

VARIABLE = "PLAQ_INSTRUCTION_SET"  # of the environment: the one to use, where it is not to be the best
# What a level has beyond the one before, as /proc/cpuinfo calls it (levels of the x86-64 psABI).
X86_64 = {
    "x86-64-v2": "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3",
    "x86-64-v3": "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave",
    "x86-64-v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
}


def built(machine: str = platform.machine()) -> list[str]:
    """What plaq is built for on such a machine; elsewhere than on x86-64 for one set, named after it."""
    return list(X86_64) if machine.lower() in ("x86_64", "amd64") else [machine]


def runnable(cpuinfo: str, machine: str = platform.machine()) -> list[str]:
    """Those of `built` that a processor with this /proc/cpuinfo runs; the first is taken for granted."""
    first, *better = built(machine)
    found = [first]
    lines = (line.partition(":") for line in cpuinfo.splitlines())
    flags = next((set(value.split()) for key, _, value in lines if key.strip() == "flags"), set())
    for name in better:
        if not set(X86_64[name].split()) <= flags:
            break
        found.append(name)
    return found


def here() -> list[str]:
    """Those that this processor runs."""
    cpuinfo = Path("/proc/cpuinfo")
    return runnable(cpuinfo.read_text() if cpuinfo.exists() else "")


def wanted(name: str, runs: list[str]) -> list[str]:
    """The sets to look for, best first: what the variable names, or all of ``runs`` where it is empty.

    InputError for one that is not in ``runs``.
    """
    if not name:
        return runs[::-1]
    if name not in runs:
        from plaq.errors import InputError

        raise InputError(f"{VARIABLE} is '{name}', which is none that this processor runs: {', '.join(runs)}")
    return [name]


if __name__ == "__main__":
    print(*(here() if "--here" in sys.argv else built()), sep="\n")

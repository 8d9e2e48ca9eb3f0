"""One build for all processors: kernels for several instruction sets, of which each process takes one."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from plaq import _core, instruction_sets
from plaq.errors import InputError

V2 = "fpu sse2 pni ssse3 cx16 sse4_1 sse4_2 popcnt lahf_lm"
V3 = V2 + " movbe xsave avx f16c abm bmi1 avx2 bmi2 fma"
V4 = V3 + " avx512f avx512dq avx512cd avx512bw avx512vl"
HERE = instruction_sets.supported_sets()

# Walks too short for the last bits of a ratio to change a decision.
SHORT_WALKS = """
import sys
import numpy as np
from isolated import RING, Isolated
from plaq import _core
case = Isolated(RING, U=4.0, beta=2.0, mu=1.5, measurements=64, bins=16, warm_up=5, window=2, pairing=True,
                channels=[("pp", 1, 1), ("charge", 0, 0), ("magnetic", 1, 0)])
chains = case.fresh_chains()
assert case.run(chains, threads="os", workers=1)
np.savez(sys.argv[1], kernels=_core.linalg.instruction_set(), sums=chains.bins.sums(), series=chains.bins.series())
"""


def processor(flags: str) -> str:
    return f"processor\t: 0\nmodel name\t: some\nflags\t\t: {flags}\n\nprocessor\t: 1\nflags\t\t: {flags}\n"


def run_python(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=300,
                          env=os.environ | environment)


def library(name: str) -> Path:
    """The build for a set, beside the one in use."""
    used = Path(_core.__file__)
    return used.parent.parent / name / used.name


def test_a_processor_runs_what_it_has_all_parts_of():
    levels = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
    for flags, count in ((V2, 1), (V3, 2), (V4, 3)):
        assert instruction_sets.runnable_sets(processor(flags), "x86_64") == levels[:count]
    for missing in ("avx2", "fma", "bmi2", "movbe"):  # with AVX-512 but not all of what is below it
        assert instruction_sets.runnable_sets(processor(V4.replace(f" {missing} ", " ")), "x86_64") == levels[:1]
    assert instruction_sets.runnable_sets(processor(V4.replace(" avx512vl", "")), "x86_64") == levels[:2]
    assert instruction_sets.runnable_sets("", "x86_64") == levels[:1]
    assert instruction_sets.runnable_sets("Features\t: fp asimd sve\n", "aarch64") == ["aarch64"]


def test_the_best_is_taken_unless_another_is_named():
    assert instruction_sets.select_sets("", ["a", "b"]) == ["b", "a"]
    assert instruction_sets.select_sets("a", ["a", "b"]) == ["a"]
    with pytest.raises(InputError, match="'c'.* runs a, b"):
        instruction_sets.select_sets("c", ["a", "b"])
    refused = run_python("-m", "plaq", "info", PLAQ_INSTRUCTION_SET="x86-64-v9")
    assert refused.returncode == 2 and refused.stdout == ""
    assert refused.stderr == ("plaq: error: PLAQ_INSTRUCTION_SET is 'x86-64-v9', but this processor runs "
                              f"{', '.join(HERE)}\n")
    said = run_python("-m", "plaq", "info", PLAQ_INSTRUCTION_SET="").stdout
    assert re.search(rf"^kernels: +{HERE[-1]}$", said, re.MULTILINE)


def test_every_set_that_runs_here_measures_the_same(tmp_path):
    found = []
    for name in HERE:
        done = run_python("-c", SHORT_WALKS, str(tmp_path / f"{name}.npz"), PLAQ_INSTRUCTION_SET=name,
                          PYTHONPATH=str(Path(__file__).parent))
        assert done.returncode == 0, done.stderr
        found.append(np.load(tmp_path / f"{name}.npz"))
        assert found[-1]["kernels"] == name
    for other in found[1:]:
        for what in ("sums", "series"):
            bins, same = found[0][what], other[what]
            assert bins.size > 100 and np.abs(same - bins).max() < 1e-5 * np.abs(bins).max()


@pytest.mark.skipif(not shutil.which("objdump"), reason="objdump of binutils is not installed")
@pytest.mark.skipif(len(instruction_sets.built_sets()) == 1, reason="one instruction set on this architecture")
def test_each_build_has_its_own_instructions_and_none_above():
    """VEX and EVEX instructions are those whose name begins with v; AVX-512 ones use zmm or mask registers."""
    for name in instruction_sets.built_sets():
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", str(library(name))], capture_output=True,
                              text=True, check=True).stdout
        avx, fma, avx512 = r"\tv[a-z0-9]+ .*%[xyz]mm", r"\tvfn?madd[0-9]+p[sd] .*%[yz]mm", r"%zmm|%k[1-7]"
        there = [re.search(what, code) is not None for what in (avx, fma, avx512)]
        assert there == {"x86-64-v2": [False, False, False], "x86-64-v3": [True, True, False],
                         "x86-64-v4": [True, True, True]}[name], name

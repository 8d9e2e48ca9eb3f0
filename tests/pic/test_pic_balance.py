"""Runs whose patches move are bitwise identical, and their loads can be replayed on any number of ranks."""

import os
import subprocess
import sys

import numpy as np
import pytest

from plaq import _core, pic
from plaq.balance import read
from plaq.balance.replay import replay
from plaq.comm.launch import launcher_command
from plaq.data import results_file
from plaq.pic.results.results import FORMAT

INPUT = """
[grid]
cells = [32, 32]
length = [8, 8]
patches = [8, 8]
[boundaries]
x = "conducting"
y = "conducting"
[time]
end = 15
step = 0.25
[fields]
solver = "electrostatic"
[species.electrons]
charge = -1
mass = 1
[emission.plate]
species = "electrons"
at = [0, 4]
normal = [1, 0]
half_width = 2
flux = 0.002
per_cell = 40000
drift = 0.3
temperature = 0.0004
[output]
pictures = 0
[run]
balance_every = 10
workers = 1
record_loads = true
"""


def plate(folder, ranks, *settings):
    (folder / "input.toml").write_text(INPUT)
    out = folder / f"{ranks}{len(settings)}"
    command = [
        *(launcher_command(ranks) if ranks > 1 else []),
        sys.executable,
        "-m",
        "plaq",
        "pic",
        "run",
        "input.toml",
        "--out",
        str(out),
    ]
    done = subprocess.run(
        [*command, *(word for one in settings for word in ("--set", one))],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        env={**os.environ, "PLAQ_TERMINAL": "", **({"PLAQ_EXPECTED_RANKS": str(ranks)} if ranks > 1 else {})},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
def test_a_plate_is_bitwise_identical_while_patches_move_and_its_loads_are_replayed(tmp_path):
    alone, stay, move = (plate(tmp_path, 1), plate(tmp_path, 2, 'run.balance_by="none"'), plate(tmp_path, 3))
    assert len({results_file.digest_of(out / "results.h5", FORMAT) for out in (alone, stay, move)}) == 1
    moves = pic.load(move).history["moves"]
    assert sum(one["moved"] for one in moves) > 0 and not any(one["moved"] for one in pic.load(stay).history["moves"])
    for out, ranks in ((alone, 1), (stay, 2), (move, 3)):
        recorded = read(out / "loads_00000000.jsonl")
        assert (recorded.name, recorded.unit, recorded.ranks, len(recorded.phases)) == ("patches", "s", ranks, 5)
        assert all(len(phase.keys) == 64 and phase.loads.min() > 0 for phase in recorded.phases)
        phase = recorded.phases[-1]
        of_ranks = np.bincount(phase.rank_of, phase.loads, ranks)
        if ranks > 1:
            assert pic.load(out).history["moves"][-1]["before"] == pytest.approx(
                of_ranks.max() / of_ranks.mean() - 1, rel=1e-6
            )
        for row in replay(recorded, "hilbert_refine", 16).rows:
            assert row.floor - 1e-9 <= row.predicted <= row.before + 1e-9
    first = read(stay / "loads_00000000.jsonl").phases
    assert all(np.array_equal(phase.rank_of, first[0].rank_of) for phase in first)


def test_a_resumed_run_records_into_another_file(tmp_path):
    plate(tmp_path, 1, "time.end=7.5")
    (tmp_path / "11").rename(tmp_path / "10")
    out = plate(tmp_path, 1)
    assert sorted(path.name for path in out.glob("loads*")) == ["loads_00000000.jsonl", "loads_00000030.jsonl"]
    assert [len(read(path).phases) for path in sorted(out.glob("loads*"))] == [2, 2]

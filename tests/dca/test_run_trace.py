"""`plaq dca run --trace`: what is recorded, and that it changes no bit."""


import numpy as np
import pytest
from command_line import run_plaq

from plaq import _core, trace

INPUT = """
[model]
U = 4.0
[dca]
temperatures = [0.5]
density = 0.95
iterations = 3
[solver]
measurements = 3200
measurements_first = 320
chains = 4
warmup = 20
[two_particle]
below = 0.5
frequencies = 4
"""


def plaq(*arguments):
    done = run_plaq("dca", *arguments)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def path(t, rows, row):
    """Names of a region and of those around it, outermost first."""
    names = []
    while row >= 0:
        names.insert(0, t.names[rows["name"][row]])
        row = rows["parent"][row]
    return tuple(names)


def test_tracing_shows_the_run_and_changes_no_bit(tmp_path):
    (tmp_path / "input.toml").write_text(INPUT)
    plaq("run", tmp_path / "input.toml", "--out", tmp_path / "plain", "--workers", 2)
    bits = plaq("digest", tmp_path / "plain")

    said = plaq("run", tmp_path / "input.toml", "--out", tmp_path / "traced", "--workers", 2, "--trace")
    folder = tmp_path / "traced/trace/000"
    assert f"trace:  {folder}" in said and plaq("digest", tmp_path / "traced") == bits
    t = trace.read(folder)
    assert t.notes == [] and t.metadata["workers"] == "2" and "--trace" in t.metadata["command"]
    tasks = np.array(t.names)[t.tasks["name"]]
    assert list(tasks) == 3 * 4 * ["dca chain"]  # one per iteration and chain
    paths = {path(t, t.regions, row) for row in range(len(t.regions))}
    assert {
        ("temperature", "iteration", "chemical potential"),
        ("start-up",),
        ("temperature", "iteration", "chains"),
        ("temperature", "iteration", "collection"),
        ("temperature", "iteration", "estimates", "Bethe-Salpeter: pairing"),
        ("temperature", "iteration", "checkpoint"),
        ("figures",),
        ("report",),
        ("walk",),
        ("walk", "rebuild N"),
        ("measure M",),
        ("transform M",),
        ("measure G4",),
    } <= paths
    name = np.array(t.names)[t.regions["name"]]
    assert (t.regions["task"][name == "walk"] >= 0).all() and (t.regions["task"][name == "iteration"] == -1).all()

    # The same command again goes on where nothing is left to do; its trace has a place of its own.
    plaq("run", tmp_path / "input.toml", "--out", tmp_path / "traced", "--workers", 2, "--trace")
    assert [p.name for p in sorted((tmp_path / "traced/trace").iterdir())] == ["000", "001"]
    assert len(trace.read(tmp_path / "traced/trace/001").tasks) == 0


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
def test_every_rank_has_its_file(tmp_path):
    (tmp_path / "input.toml").write_text(INPUT)
    plaq("run", tmp_path / "input.toml", "--out", tmp_path / "run", "-n", 2, "--workers", 1, "--trace")
    t = trace.read(tmp_path / "run/trace/000")
    assert t.notes == [] and [r.rank for r in t.ranks] == [0, 1] and t.ranks[0].pid != t.ranks[1].pid
    names = np.array(t.names)[t.tasks["name"]]
    assert set(names) == {"dca chain"} and len(names) >= 3 * 4  # one more where a chain has changed ranks between bins
    assert set(t.tasks["rank"]) == {0, 1}
    # On one host the ranks share a clock: both are in the same iterations at the same time.
    name = np.array(t.names)[t.regions["name"]]
    begins = [t.regions["begin"][(name == "iteration") & (t.regions["rank"] == rank)] for rank in (0, 1)]
    ends = [t.regions["end"][(name == "iteration") & (t.regions["rank"] == rank)] for rank in (0, 1)]
    assert len(begins[0]) == 3 and (np.maximum(*begins) < np.minimum(*ends)).all()
    sums = {c.rank: c.value[-1] for c in t.counters if c.name == "collective calls"}
    assert sums.keys() == {0, 1} and min(sums.values()) > 0

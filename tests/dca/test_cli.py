"""The command line around a run: what it says, writes, refuses, and how it stops and goes on (with a made-up
loop). Commands run in this process where no signal, limit or MPI is part of the question."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import types
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import fake_run
import no_figures
import pytest
import synthetic

from plaq import _core
from plaq.comm.launch import launcher_command
from plaq.dca import commands
from plaq.dca.inputs.table import TABLE
from plaq.errors import RunError
from plaq.main import main

HERE = Path(__file__).parent
INPUT = """
[model]
U = 6.0
[dca]
temperatures = [0.5, 0.1, 0.09, 0.08, 0.07]
density = 0.95
[two_particle]
below = 0.1
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The hash of an undisturbed run of six steps."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "input.toml").write_text(INPUT)
    assert plaq(folder, "dca", "run", "input.toml", FAKE_STEPS="6").returncode == 0
    return plaq(folder, "dca", "digest", "run").stdout


def command(*arguments):
    return [sys.executable, str(HERE / "fake_run.py"), *arguments]


def plaq(folder, *arguments, fake=True, **environment):
    """The command line in this process, from the arguments to the exit code, with the made-up loop or without."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in {"FAKE_FIGURES": "no", **environment}.items():
            patch.setenv(name, value)
        patch.chdir(folder)
        patch.setattr(sys, "argv", ["plaq", *arguments])
        if fake:
            fake_run.replace_modules(patch.setitem, patch.setattr)
        with pytest.raises(SystemExit) as ended:
            main()
    return types.SimpleNamespace(returncode=ended.value.code or 0, stdout=out.getvalue(), stderr=err.getvalue())


def on_ranks(folder, ranks, *arguments, **environment):
    """Under MPI: each rank runs the made-up loop."""
    return subprocess.run(
        launcher_command(ranks) + command(*arguments),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "FAKE_FIGURES": "no", **environment},
    )


def one_error(outcome, code, *parts):
    assert outcome.returncode == code, outcome.stderr
    lines = outcome.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("plaq: error"), outcome.stderr
    assert all(part in lines[0] for part in parts), lines[0]


@pytest.fixture
def two_figures(monkeypatch):
    """Draw two of the figures only; test_results.py draws them all."""
    from plaq.dca.results import plot, report

    drawings, kept = plot.drawings, ("lambda_d", "sign")
    some = lambda results: {name: found for name, found in drawings(results).items() if name in kept}
    monkeypatch.setattr(plot, "drawings", some)
    monkeypatch.setattr(report, "drawings", some)


def test_run_leaves_the_documented_folder_and_digests_differ_between_runs(folder, two_figures):
    outcome = plaq(folder, "dca", "run", "input.toml", FAKE_FIGURES="yes")
    assert outcome.returncode == 0, outcome.stderr
    assert {path.name for path in (folder / "run").iterdir()} == {
        "input.resolved.toml",
        "results.h5",
        "summary.json",
        "log.txt",
        "checkpoint.h5",
        "figures",
        "report.html",
    }
    assert (folder / "run/figures/lambda_d.png").stat().st_size > 1000
    summary = json.loads((folder / "run/summary.json").read_text())
    assert summary["tc"]["status"] == "found" and len(summary["temperatures"]) == 5
    for word in ("version", "commit", "kernels", "numpy", "MPI", "workers", "seed"):
        assert f"{word}:" in outcome.stdout and word in (folder / "run/log.txt").read_text()
    assert "T_c = 0.0" in outcome.stdout and outcome.stdout.count("σ") == 10

    digest = plaq(folder, "dca", "digest", "run").stdout.strip()
    assert re.fullmatch(r"[0-9a-f]{64}  \(kernels .+; numpy .+, BLAS core .+\)", digest)
    assert f"digest: {digest}" in outcome.stdout
    plaq(folder, "dca", "run", "input.toml", "--out", "again", "--threads", "fiber", "--workers", "2")
    assert plaq(folder, "dca", "digest", "again").stdout.strip() == digest
    plaq(folder, "dca", "run", "input.toml", "--out", "other", FAKE_STEPS="3")
    assert plaq(folder, "dca", "digest", "other").stdout.strip() != digest

    for sub in ("plot", "report"):
        for path in [folder / "run/report.html", *(folder / "run/figures").iterdir()]:
            path.unlink()
        again = plaq(folder, "dca", sub, "run", fake=False)
        assert again.returncode == 0 and all((folder / line).exists() for line in again.stdout.split())
        assert len(list((folder / "run/figures").iterdir())) == 2
        (folder / "run/report.html").touch()


@pytest.mark.parametrize("name, code", [("SIGINT", 130), ("SIGTERM", 143)])
def test_signal_saves_and_the_same_command_resumes_to_the_same_bits(folder, whole, name, code):
    environment = {**os.environ, "FAKE_FIGURES": "no", "FAKE_STEPS": "6", "FAKE_SECONDS": "0.05"}
    process = subprocess.Popen(
        command("dca", "run", "input.toml"),
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    read = []
    while not (read and read[-1].startswith("T = 0.5 done")):
        read.append(process.stdout.readline())
        assert read[-1], process.stderr.read()
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=120)
    assert process.returncode == code and err == ""
    assert f"stopped by {name}: the state is saved in run; the same command continues" in out
    kept = json.loads((folder / "run/summary.json").read_text())
    assert 1 <= len(kept["temperatures"]) < 5
    rest = plaq(folder, "dca", "run", "input.toml", FAKE_STEPS="6")
    assert rest.returncode == 0 and "T = 0.5 done" not in rest.stdout
    assert plaq(folder, "dca", "digest", "run").stdout == whole


def test_the_same_command_resumes_after_a_kill_at_any_moment(folder, whole):
    environment = {**os.environ, "FAKE_FIGURES": "no", "FAKE_STEPS": "6", "FAKE_SECONDS": "0.05"}
    arguments = ("dca", "run", "input.toml", "--set", "run.checkpoint_every=0.01")
    for last in ("T = 0.5 done", "T = 0.1 done"):
        process = subprocess.Popen(
            command(*arguments), cwd=folder, env=environment, text=True, stdout=subprocess.PIPE
        )
        while not process.stdout.readline().startswith(last):
            assert process.poll() is None
        process.kill()
        process.communicate()
    assert plaq(folder, *arguments, FAKE_STEPS="6").returncode == 0
    assert plaq(folder, "dca", "digest", "run").stdout == whole


def test_walltime_stops_well(folder):
    outcome = plaq(folder, "dca", "run", "input.toml", "--walltime", "0.3", FAKE_SECONDS="0.2")
    assert outcome.returncode == 0 and outcome.stderr == "" and "stopped by walltime" in outcome.stdout
    assert not (folder / "run/report.html").exists() and (folder / "run/checkpoint.h5").exists()


def test_failure_while_running_keeps_the_measurements(folder):
    outcome = plaq(folder, "dca", "run", "input.toml", FAKE_FAILURE="2")
    one_error(outcome, 1, "NaN in the determinant at T = 0.09")
    assert len(json.loads((folder / "run/summary.json").read_text())["temperatures"]) == 2
    assert "stopped by an error: NaN" in (folder / "run/log.txt").read_text()


@pytest.mark.parametrize(
    "arguments, parts",
    [
        (["--set", "dca.denisty=0.9"], ["--set: unknown key dca.denisty; did you mean dca.density?"]),
        (["--set", "dca.density=2.5"],
         ["dca.density = 2.5 is not allowed: it must be a number in [0.01, 1.99]"]),
        (["--set", "dca.temperatures=[0.1, -1]"], ["dca.temperatures = [0.1, -1] is not allowed"]),
        (["--set", "model.cluster=[[2, 0], [4, 0]]"], ["input.toml: model.cluster", "singular"]),
        (["--threads", "fibre"], ['run.threads = "fibre" is not allowed: it must be "fiber" or "os"']),
        (["--workers", "0"], ["run.workers = 0 is not allowed"]),
        (["--set", "two_particle.transfers=[[0.5, 0]]"], ["two_particle.transfers: [0.5, 0.0] pi/a", "(0,0) (π,0)"]),
        (["--walltime", "soon"], ['run.walltime = "soon" is not allowed']),
    ],
)
def test_bad_input_writes_nothing(folder, arguments, parts):
    one_error(plaq(folder, "dca", "run", "input.toml", *arguments), 2, *parts)
    assert [path.name for path in folder.iterdir()] == ["input.toml"]


def test_a_start_that_fails_leaves_the_folder_to_the_next(folder, monkeypatch):
    """In one Python: the lock goes, so the same call works once the cause is gone."""
    p = synthetic.parameters()
    monkeypatch.setitem(sys.modules, "plaq.dca.loop.loop", types.SimpleNamespace(Loop=fake_run.Loop))
    no_figures.leave_out(monkeypatch.setattr)
    (folder / "run").mkdir()
    (folder / "run/input.resolved.toml").write_text(p.to_toml())
    (folder / "run/log.txt").mkdir()
    with pytest.raises(RunError, match="log.txt"):
        commands.run(p, folder / "run")
    (folder / "run/log.txt").rmdir()
    assert len(commands.run(p, folder / "run").points) == 7


def test_output_folder_of_another_input_is_refused(folder):
    plaq(folder, "dca", "run", "input.toml")
    before = plaq(folder, "dca", "digest", "run").stdout
    outcome = plaq(folder, "dca", "run", "input.toml", "--set", "model.U=8")
    one_error(
        outcome,
        2,
        "run: this folder belongs to a different input: model.U = 6.0 in run/input.resolved.toml, 8.0 in",
    )
    assert plaq(folder, "dca", "digest", "run").stdout == before


def test_bad_checkpoint_is_named_and_refused(folder):
    plaq(folder, "dca", "run", "input.toml", "--walltime", "0.3", FAKE_SECONDS="0.2")
    path = folder / "run/checkpoint.h5"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    one_error(
        plaq(folder, "dca", "run", "input.toml"),
        2,
        "run/checkpoint.h5: truncated or damaged: it ends at byte",
        "remove it to start",
    )
    assert path.stat().st_size == len(content) // 2


def test_full_disk_is_one_error_and_keeps_the_files(folder):
    script = (
        f"ulimit -f 400; trap '' XFSZ; {' '.join(command('dca', 'run', 'input.toml'))}"  # 400 blocks of 1024 bytes
    )
    outcome = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
    one_error(outcome, 1, "cannot be written: no space left for it")
    read = plaq(folder, "dca", "digest", "run")
    assert read.returncode == 0, read.stderr
    assert not list((folder / "run").glob("*.partial"))
    assert plaq(folder, "dca", "run", "input.toml").returncode == 0


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
def test_ranks_give_the_same_bits_and_write_once(folder):
    plaq(folder, "dca", "run", "input.toml")
    outcome = on_ranks(folder, 3, "dca", "run", "input.toml", "--out", "many")
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.count("T_c = ") == 1 and f"{'ranks:':<16}3" in outcome.stdout
    assert plaq(folder, "dca", "digest", "many").stdout == plaq(folder, "dca", "digest", "run").stdout


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
def test_errors_on_ranks_are_reported_once_with_the_rank(folder):
    outcome = on_ranks(folder, 2, "dca", "run", "input.toml", FAKE_FAILURE="1")
    said = [line for line in outcome.stderr.splitlines() if "plaq: error" in line]
    assert outcome.returncode == 1 and said == ["plaq: error on rank 1 of 2: NaN in the determinant at T = 0.1"]
    for setting, words in [
        ("model.U=8", "belongs to a different input"),
        ("solver.chains=1", "plaq: error: input.toml: -n 2 ranks but solver.chains = 1: every rank needs a chain"),
        ("two_particle.transfers=[[0.5, 0]]", "two_particle.transfers: [0.5, 0.0] pi/a is not a momentum"),
    ]:
        outcome = on_ranks(folder, 2, "dca", "run", "input.toml", "--set", setting)
        said = [line for line in outcome.stderr.splitlines() if "plaq: error" in line]
        assert outcome.returncode == 2 and len(said) == 1 and words in said[0], outcome.stderr


def test_check_describes_the_cluster(folder):
    outcome = plaq(folder, "check", "input.toml", fake=False)
    assert outcome.returncode == 0, outcome.stderr
    for part in ("4 sites", "(0,0) (π,0) (0,π) (π,π)", "C4v", "MB", "estimate:"):
        assert part in outcome.stdout
    one_error(
        plaq(folder, "check", "input.toml", "--set", "two_particle.transfers=[[0.5, 0]]", fake=False),
        2,
        "[0.5, 0.0] pi/a is not a momentum of the cluster",
    )
    one_error(plaq(folder, "check", "none.toml", fake=False), 2, "none.toml: there is no such file")


def test_info_and_help(folder):
    info = plaq(folder, "info", fake=False)
    assert info.returncode == 0 and all(
        f"{name}:" in info.stdout for name in ("version", "kernels", "numpy", "MPI", "threads", "GPUs", "NVML", "CUPTI")
    )
    listed = plaq(folder, "dca", "parameters", "--markdown", fake=False).stdout
    assert all(f"`{parameter.name}`" in listed for parameter in TABLE)
    assert "--walltime" in plaq(folder, "dca", "run", "--help", fake=False).stdout


def test_help_needs_no_heavy_imports(folder):
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, plaq.main; print(*sys.modules)"], capture_output=True, text=True
    )
    assert not {"numpy", "h5py", "scipy", "matplotlib", "plaq._core"} & set(loaded.stdout.split())

"""The files of a run's folder belong together: a part of another run or of an older step is refused, and `plaq verify`
names every one that is damaged, missing or foreign."""

import hashlib
import itertools
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import plaq.main  # noqa: F401  (which has the applications)
from plaq import _core, pic
from plaq.cli.verify import verify
from plaq.comm import world
from plaq.errors import InputError, Interrupted
from plaq.files import hashed
from plaq.lqcd.application import Lqcd
from plaq.lqcd.parameters import Parameters as LqcdParameters
from plaq.pic.application import Pic
from plaq.run import driver
from plaq.run.live import Log

PLASMA = {"grid": {"cells": [8, 8], "length": [2, 2], "patches": [2, 2]}, "time": {"end": 8},
          "species": {"e": {"charge": -1, "mass": 1, "density": 1, "per_cell": 4, "temperature": 0.01}},
          "output": {"pictures": 0}}
LATTICE = {"lattice": {"extents": [4, 2, 2, 2]}, "action": {"beta": 5.7},
           "updates": {"thermalisation": 2, "configurations": 8}}
# The application, its input, and changes of it that are another run with files of the same names and lengths.
KINDS = {"pic": (Pic, pic.Parameters(**PLASMA), [{"solver": {"seed": 2}}, {"species": {"e": {"temperature": 0.5}}}]),
         "lqcd": (Lqcd, LqcdParameters(**LATTICE), [{"updates": {"seed": 2}}, {"action": {"beta": 1.0}}])}


def run(kind, parameters, folder, after=None):
    """A run that gets a request to stop at its check number ``after``; by default never."""
    asked = itertools.count(1)
    stop = SimpleNamespace(requested=lambda: "SIGTERM" if after and next(asked) >= after else None)
    try:
        driver.run_on(kind, world(), parameters, folder, "input.toml", stop, Log)
    except Interrupted:
        assert after


def verified(folder, capsys):
    """(lines on stderr, exit code) of `plaq verify`."""
    capsys.readouterr()
    try:
        verify(folder)
        code = 0
    except SystemExit as ended:
        code = ended.code
    return capsys.readouterr().err.splitlines(), code


@pytest.fixture(params=KINDS, scope="module")
def begun(request, tmp_path_factory):
    """A run that was stopped, others with files of the same names, an older step of it, and its whole digest."""
    kind, parameters, changes = KINDS[request.param]
    base = tmp_path_factory.mktemp(request.param)
    run(kind, parameters, base / "run", after=2)
    run(kind, parameters, base / "later", after=4)
    for number, change in enumerate(changes):
        run(kind, parameters.replace(**change), base / f"other{number}", after=4)
    run(kind, parameters, base / "whole")
    return SimpleNamespace(kind=kind, parameters=parameters, base=base, digest=kind.digest(base / "whole"))


def parts(folder):
    """Its only file, or the folder of its files."""
    (found,) = folder.glob("checkpoint.parts.*")
    return found


def put_in_place(folder, of):
    """The parts of another folder, under this one's names."""
    mine, theirs = parts(folder), parts(of)
    if mine.is_dir():
        shutil.rmtree(mine)
        shutil.copytree(theirs, mine)
    else:
        shutil.copy(theirs, mine)


@pytest.mark.parametrize("of", ["other0", "other1", "run"])
def test_parts_of_another_run_or_step_are_refused_and_the_right_ones_go_on(begun, tmp_path, capsys, of):
    folder = tmp_path / "run"
    shutil.copytree(begun.base / "later", folder)
    assert verified(folder, capsys) == ([], 0)
    put_in_place(folder, begun.base / of)
    before = {path: path.read_bytes() for path in folder.rglob("checkpoint*/*") if path.is_file()}
    with pytest.raises(InputError, match=r"checkpoint.parts.*another run or step than the checkpoint beside it.*; put "
                       r"the right one back, or remove \S*/run/checkpoint.h5 to start this run from the beginning$"):
        run(begun.kind, begun.parameters, folder)
    lines, code = verified(folder, capsys)
    assert code == 2 and len(lines) >= 1 and all("/checkpoint.parts." in line for line in lines)
    assert before == {path: path.read_bytes() for path in folder.rglob("checkpoint*/*") if path.is_file()}
    put_in_place(folder, begun.base / "later")
    run(begun.kind, begun.parameters, folder)
    assert begun.kind.digest(folder) == begun.digest and verified(folder, capsys) == ([], 0)


def flip(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


HARMS = {
    "gone": (lambda path: path.unlink(), "is missing"),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:-9]), "truncated or damaged"),
    "longer": (lambda path: path.write_bytes(path.read_bytes() + b"x"), "truncated or damaged"),
    "flipped": (flip, "damaged, or"),
    "a pipe": (lambda path: (path.unlink(), os.mkfifo(path)), "not a regular file"),
}


@pytest.mark.parametrize("harm", HARMS)
def test_every_file_of_a_folder_that_is_damaged_is_named(begun, tmp_path, capsys, harm):
    do, words = HARMS[harm]
    whole = begun.base / "later"
    for path in [path for path in whole.rglob("*") if path.is_file() and "checkpoint.parts" in str(path)]:
        folder = tmp_path / path.name
        shutil.copytree(whole, folder)
        do(folder / path.relative_to(whole))
        lines, code = verified(folder, capsys)
        assert code == 2 and len(lines) == 1 and str(path.relative_to(whole)) in lines[0] and words in lines[0], lines
        with pytest.raises(InputError, match=words):
            run(begun.kind, begun.parameters, folder)


def test_damaged_and_foreign_states_and_results_are_named(begun, tmp_path, capsys):
    folder, other = tmp_path / "run", begun.base / "other0"
    shutil.copytree(begun.base / "whole", folder)
    run(begun.kind, begun.parameters.replace(**KINDS[begun.kind.name.split()[1]][2][0]), other)
    shutil.copy(other / "results.h5", folder)
    lines, code = verified(folder, capsys)
    assert code == 2 and len(lines) == 1 and "results.h5: holds the results of another input" in lines[0]
    results = bytearray((begun.base / "whole/results.h5").read_bytes())
    results[len(results) // 2] ^= 1
    (folder / "results.h5").write_bytes(results)
    shutil.rmtree(tmp_path / "run2", ignore_errors=True)
    lines, code = verified(folder, capsys)
    assert code == 2 and len(lines) == 1 and "results.h5: damaged between bytes" in lines[0]
    shutil.copytree(begun.base / "later", tmp_path / "run2")
    shutil.copy(begun.base / "other1/checkpoint.h5", tmp_path / "run2")
    lines, code = verified(tmp_path / "run2", capsys)
    assert code == 2 and len(lines) == 1 and "checkpoint.h5: a checkpoint of a different input" in lines[0]


def test_a_folder_in_use_and_one_without_a_run_are_one_line(begun, tmp_path):
    with pytest.raises(InputError, match="there is no run: input.resolved.toml is missing"):
        verify(tmp_path)
    folder = begun.base / "later"
    output = driver.RunOutput(begun.kind.name, begun.parameters, folder, "", {}, Log, 1.0)
    try:
        with pytest.raises(InputError, match="a plaq process is writing into this folder"):
            verify(folder)
    finally:
        output.close()


@pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")
def test_ranks_refuse_together_and_go_on_from_parts_of_others(begun, tmp_path, capsys):
    def on_two_ranks(*arguments):
        return subprocess.run([sys.executable, "-m", "plaq", begun.kind.name.split()[1], "run", "input.toml", "-n", "2",
                               *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=300)

    folder = tmp_path / "run"
    (tmp_path / "input.toml").write_text(begun.parameters.to_toml())
    shutil.copytree(begun.base / "later", folder)
    put_in_place(folder, begun.base / "other0")
    done = on_two_ranks()
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "another run or step than the checkpoint beside it" in done.stderr
    put_in_place(folder, begun.base / "later")
    done = on_two_ranks("--walltime", "0.01")
    assert done.returncode == 0 and verified(folder, capsys) == ([], 0), done.stderr
    if parts(folder).is_dir():
        assert {path.name[-7:] for path in parts(folder).glob("*.part")} == {".0.part", ".1.part"}
    run(begun.kind, begun.parameters, folder)
    assert begun.kind.digest(folder) == begun.digest and verified(folder, capsys) == ([], 0)


def test_a_run_that_dies_when_its_folder_has_a_later_end_goes_on(tmp_path, monkeypatch, capsys):
    kind, parameters, _ = KINDS["pic"]
    later, folder = parameters.replace(time={"end": 9}), tmp_path / "run"
    run(kind, parameters, folder)
    with monkeypatch.context() as patched:
        patched.setattr(Pic, "report", lambda folder: 1 / 0)
        patched.setattr("plaq.pic.simulation.Simulation.steps", lambda self: 1 / 0)  # it has taken over the folder
        with pytest.raises(ZeroDivisionError):
            run(kind, later, folder)
    assert verified(folder, capsys) == ([], 0)  # results are those of the earlier end
    run(kind, later, folder)
    run(kind, later, tmp_path / "at once", after=1)
    run(kind, later, tmp_path / "at once")
    assert kind.digest(folder) == kind.digest(tmp_path / "at once")


@pytest.mark.parametrize("size", [0, 1, 99, 100, 101, 250, 300])
def test_a_hash_is_the_same_piece_by_piece_and_at_once(tmp_path, monkeypatch, size):
    monkeypatch.setattr(hashed, "PIECE", 100)
    data = np.random.default_rng(size).bytes(size)
    path = tmp_path / "file"
    path.write_bytes(data + b"more")
    for step in (7, 100, 1000):
        running = hashed.Hash()
        for begin in range(0, size, step):
            running.update(data[begin:begin + step])
        assert running.entry() == hashed.entry_of(path, size)
    assert len({hashed.entry_of(path, n)["sha256"] for n in range(size + 4)}) == size + 4


def test_hashes_are_those_of_shared_pieces_in_any_order_of_ranks(tmp_path):
    """The hash of the page on files: the sha256 of the sha256s of pieces."""
    path = tmp_path / "file"
    path.write_bytes(b"some bytes")
    expected = hashlib.sha256(hashlib.sha256(b"some bytes").digest()).hexdigest()
    assert hashed.entry_of(path) == {"bytes": 10, "sha256": expected}

"""Simulated machines and the tuning table, as the command line uses them."""

import os
import subprocess
import sys

import pytest
from test_comm import needs_mpi

from plaq.comm import model as comm_model
from plaq.comm import tuning as comm_tuning
from plaq.errors import InputError


def test_a_hierarchy_beats_a_flat_root_on_many_nodes():
    found = dict(comm_model.compare(comm_model.machine("infiniband"), "reduce", 256, 4))
    assert found["flat"] > 5 * min(found.values())
    assert list(found.values()) == sorted(found.values())


def test_long_messages_want_segments():
    best, _ = comm_model.compare(comm_model.machine("infiniband"), "broadcast", 64, 8 << 20)[0]
    assert "KiB" in best


def test_a_machine_of_ones_own(tmp_path):
    file = tmp_path / "two.toml"
    level = "[[levels]]\nranks = 2\nlatency = 1e-6\ngap = 0\nper_byte = 1e-9\n"
    file.write_text("overhead = 1e-7\n" + level)
    ((_, seconds), *_) = comm_model.compare(comm_model.machine(str(file)), "broadcast", 2, 1000)
    assert seconds == pytest.approx(2e-7 + 1e-6 + 1e-6)
    file.write_text("speed = 1\n" + level)
    with pytest.raises(InputError, match="unknown key machine.speed"):
        comm_model.machine(str(file))
    file.write_text("[[levels]]\nranks = 2\n")
    with pytest.raises(InputError, match="level 0: levels.latency is missing"):
        comm_model.machine(str(file))
    with pytest.raises(InputError, match="one of infiniband, dragonfly"):
        comm_model.machine("abacus")


LEVEL = {"ranks": "16", "latency": "1e-6", "gap": "0.0", "per_byte": "1e-9"}


@pytest.mark.parametrize("text, part", [
    ("levels = 3", "levels = 3 is not allowed: it must be a list of tables"),
    ("levels = []", "levels = [] is not allowed"),
    ("overhead = 1", "levels = unset is not allowed"),
    ("levels = [3]", "level 0: levels = 3 is not allowed"),
    ({"ranks": '"many"'}, 'level 0: levels.ranks = "many" is not allowed'),
    ({"ranks": "true"}, "level 0: levels.ranks = true is not allowed"),
    ({"ranks": "0"}, "levels.ranks = 0 is not allowed: it must be an integer from 1 to"),
    ({"ranks": "9" * 400}, "an integer of more than 40 digits"),
    ({"latency": "inf"}, "level 0: levels.latency = inf is not allowed"),
    ({"gap": "-1.0"}, "level 0: levels.gap = -1.0 is not allowed"),
    ({"per_byte": "nan"}, "level 0: levels.per_byte = nan is not allowed"),
    ({"speed": "1"}, "level 0: unknown key levels.speed"),
    ({"": "overhead = false"}, "machine.overhead = false is not allowed"),
    ({"": "eager = inf"}, "machine.eager = inf is not allowed"),
    ({"": "cores = -1"}, "machine.cores = -1 is not allowed"),
])
def test_a_machine_that_cannot_be_is_one_line(tmp_path, text, part):
    file = tmp_path / "machine.toml"
    if isinstance(text, dict):
        rest = {**LEVEL, **text}
        text = rest.pop("", "") + "\n[[levels]]\n" + "".join(f"{key} = {value}\n" for key, value in rest.items())
    file.write_text(text)
    with pytest.raises(InputError) as error:
        comm_model.machine(str(file))
    message = str(error.value)
    assert message.startswith(str(file)) and part in message and len(message.splitlines()) == 1


def test_levels_hold_whole_units_of_those_below(tmp_path):
    file = tmp_path / "machine.toml"
    level = "[[levels]]\nranks = {}\nlatency = 1e-6\ngap = 0\nper_byte = 1e-9\n"
    file.write_text(level.format(16) + level.format(24))
    with pytest.raises(InputError, match="level 1: ranks = 24 is not allowed: it must be a multiple of 16"):
        comm_model.machine(str(file))


@pytest.mark.parametrize("content", [b"reduce x 0 tree 2 0", b"reduce", b"\xff\xfe", b"reduce 2 0 tree 2 0 7",
                                     b"reduce 2 0 tree 2 inf"])
def test_a_damaged_table_is_reported_before_anything_is_measured(tmp_path, monkeypatch, content):
    (tmp_path / "table").write_bytes(content)
    monkeypatch.setenv("PLAQ_COMM_TUNING", str(tmp_path / "table"))
    with pytest.raises(InputError, match="table.*remove it to measure again"):
        comm_tuning.tune([2], 1)
    monkeypatch.setenv("PLAQ_COMM_TUNING", str(tmp_path))
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        comm_tuning.tune([2], 1)


@pytest.mark.parametrize("text", ["", "0", "-1", "1,", "two", "1" * 5000, "99999999", "2;4"])
def test_a_list_that_is_none(text):
    with pytest.raises(InputError, match="--ranks .*integers from 1 to 16777216"):
        comm_tuning.parse_list(text, "--ranks")


def test_the_command_line_names_the_fastest_arity():
    words = ["comm", "simulate", "scatter", "-n", "32", "--bytes", "4"]
    said = subprocess.run([sys.executable, "-m", "plaq", *words], capture_output=True, text=True, timeout=100)
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("scatter of 4 bytes on 32 ranks: ") and "flat takes" in said.stdout


@needs_mpi
def test_a_table_is_measured_and_rows_of_other_ranks_stay(tmp_path):
    table = tmp_path / "folder" / "table"
    program = "from plaq.comm.tuning import tune; tune([2], 1, [4, 4096]); tune([1], 1, [4])"
    environment = {**os.environ, "PLAQ_COMM_TUNING": str(table)}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=200)
    assert run.returncode == 0, run.stderr
    rows = [line.split() for line in table.read_text().splitlines() if not line.startswith("#")]
    assert {row[1] for row in rows} == {"1", "2"}
    assert {row[0] for row in rows if row[1] == "2"} == set(comm_tuning.OPERATIONS)
    assert all(row[2] == "0" for row in rows if row[0] == "barrier")


def test_lists_of_numbers():
    assert comm_tuning.parse_list("2,4", "-n") == [2, 4]
    for text in "2,x", "", "0", "2,,4":
        with pytest.raises(InputError, match="-n"):
            comm_tuning.parse_list(text, "-n")

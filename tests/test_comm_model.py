"""Simulated machines and the tuning table, as the command line uses them."""

import os
import subprocess
import sys

import pytest

from plaq import comm_model, comm_tuning
from plaq.errors import InputError
from test_comm import needs_mpi


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
    with pytest.raises(InputError, match="not speed"):
        comm_model.machine(str(file))
    file.write_text("[[levels]]\nranks = 2\n")
    with pytest.raises(InputError, match="level 0 needs the keys"):
        comm_model.machine(str(file))
    with pytest.raises(InputError, match="one of infiniband, dragonfly"):
        comm_model.machine("abacus")


def test_the_command_line_says_which_arity_wins():
    words = ["comm", "simulate", "scatter", "-n", "32", "--bytes", "4"]
    said = subprocess.run([sys.executable, "-m", "plaq", *words], capture_output=True, text=True, timeout=100)
    assert said.returncode == 0, said.stderr
    assert said.stdout.startswith("scatter of 4 bytes on 32 ranks: ") and "flat takes" in said.stdout


@needs_mpi
def test_a_table_is_measured_and_rows_of_other_ranks_stay(tmp_path):
    table = tmp_path / "folder" / "table"
    program = "from plaq.comm_tuning import tune; tune([2], 1, [4, 4096]); tune([1], 1, [4])"
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

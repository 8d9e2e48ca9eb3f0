"""Messages that launchers add to the errors of a job are left out; all else is shown at once."""

import pytest

from plaq.comm import launch
from plaq.comm.launcher_noise import NoiseFilter

BAR = b"-" * 74 + b"\n"
OURS = b"plaq: error on rank 1 of 2: no memory\n"
MPICH = b"Abort(1) on node 1 (rank 1 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1) - process 1\n"
ABORT = BAR + b"MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\n  Proc: [[1,1],1]\n" + BAR
EXIT = BAR + b"prterun detected that one or more processes exited with non-zero status,\nthus ...\n" + BAR
SIGNAL = BAR + b"orterun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).\n" + BAR
PASSED = b"orterun: Forwarding signal 10 to job\n"
OTHER = BAR + b"There are not enough slots available in the system\n" + BAR


def filtered(text, pieces):
    noise_filter = NoiseFilter()
    return b"".join(noise_filter(text[i:i + pieces]) for i in range(0, len(text), pieces)) + noise_filter.rest()


@pytest.mark.parametrize("pieces", [1, 7, 100, 10_000])
@pytest.mark.parametrize("noise", [MPICH, ABORT, EXIT, ABORT + EXIT, SIGNAL, PASSED, EXIT + SIGNAL])
def test_launcher_noise_is_left_out(noise, pieces):
    assert filtered(OURS + noise + b"more\n", pieces) == OURS + b"more\n"
    assert filtered(noise, pieces) == b""


@pytest.mark.parametrize("pieces", [1, 7, 100, 10_000])
@pytest.mark.parametrize("text", [b"", OURS, OTHER, BAR + b"cut off", b"no end of line", b"---", b"Abort(",
                                  b"mpirun was here\n", b"\xff\r\n\n"])
def test_all_else_is_shown(text, pieces):
    assert filtered(text, pieces) == text


@pytest.mark.parametrize("text, rank", [(EXIT + SIGNAL, 1), (SIGNAL.replace(b"rank 1 ", b"rank 12 "), 12), (EXIT, None),
                                        (ABORT, None)])
def test_the_rank_that_a_signal_ended_is_known(text, rank):
    noise_filter = NoiseFilter()
    noise_filter(text)
    assert noise_filter.killed() == rank


def test_unfinished_lines_are_shown_at_once():
    assert list(map(NoiseFilter(), [b"a", b"b\n--", b"-\n", b"c"])) == [b"a", b"b\n", b"---\n", b"c"]


@pytest.mark.parametrize("ours", [b"", OURS])
def test_a_job_without_output_of_its_own_shows_the_launchers_messages(ours, tmp_path, monkeypatch, capfd):
    (tmp_path / "said").write_bytes(ours + EXIT)
    monkeypatch.setattr(launch, "launcher_command", lambda ranks: ["sh", "-c", 'cat "$0" >&2; exit 7'])
    assert launch.start([str(tmp_path / "said")], 2) == 7
    assert capfd.readouterr().err.encode() == (ours or EXIT)

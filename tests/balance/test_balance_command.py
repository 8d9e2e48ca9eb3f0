"""The command: table, CSV and picture."""

import os
import subprocess
import sys
import threading

from test_balance_loads import plume, write


def run(*arguments):
    done = subprocess.run([sys.executable, "-m", "plaq", "balance", *map(str, arguments)], capture_output=True,
                          text=True)
    return done.returncode, done.stdout, done.stderr


def test_table_csv_and_picture(tmp_path):
    file = write(tmp_path / "l.jsonl", [plume(8, 4), plume(8, 4)])
    code, out, err = run(file, "--by", "none,refine", "-n", 8, "--csv", tmp_path / "t.csv", "--picture",
                         tmp_path / "p.png")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "plume: 64 elements in 2 phases, on 8 ranks, recorded on 4"
    assert lines[1].split() == ["balancer", "I", "before", "predicted", "floor", "moved", "bytes", "cut", "time"]
    none, refine = lines[2].split(), lines[3].split()
    assert none[0] == "none" and none[1] == none[2] and none[4:6] == ["0.0", "%"]
    assert refine[0] == "refine" and float(refine[2]) < 0.5 * float(none[2])
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 5
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_errors_are_one_line_and_exit_code_2(tmp_path):
    file = write(tmp_path / "l.jsonl", [plume(2, 2)])
    for arguments, words in [
        ((tmp_path / "none.jsonl",), "there is no such file"),
        ((file, "--by", "best"), "--by: unknown balancer 'best'"),
        ((file, "--ranks", 0), "'0' is not an integer from 1"),
        ((file, "--picture", tmp_path / "p.gif"), "does not end in .png"),
    ]:
        code, out, err = run(*arguments)
        assert code == 2 and words in err and "Traceback" not in err


def test_loads_may_come_through_a_pipe(tmp_path):
    file, pipe = write(tmp_path / "l.jsonl", [plume(8, 4)]), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(file.read_bytes()))
    writer.start()
    code, out, err = run(pipe, "--by", "none")
    writer.join()
    assert (code, err) == (0, "") and out.startswith("plume: 64 elements in 1 phases"), err

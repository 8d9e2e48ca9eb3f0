"""Every command with wrong arguments of every kind: one line on stderr that says what was wrong, exit code 2."""

import itertools

import pytest
from test_cli import INPUT, one_error, plaq

READS_INPUT = [("dca", "run"), ("check",), ("dca", "estimate")]
READS_RUN = [("dca", name) for name in ("digest", "plot", "report", "export")]
READS_TRACE = [("trace", name) for name in ("profile", "tree", "graph", "report", "chrome", "otf2")]
PATHS = ["none", "empty", "folder", "garbage", "x" * 300, "caf\udce9", "a\nb", ""]
WRONG = [
    ((), "--nope"), ((), "nope"), (("dca",), "nope"), (("comm",), "--set"), (("trace",), "runs"),
    (("dca", "run"), ()), (("check",), ()), (("dca", "estimate"), ()), (("dca", "calibrate"), ()),
    (("dca", "run"), ("input.toml", "more")), (("dca", "run"), ("input.toml", "--out")), (("info",), "more"),
    (("dca", "run"), ("input.toml", "--trace=yes")), (("dca", "parameters"), "--markdown=3"),
    (("dca", "digest"), ("a", "b")),
    *(((*command,), ("input.toml", "--set", setting)) for command in READS_INPUT
      for setting in ("", "=", "model", "model.U", "model.U=", "model.U=x", "model.u=1", "x=\0", "run.folder=")),
    *((("dca", "run"), ("input.toml", option, value)) for option, value in [
        ("-n", "0"), ("-n", "-1"), ("-n", "1e3"), ("-n", "two"), ("-n", "9" * 5000), ("-n", ""),
        ("--ranks", "99999999"),
        ("--threads", ""), ("--threads", "fibre"), ("--workers", "-1"), ("--workers", "4097"), ("--workers", "inf"),
        ("--bind", ""), ("--bind", "1-0"), ("--walltime", "0"), ("--walltime", "nan"), ("--walltime", "1:2:3:4"),
        ("--out", ""), ("--out", "input.toml"), ("--out", "x/" * 2000), ("--out", "a\0"), ("--from", "none")]),
    *((("dca", "estimate"), ("input.toml", option, value)) for option, value in [
        ("-n", "0"), ("-n", "1000"), ("-n", "9" * 400), ("--workers", "0"), ("--workers", "5000"),
        ("--machine", "none"),
        ("--machine", "folder"), ("--machine", "input.toml"), ("--machine", "garbage"), ("--machine", "")]),
    *((("comm", "simulate"), words) for words in [
        ("nope",), ("reduce", "--machine", "none"), ("reduce", "--machine", "folder"),
        ("reduce", "--machine", "garbage"),
        ("reduce", "--machine", "input.toml"), ("reduce", "-n", "0"), ("reduce", "-n", "2,"),
        ("reduce", "-n", "9" * 400),
        ("reduce", "-n", "1000000000"), ("reduce", "--bytes", "-1"), ("reduce", "--bytes", "1" * 30),
        ("reduce", "--best", "0")]),
    *((("comm", "tune"), words) for words in [("-n", "0"), ("-n", "a"), ("--repeats", "0"), ("--repeats", "x"),
                                              ("more",)]),
    (("trace", "graph"), ("folder", "--by", "colour")), (("trace", "graph"), ("folder", "--limit", "0")),
    (("trace", "profile"), ("folder", "--csv")),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("place")
    (place / "input.toml").write_text(INPUT)
    (place / "empty").touch()
    (place / "folder").mkdir()
    (place / "garbage").write_bytes(bytes(range(256)))
    return place


@pytest.mark.parametrize("command, words", WRONG)
def test_wrong_words(place, command, words):
    before = sorted(place.iterdir())
    words = (words,) if isinstance(words, str) else words
    one_error(plaq(place, *command, *words), 2)
    assert sorted(place.iterdir()) == before


@pytest.mark.parametrize("command, path", list(itertools.product(READS_INPUT + READS_RUN + READS_TRACE, PATHS)))
def test_wrong_paths(place, command, path):
    one_error(plaq(place, *command, path, fake=False), 2)

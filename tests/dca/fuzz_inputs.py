"""Inputs that nobody would write: a generator, and what has to hold for each of them.

``python tests/dca/fuzz_inputs.py FIRST COUNT`` tries so many from a number on and says what it found.
"""

import random
import resource
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from plaq.dca.application import Dca
from plaq.dca.inputs.table import SCHEMA
from plaq.dca.parameters import Parameters
from plaq.dca.planning.forecast import describe
from plaq.errors import InputError
from plaq.inputs.schema import Option, parse_toml, to_toml
from plaq.run import sweep

OPTIONS = {"--threads": "run.threads", "--workers": "run.workers", "--bind": "run.bind",
           "--walltime": "run.walltime", "--out": "run.folder"}
BASE = {"model": {"U": 4.0}, "dca": {"temperatures": [1.0, 0.5], "density": 0.9}, "solver": {"chains": 8},
        "two_particle": {"channels": ["pp"]}, "run": {"folder": "run"}}
TEXT = b"""# a comment
[model]
U = 6.0
cluster = [[2, 0], [0, 2]]
hopping = { "1,0" = -1.0, "0,1" = -1.0 }
[dca]
temperatures = [1.0, 0.5]
density = 0.95
[solver]
measurements = 100_000
seed = 0x10
[two_particle]
channels = ["pp", 'magnetic']
transfers = [[0, 0], [1.0, 1.0]]
below = inf
[run]
walltime = 00:10:00
folder = \"\"\"run\"\"\"
[sweep]
"model.U" = [4.0, 5.0]
"""
WORDS = ["auto", "none", "run", "pp", "ed", "1,0", "0-3", "1:00:00", "", "\0", "a\nb", "\u2028", "é", "\udce9", "..",
         "/", "x" * 300,
         "9" * 400, "9" * 5000, "1e400", "nan", "inf", "-inf", "[", "]" * 50, "{", '"', "'''", "=", "#",
         "0-99999999999", "\x7f", "٣", "²"]
NUMBERS = [0, 1, -1, 2, 3, 7, 64, 2**31, 2**63, -2**63, 10**19, 10**400, -10**5000, 0.0, -0.0, 0.5, 1e-4, 1e-300,
           5e-324, 1e5, 1e16, 1e19,
           1e300, 1.7976931348623157e308, float("inf"), -float("inf"), float("nan"), True, False]


def nested(levels):
    found = []
    for _ in range(levels):
        found = [found]
    return found


NESTED = [nested(levels) for levels in (10, 500, 3000)]


def value(rng, depth=0):
    """Anything that a TOML file or a Python program may hold."""
    which = rng.random()
    if which < 0.4:
        return rng.choice(NUMBERS)
    if which < 0.5:
        return rng.uniform(-1, 1) * 10.0 ** rng.randint(-20, 20)
    if which < 0.7:
        return rng.choice(WORDS)
    if which < 0.75:
        return None
    if which < 0.78:  # deeper than anything is read
        return rng.choice(NESTED)
    if depth > 2:
        return []
    if which < 0.92:
        found = [value(rng, depth + 1) for _ in range(rng.choice([0, 1, 2, 2, 2, 3, 5]))]
        return found * 1000 if depth == 0 and rng.random() < 0.1 else found
    return {rng.choice(["1,0", "1, 0", "0,1", "-1,0", *WORDS]): value(rng, depth + 1) for _ in range(rng.randint(0, 3))}


def good(rng, key):
    """A value that is likely to be allowed, at the ends of its range too."""
    pick = rng.choice
    logs = lambda low, high: 10.0 ** rng.uniform(low, high)
    return {
        "model.t": pick([1.0, 0.0, -1000.0, 1e-300, logs(-3, 3)]),
        "model.t_prime": pick([0.3, -0.2, 1000.0, logs(-3, 3)]),
        "model.U": pick([0.0, 1000.0, logs(-3, 3)]),
        "model.cluster": [[rng.randint(-4, 4), rng.randint(-4, 4)] for _ in range(2)],
        "model.hopping": {f"{rng.randint(-3, 3)},{rng.randint(-3, 3)}": rng.uniform(-2, 2)
                          for _ in range(rng.randint(1, 4))},
        "dca.temperatures": sorted({logs(-4, 4) for _ in range(rng.randint(1, 4))}, reverse=True),
        "dca.density": rng.uniform(0.01, 1.99), "dca.mu": pick([0.0, 1e5, -logs(-3, 5)]),
        "dca.isolated": pick([True, False]),
        "solver.kind": pick(["ctaux", "ed"]), "solver.measurements": pick([2e9, 100000, 64]),
        "solver.chains": pick([1, 8, 1000000, 64]),
        "solver.bins": pick([64, 65536, 128]), "solver.K": pick(["auto", 1e-3, 1e4]), "solver.warmup": pick([0, 10**9]),
        "two_particle.channels": [c for c in ("pp", "magnetic", "charge", "transverse") if rng.random() < 0.5],
        "two_particle.below": pick([float("inf"), 1.0, 1e-300]), "two_particle.frequencies": pick(["auto", 1, 2048]),
        "two_particle.omega_max": pick([1e9, 5.0, 1e-300]),
        "two_particle.transfers": [[pick([0, 1, 0.5, 64]), pick([0, 1])]],
        "two_particle.bosonic": pick([[0], [-1000, 1000], [1, 0]]), "run.workers": pick(["auto", 1, 4096]),
        "run.bind": pick(["auto", "none", "0"]), "run.folder": pick(["a", "ü", "n" * 255]),
        "run.walltime": pick([1e-300, 1e308, "10:00"]),
    }.get(key, pick(NUMBERS))


def tables(rng, make):
    given = {section: dict(content) for section, content in BASE.items()}
    for _ in range(rng.randint(1, 4)):
        key = rng.choice(list(SCHEMA.parameters))
        section, _, name = key.partition(".")
        given.setdefault(section, {})[name] = make(rng, key)
    if rng.random() < 0.5:
        given["dca"].pop(rng.choice(["density", "mu"]), None)
    return given


def spoiled(rng):
    """A table with a few impossible values, keys or sections."""
    given = tables(rng, lambda rng, key: value(rng))
    which = rng.random()
    if which < 0.1:
        given[rng.choice(WORDS)] = value(rng)
    elif which < 0.2:
        given[rng.choice(list(given))] = value(rng)
    elif which < 0.3:
        given["dca"][rng.choice(WORDS)] = value(rng)
    return given


def text(rng):
    """Bytes of a file that was a TOML file once."""
    content = bytearray(TEXT)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(content) + 1)
        which = rng.random()
        if which < 0.3 and at < len(content):
            content[at] = rng.randrange(256)
        elif which < 0.5:
            del content[at : at + rng.randint(1, 30)]
        elif which < 0.7:
            content[at:at] = rng.choice(WORDS).encode("utf-8", "surrogateescape")
        elif which < 0.85:
            other = rng.randrange(len(TEXT))
            content[at:at] = TEXT[other : other + rng.randint(1, 60)]
        elif which < 0.97:
            content[at:at] = rng.choice([b"[", b"]", b"{", b"}", b",", b"=", b"\n", b"0", b"e", b"-", b'"', b"."])
        else:
            content[at:at] = rng.choice([b"[", b"{a=", b"a."]) * rng.choice([100, 3000, 20000])
        content = content or bytearray(b"\xef\xbb\xbf")
    return bytes(content)


def words(rng):
    """Return the text behind an option."""
    return rng.choice([rng.choice(WORDS), str(rng.choice(NUMBERS[:11])) if rng.random() < 0.1
                       else repr(rng.uniform(-9, 9)),
                       to_toml([rng.uniform(-1, 1)] * rng.randint(0, 3)), "[" * rng.choice([1, 3000])])


def settings(rng):
    found = []
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.4:
            name = rng.choice(list(OPTIONS))
            found.append(Option(name, OPTIONS[name], words(rng)))
        else:
            key = rng.choice([*SCHEMA.parameters, *WORDS])
            found.append(rng.choice([f"{key}={words(rng)}", key]))
    return found


def attempt(number, path, described):
    """Try input ``number``; return "refused" or "accepted", with the time. AssertionError for anything else."""
    rng = random.Random(number)
    kind = rng.choice([spoiled, spoiled, text, settings, good])
    started = time.process_time()
    try:
        if kind is text:
            path.write_bytes(text(rng))
            runs = sweep.read(Dca, path)
        elif kind is settings:
            runs = {"": Parameters.from_tables(BASE, "fuzz.toml", settings(rng))}
        else:
            given = tables(rng, good) if kind is good else spoiled(rng)
            runs = {"": Parameters.from_tables(given, "fuzz.toml")}
        outcome = "accepted"
        for p in list(runs.values())[:1]:
            assert Parameters.from_tables(parse_toml(p.to_toml(), "again"), "again") == p
            if described():
                outcome = "described"
                assert "estimate:" in describe(p)
    except InputError as error:
        message, outcome = str(error), "refused"
        one_line = len(message.splitlines()) == 1 and len(message) < 1500 and message.isprintable()
        assert one_line, message[:3000]
    return f"{kind.__name__} {outcome}", time.process_time() - started


def main(first, count):
    found, slowest, problems = Counter(), (0.0, 0), 0
    with TemporaryDirectory() as folder:
        for number in range(first, first + count):
            try:
                outcome, seconds = attempt(number, Path(folder) / "fuzz.toml", lambda: number % 20 == 0)
                found[outcome] += 1
                slowest = max(slowest, (seconds, number))
            except Exception as error:
                problems += 1
                if problems < 20:
                    print(number, type(error).__name__, str(error)[:300].replace("\n", " "), flush=True)
    print(dict(found), f"slowest: {slowest[0]:.2f} s (input {slowest[1]})", f"{problems} problems",
          f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

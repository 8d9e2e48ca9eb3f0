"""Random inputs of `plaq pic`: a generator, and the conditions that hold for each of them.

``python tests/pic/fuzz_pic.py FIRST COUNT`` tries so many from a number on and says what it found: anything but a
description or one line, a warning, more than `SLOWEST` seconds, more than `MOST` bytes.
"""

import random
import re
import resource
import sys
import time
import tomllib
import warnings
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from plaq.errors import InputError
from plaq.pic.application import Pic
from plaq.pic.inputs.parameters import Parameters

SLOWEST, MOST = 10.0, 1 << 30
ROOT = Path(__file__).parents[2]

LXCAT = ('"IONIZATION\\nHe -> He^+\\n 24.6\\nCOLUMNS: Energy (eV) | Cross section (m2)\\n'
         '-----\\n0 0\\n24.6 0\\n99 3e-21\\n-----\\n"')
ELECTROSTATIC = """
[time]
end = 1
step = 0.1
[fields]
solver = "electrostatic"
[species.e]
charge = -1
mass = 1
"""
BASES = [
    """
[grid]
cells = [8, 8]
length = [2.0, 2.0]
[time]
end = 1
[constants]
n = 0.5
[species.e]
charge = -1
mass = 1
density = "n*(1 + 0.1*cos(pi*x))"
per_cell = 2
temperature = [0.01, "0.01*y", 0]
drift = ["0.1*x", 0, 0]
[species.i]
charge = 1
mass = 100
density = 0.5
per_cell = 2
like = "e"
[collision.ei]
between = ["e", "i"]
[units]
density = 1e24
[probe.p]
field = "ex"
at = [1, 1]
along = "x"
[histogram.h]
species = "e"
axes = ["x", "ux"]
low = [0, -1]
high = [2, 1]
bins = [4, 4]
every = 2
[run]
balance_by = "none"
""",
    """
[grid]
cells = [16, 12]
length = [4, 3]
patches = [2, 2]
[boundaries]
x = ["conducting", "conducting"]
y = "conducting"
potential_x = [0, 0.2]
particles_x = ["absorbed", "reflected"]
""" + ELECTROSTATIC + """
[emission.plate]
species = "e"
at = [0, 1.5]
normal = [1, 0]
half_width = 1
flux = "0.1*t"
per_cell = 50
[conductor.rod]
where = "(x-2)^2 + (y-1.5)^2 < 0.5"
potential = 0.1
""",
    """
[grid]
cells = [40]
length = [10]
patches = [2]
[boundaries]
x = "absorbing"
[time]
end = 5
[fields]
stencil = "cowan"
e = [0, "0.01*sin(x)", 0]
[window]
speed = 1
start = 3
[laser.pulse]
at = 1
wavelength = 1.5
a0 = 0.1
envelope = "gauss(t - 2, 1)"
[species.e]
charge = -1
mass = 1
density = "if(x > 5, 0.01, 0)"
per_cell = 1
placed = "even"
[output]
fields = ["ex", "rho"]
""",
    """
[units]
density = 1e24
[grid]
cells = [12]
length = [3]
[time]
end = 1
[constants]
f = [[0, 0], [1, 1], [2, 0]]
[solver]
gather = "momentum"
[fields]
filter_passes = 2
filter_compensation = true
stencil = "lehe"
of_moving = ["e"]
[external]
e = [0, "0.1*cos(x - t)", 0]
b = ["f(x)", 0, 0.3]
[species.e]
charge = -1
mass = 1
density = "f(x)"
per_cell = 2
drift = [2, 0, 0]
[species.h]
charge = 0
mass = 1837
density = 1
per_cell = 1
momenta = "gauss(ux, 0.1)"
momenta_low = [-0.2, 0, 0]
momenta_high = [0.2, 0, 0]
[species.p]
charge = 1
mass = 1836
[species.t]
charge = 1
mass = 1
test = true
[ionisation.h]
species = "h"
ions = "p"
electrons = "e"
potential = 2.66e-5
""",
    """
[units]
system = "SI"
density = 1e15
[grid]
cells = [16]
length = [0.02]
patches = [2]
[boundaries]
x = "conducting"
[time]
end = 2e-9
step = 2e-10
[fields]
solver = "electrostatic"
[external]
e = ["100*sin(1e8*t)", 0, 0]
[species.e]
charge = -1
mass = 1
density = 1e15
per_cell = 2
temperature = 2
[species.i]
charge = 1
mass = 7e3
density = 1e15
per_cell = 2
like = "e"
[species.n]
charge = -1
mass = 7e3
[gas.he]
density = "1e21*(1 + x)"
temperature = 0.026
mass = 7294
[scattering.e]
species = "e"
gas = "he"
electrons = "e"
ions = "i"
cross_sections = """ + LXCAT + """
[reaction.r]
between = ["i", "n"]
rate = "1e-13*sqrt(0.026/max(energy, 0.001))"
[circuit.c]
electrode = "x high"
source = "300*sin(8e7*t)"
resistance = 50
capacitance = 1e-9
area = 0.01
[dielectric.d]
where = "x < 0.004"
permittivity = 4
[secondary.s]
by = "e"
emits = "e"
coefficient = "vaughan(energy, angle, 400, 2.1)"
at = ["x high"]
[merging.m]
species = "e"
above = 20
every = 2
[splitting.h]
species = "i"
below = 4
per_cell = 100
[mean.p]
quantity = "power"
length = 1e-9
""",
    """
[units]
density = 1e20
[grid]
cells = [12, 10]
length = [3, 2]
[boundaries]
y = "conducting"
potential_y = [0, 0.1]
""" + ELECTROSTATIC + """
[emission.hot]
species = "e"
at = [1.5, 0]
normal = [0, 1]
half_width = 1
law = "richardson"
work_function = 8e-6
temperature = 4e-7
profile = "1 + 0.1*cos(x)"
per_cell = 1e6
[dielectric.block]
where = "(abs(x-1) < 0.5)*(y > 1)"
permittivity = 3
[conductor.wire]
where = "(x-2.5)^2 + (y-1)^2 < 0.1"
[circuit.float]
electrode = "wire"
floating = true
""",
    """
[grid]
cells = [20, 16]
length = [10, 8]
[boundaries]
x = "absorbing"
[time]
end = 1
[laser.pulse]
at = 2
wavelength = 4
a0 = 0.1
waist = 3
focus = 4
direction = [1, 0.4]
centre = [2, 3]
envelope = "gauss(t - 2, 1)"
""",
]
BASES += [path.read_text() for path in sorted((ROOT / "examples").glob("*/input.toml"))
          if "[grid]" in path.read_text()]
BASES += re.findall(r"^```toml[^\n]*\n(.*?)^```$", (ROOT / "docs/pic.md").read_text(), flags=re.M | re.S)
WORDS = [
    *(
        "auto",
        "none",
        "e",
        "x",
        "1/0",
        "1/(x-1)",
        "log(-1)",
        "x^x^x",
        "((((",
        "sin(",
        "a=1",
        "",
        "\0",
        "a\nb",
        "\u2028",
        "é",
        "\udce9",
    ),
    *(
        "x" * 300,
        "9" * 5000,
        "1e400",
        "nan",
        "(" * 3000,
        "-" * 3000 + "1",
        "1+" * 3000 + "1",
        "t",
        "z",
        "e^1000",
        "if(1,2)",
        "periodic",
    ),
    *("conducting", "absorbing", "electrostatic", "quiet", "juttner", "SI"),
]
NUMBERS = [
    *(
        0,
        1,
        -1,
        2,
        3,
        7,
        64,
        2**31,
        2**63,
        -(2**63),
        10**19,
        0.0,
        -0.0,
        0.5,
        1e-4,
        1e-300,
        5e-324,
        1e5,
        1e16,
        1e300,
        1e308,
        -1e308,
        1e30,
        1e-30,
        1e-17,
        1e7,
        10**6,
        10**9,
        np.nextafter(1.0, 2.0).item(),
        True,
        False,
    ),
    *(float("inf"), -float("inf"), float("nan")),
]


def value(rng, depth=0):
    which = rng.random()
    if which < 0.4:
        return rng.choice(NUMBERS)
    if which < 0.5:
        return rng.uniform(-1, 1) * 10.0 ** rng.randint(-20, 20)
    if which < 0.8:
        return rng.choice(WORDS)
    if depth > 2 or which < 0.83:
        return []
    if which < 0.96:
        return [value(rng, depth + 1) for _ in range(rng.choice([0, 1, 2, 2, 3, 5]))]
    return {rng.choice(WORDS): value(rng, depth + 1) for _ in range(rng.randint(0, 2))}


def near(rng, old):
    """A value of the same kind, or anything."""
    if isinstance(old, bool) or rng.random() < 0.2:
        return value(rng)
    if isinstance(old, (int, float)):
        return rng.choice([old * 2, old / 3, -old, old + 1, old * 1e3, old // 2, 0, old * 10 ** rng.randint(1, 12),
                           old * 10.0 ** rng.randint(-35, 35)])
    if isinstance(old, str):
        at = rng.randrange(len(old) + 1)
        return (
            old[:at]
            + rng.choice(["", "(", ")", "*", "+", "x", "t", " ", "9", ".", "^", "/0", "e", "≤"])
            + old[at + rng.randint(0, 2) :]
        )
    if isinstance(old, list):
        return [near(rng, part) if rng.random() < 0.5 else part for part in old] + [1] * (rng.random() < 0.1)
    return value(rng)


def tables(rng):
    """An input with a few values, keys or sections that are others, or not there."""
    given = tomllib.loads(rng.choice(BASES))
    if rng.random() < 0.3:  # sections of another one
        other = tomllib.loads(rng.choice(BASES))
        for section in rng.sample(list(other), min(len(other), rng.randint(1, 3))):
            given[section] = other[section]
    for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
        table = given
        while True:
            key = rng.choice(list(table))
            if isinstance(table[key], dict) and table[key] and rng.random() < 0.95:
                table = table[key]
                continue
            break
        which = rng.random()
        if which < 0.72:
            table[key] = near(rng, table[key])
        elif which < 0.75:
            table[key] = [table[key]] * rng.choice([0, 2, 1000])
        elif which < 0.85 and len(table) > 1:
            del table[key]
        elif which < 0.95:
            table[key + rng.choice("sxe_")] = table[key]
        else:
            table[rng.choice(WORDS)] = value(rng)
    return given


def text(rng):
    """Bytes of a file that was an input once."""
    content = bytearray(rng.choice(BASES).encode())
    for _ in range(rng.randint(1, 5)):
        at, which = rng.randrange(len(content) + 1), rng.random()
        if which < 0.3 and at < len(content):
            content[at] = rng.randrange(256)
        elif which < 0.6:
            del content[at : at + rng.randint(1, 30)]
        elif which < 0.8:
            content[at:at] = rng.choice(WORDS).encode("utf-8", "surrogateescape")
        else:
            content[at:at] = rng.choice([b"[", b"]", b"{", b"}", b",", b"=", b"\n", b"0", b"e", b"-", b'"', b"."])
        content = content or bytearray(b"x")
    return bytes(content)


def attempt(number, path):
    """Return "refused" or "accepted" and the time of an input. AssertionError for anything else."""
    rng = random.Random(number)
    started = time.process_time()
    warnings.simplefilter("error")
    try:
        if rng.random() < 0.15:
            path.write_bytes(text(rng))
            p = Parameters.read(path)
        else:
            p = Parameters.from_tables(tables(rng), "fuzz.toml")
        outcome = "read"
        Pic(p).describe()
        outcome = "checked"
    except InputError as error:
        message, outcome = str(error), "refused"
        assert message and len(message.splitlines()) == 1 and len(message) < 1500 and message.isprintable(), message[
            :3000
        ]
    seconds = time.process_time() - started
    assert seconds < SLOWEST, f"{seconds:.1f} s"
    return outcome, seconds


def main(first, count):
    found, slowest, problems = Counter(), (0.0, 0), 0
    room = int(re.search(r"VmSize:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024 + MOST
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    with TemporaryDirectory() as folder:
        for number in range(first, first + count):
            try:
                outcome, seconds = attempt(number, Path(folder) / "fuzz.toml")
                found[outcome] += 1
                slowest = max(slowest, (seconds, number))
            except Exception as error:
                problems += 1
                if problems < 20:
                    print(number, type(error).__name__, str(error)[:300].replace("\n", " "), flush=True)
    print(dict(found), f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB",
          f"slowest: {slowest[0]:.2f} s (input {slowest[1]})", f"{problems} problems", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

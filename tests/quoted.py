"""Comparison of the output that a page quotes with the numbers that the program gives.

A block of text is quoted line by line, in the order of the output; "..." stands for lines that are left out.
"""

import itertools
import math
import re

DURATION = re.compile(r"\d+(\.\d+)? (s|min|h)\b( \d\d (s|min)\b)?")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?:\(\d+\))?")
SIGMAS = 4.0  # combined standard errors that two runs of different random walks may lie apart
PART = 0.1  # what a number without an error may be off there; one with six digits behind the point is exact


def skeleton(line):
    """A line without its numbers, times and spaces."""
    return re.sub(r"\s+", " ", NUMBER.sub("#", DURATION.sub("@", line))).strip()


def numbers(line):
    return NUMBER.findall(DURATION.sub("@", line))


def as_printed(quoted, output):
    """The quoted text with every line as the output has it; AssertionError names a line that the output lacks."""
    lines, at, found = output.split("\n"), 0, []
    for line in quoted.rstrip("\n").split("\n"):
        if line.strip() in ("...", ""):
            found.append(line)
            continue
        places = [k for k in range(at, len(lines)) if skeleton(lines[k]) == skeleton(line)]
        assert places, f"nothing prints a line like this one: {line}"
        place = max(places, key=lambda k: (alike(lines[k], line), -k))
        found.append(lines[place])
        at = place + 1
    return "\n".join(found) + "\n"


def alike(one, other):
    """Return the number of leading numbers that two lines have in common, as T and iteration in a row of a table."""
    pairs = zip(numbers(one), numbers(other))
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def value_and_error(number):
    """0.992(3) -> 0.992, 0.003; the error is 0 where none is given."""
    plain, _, digits = number.rstrip(")").partition("(")
    return float(plain), int(digits or 0) * 10.0 ** -len(plain.partition(".")[2])


def within_errors(quoted, printed):
    """Whether two lines of one skeleton agree as two runs on different machines do."""
    for a, b in zip(numbers(quoted), numbers(printed), strict=True):
        (x, dx), (y, dy) = value_and_error(a), value_and_error(b)
        if dx or dy:
            ok = abs(x - y) <= SIGMAS * math.hypot(dx, dy)
        elif len(a.partition(".")[2]) >= 6:
            ok = a == b
        elif "σ" in quoted or "standard errors" in quoted or "e-" in a:
            ok = abs(x - y) <= max(2 * SIGMAS, PART * abs(x))  # in errors already, or roundings
        else:
            ok = abs(x - y) <= max(PART * abs(x), 2 * 10.0 ** -len(a.partition(".")[2]))
        if not ok:
            return False
    return True

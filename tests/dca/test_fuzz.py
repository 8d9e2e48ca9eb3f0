"""Ten thousand inputs that nobody would write: each is accepted, or refused in one line."""

import resource
from collections import Counter

import fuzz_inputs

COUNT, DESCRIBED = 10_000, 25


def test_every_input_is_accepted_or_refused_in_one_line(tmp_path):
    found, before = Counter(), memory()
    for number in range(COUNT):
        outcome, _ = fuzz_inputs.attempt(number, tmp_path / "input.toml", lambda: count(found, "described") < DESCRIBED)
        found[outcome] += 1
    assert min(count(found, "refused"), 20 * count(found, "accepted"),
               400 * count(found, "described")) > COUNT // 4, found
    assert memory() - before < 200e6


def memory():
    """Most bytes that this process had so far."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def count(found, outcome):
    return sum(times for name, times in found.items() if name.endswith(outcome))

"""Thousands of random inputs: each is accepted, or refused in one line."""

from collections import Counter

import fuzz_pic

COUNT = 3000


def test_every_input_is_accepted_or_refused_in_one_line(tmp_path):
    found = Counter(fuzz_pic.attempt(number, tmp_path / "input.toml")[0] for number in range(COUNT))
    assert found["refused"] > COUNT // 2 and found["checked"] > COUNT // 20, found

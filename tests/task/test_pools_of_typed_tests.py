"""Tests of every back end keep to one set of options: HPX has one runtime, and builds without HPX do not see it."""

import re
from pathlib import Path

import pytest

FILES = sorted(Path(__file__).parent.glob("*.cpp"))
SAMPLE = """TYPED_TEST(Some, Test) {
  typename TypeParam::pool first({.workers = 2});
  typename TypeParam::pool second({.workers = 1});
}
TYPED_TEST(Some, Other) {
  { typename TypeParam::pool first({.workers = 2}), second({.workers = 2}); }
  typename TypeParam::pool third({.workers = 1});
}
"""


def mixed_pools(text: str) -> list[str]:
    """Return the names of the typed tests in which pools with different options are alive at the same time."""
    found = []
    for suite, name, body in re.findall(r"^TYPED_TEST\((\w+), (\w+)\) \{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE):
        alive, depth = [], 0
        for line in body.splitlines():
            inside = depth + line.count("{") - line.count("}")
            for options in re.findall(r"\w+\((\{.*?\})\)[;,]", line) if "TypeParam::pool" in line else []:
                if any(options != other for other, _ in alive):
                    found.append(f"{suite}.{name}")
                alive.append((options, depth))
            depth = inside
            alive = [(options, scope) for options, scope in alive if scope <= depth and not line.endswith("; }")]
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_pools_that_live_together_have_equal_options(file):
    assert mixed_pools(file.read_text()) == []


def test_mixed_pools_are_seen():
    assert mixed_pools(SAMPLE) == ["Some.Test"]

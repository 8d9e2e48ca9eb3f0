"""docs/lqcd_ensemble.md is run as it stands; its inputs and numbers are those of examples/ensemble."""

import math
import re
from pathlib import Path

import pytest
from quoted import SIGMAS, as_printed, value_and_error
from walk import BLOCK

ROOT = Path(__file__).parents[2]
PAGE, EXAMPLE = ROOT / "docs/lqcd_ensemble.md", ROOT / "examples/ensemble"
pytestmark = pytest.mark.slow


NUMBER = re.compile(r"[-+]?\d+\.\d+\(\d+\)")  # with an error: others depend on the random walk, and that on the machine


def agree(one, other):
    """Whether two numbers with errors are those of two random walks."""
    (x, dx), (y, dy) = value_and_error(one), value_and_error(other)
    return abs(x - y) <= SIGMAS * math.hypot(dx, dy)


@pytest.fixture(scope="module")
def walk(installed, tmp_path_factory):
    return installed.walk(PAGE, tmp_path_factory.mktemp("lqcd_ensemble"), {"kappa_c": "critical.mean"})


def test_the_page_quotes_what_its_blocks_print(walk):
    assert len(walk.quoted) >= 5
    for text, output in walk.quoted:
        for a, b in zip(text.split("\n"), as_printed(text, output).split("\n"), strict=True):
            assert all(map(agree, NUMBER.findall(a), NUMBER.findall(b))), f"{a}\nbut printed is\n{b}"


def test_numbers_are_those_of_the_longer_chain(walk):
    """Each row of the README's table is the beginning of a line that the page prints, and its number."""
    rows = re.findall(r"^\| `([^`]+)` \| (\S+) \|$", (EXAMPLE / "README.md").read_text(), flags=re.MULTILINE)
    assert len(rows) >= 8
    lines = [line for _, output in walk.quoted for line in output.splitlines()]
    for start, number in rows:
        found = [NUMBER.match(line.split(start, 1)[1].strip()) for line in lines if start in line]
        printed = [one[0] for one in found if one]  # a short chain may have no error
        assert printed and all(agree(number, one) for one in printed), (start, number, printed)


def test_the_inputs_are_those_of_the_example():
    for kind, title, code in BLOCK.findall(PAGE.read_text()):
        if kind == "toml":
            assert (EXAMPLE / title).read_text().partition("\n")[2] == code

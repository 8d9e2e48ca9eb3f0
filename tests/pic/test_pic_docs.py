"""The page on `plaq pic` and the examples have no warnings, its parameters are those of the table."""

import re
import tomllib
from pathlib import Path

import pytest

from plaq import pic
from plaq.pic.inputs import loads
from plaq.pic.inputs.setup import Setup
from plaq.pic.inputs.table import SCHEMA
from plaq.pic.planning.warnings import input_warnings

ROOT = Path(__file__).parents[2]
TOML = re.compile(r"^```toml[^\n]*\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", [*(path.read_text() for path in ROOT.glob("examples/*/input.toml")
                                    if "[species." in path.read_text()),
                                  *TOML.findall((ROOT / "docs/pic.md").read_text())])
def test_examples_and_the_page_have_no_warnings(text):
    setup = Setup(pic.Parameters.from_tables(tomllib.loads(text), "here"))
    assert input_warnings(setup, loads.expected_loads(setup)) == []


def test_the_page_of_parameters_is_that_of_the_table():
    page = SCHEMA.markdown("Parameters of `plaq pic`")
    assert (ROOT / "docs/pic_parameters.md").read_text() == page, (
        "run: plaq pic parameters --markdown > docs/pic_parameters.md")


@pytest.mark.parametrize("name", ["two_stream", "plate", "wakefield"])
def test_examples_can_be_run(name):
    setup = Setup(pic.Parameters.read(ROOT / f"examples/{name}/input.toml"))
    assert loads.expected_loads(setup).all_particles.sum() > 0 or setup.p.emission

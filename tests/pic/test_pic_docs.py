"""The blocks of the page on `plaq pic` run, its parameters are those of the table, the examples can be run."""

import io
import os
import re
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from plaq import pic
from plaq.pic.inputs import loads
from plaq.pic.inputs.setup import Setup
from plaq.pic.inputs.table import SCHEMA
from plaq.pic.planning.warnings import input_warnings

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r'^```(toml|bash|python)(?: title="([^"]+)")?\n(.*?)^```$', flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Output of the page's blocks, in one folder and one namespace."""
    folder, names, out = tmp_path_factory.mktemp("page"), {"__name__": "page"}, io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        patch.setenv("MPLBACKEND", "Agg")
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        patch.chdir(folder)
        for language, title, code in BLOCK.findall((ROOT / "docs/pic.md").read_text()):
            if language == "toml":
                Path(title).write_text(code)
            elif language == "bash":
                done = subprocess.run(["bash", "-euc", code], capture_output=True, text=True)
                assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
                out.write(done.stdout)
            else:
                exec(compile(code, "docs/pic.md", "exec"), names)
    return out.getvalue()


def test_the_page_has_the_output_of_its_blocks(printed):
    found = re.search(r"the field grows with ([\d.]+) ω_p, theory says ([\d.]+)", printed)
    assert abs(float(found[1]) / float(found[2]) - 1) < 0.05
    assert "[0, 10] (32, 32) 0.3" in printed


@pytest.mark.parametrize("text", [*(path.read_text() for path in ROOT.glob("examples/*/input.toml")
                                    if "[species." in path.read_text()),
                                  *(code for language, _, code in BLOCK.findall((ROOT / "docs/pic.md").read_text())
                                    if language == "toml")])
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

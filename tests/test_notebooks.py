"""The notebooks of examples/ run as they stand, and print the numbers that are stored in them, within errors."""

import re
import sys
from pathlib import Path

import nbformat
import pytest
from quoted import skeleton, within_errors

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "packaging"))
from notebooks import execute  # noqa: E402

NOTEBOOKS = sorted(ROOT.glob("examples/notebooks/*.ipynb"))
MACHINE = re.compile(  # lines on the machine, not on physics
    r"^(machine|ranks|step|efficiency|memory|time|estimate|particles|surface):|^\s+\S+ .* s$|factor of")


def printed(notebook):
    """Lines that cells print and that depend on the physics alone."""
    return [line for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
            if output.output_type == "stream" for line in output.text.splitlines() if not MACHINE.search(line)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_is_stored_in_it(path, tmp_path):
    """On another machine a transition may be a bound where it is marginal here: such lines are told by their words."""
    notebook = nbformat.read(path, as_version=4)
    stored = printed(notebook)
    now = printed(execute(notebook, tmp_path))
    same = [(a, b) for a, b in zip(stored, now, strict=True) if skeleton(a) == skeleton(b)]
    assert len(same) > 0.7 * len(stored) > 3
    for a, b in same:
        assert within_errors(a, b), f"{a}\nbut printed is\n{b}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_stored_with_its_outputs_and_without_times(path):
    notebook = nbformat.read(path, as_version=4)
    assert path.stat().st_size < 1_000_000
    numbers = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert numbers == list(range(1, len(numbers) + 1)), "python packaging/notebooks.py executes it"
    assert not any(cell.metadata for cell in notebook.cells)
    assert any("image/png" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
    assert not [output for cell in notebook.cells for output in cell.get("outputs", [])
                if output.output_type == "error" or output.get("name") == "stderr"]

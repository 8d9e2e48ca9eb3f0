"""Records of benchmarks: `benchmarks/record.py` puts the output of a command into a page."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "record.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("record", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_record_replaces_the_one_before_and_keeps_the_text_by_hand(script):
    recorded = "<!-- record -->\n{}\n<!-- end of record -->\n".format
    page = f"# Area\n\n## One\n\n{recorded('old')}\nBy hand.\n\n## Two\n\n{recorded('kept')}"
    new = recorded("new")
    assert script.put(page, "One", new) == page.replace("old", "new")
    assert script.put(page, "Three", new) == page + "\n## Three\n\n" + new


def test_tables_stay_and_columns_become_a_block(script):
    assert "```\n1 2\n```" in script.record(["a", "b c"], "1 2\n")
    table = script.record(["a", "b c"], "| x |\n|---|\n| 1 |\n")
    assert "```" not in table and "`a 'b c'`" in table and "\n| 1 |\n" in table


def test_a_command_that_fails_records_nothing():
    page = SCRIPT.parent / "README.md"
    before = page.read_bytes()
    done = subprocess.run([sys.executable, SCRIPT, "README", "Nothing", "--", "false"], capture_output=True, text=True)
    assert done.returncode == 1 and "exit code 1" in done.stderr and page.read_bytes() == before
    done = subprocess.run([sys.executable, SCRIPT, "nowhere", "Nothing", "--", "true"], capture_output=True, text=True)
    assert done.returncode == 2 and "pages:" in done.stderr

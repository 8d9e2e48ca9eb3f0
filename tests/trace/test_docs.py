"""The code on docs/trace.md: Python blocks run, C++ blocks are those that test_docs.cpp compiles and runs."""

import re
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/trace.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_python_blocks_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert blocks("python")
    for block in blocks("python"):
        exec(compile(block, "docs/trace.md", "exec"), {})


def test_cpp_blocks_are_compiled():
    source = (ROOT / "tests/trace/test_docs.cpp").read_text()
    compiled = dedent(source.partition("    // begin\n")[2].partition("    // end\n")[0])
    assert blocks("cpp") == [compiled]

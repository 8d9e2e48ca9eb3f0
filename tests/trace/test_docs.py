"""The C++ blocks of docs/trace.md are those that test_docs.cpp compiles and runs."""

import re
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/trace.md").read_text()


def test_cpp_blocks_are_compiled():
    source = (ROOT / "tests/trace/test_docs.cpp").read_text()
    compiled = dedent(source.partition("    // begin\n")[2].partition("    // end\n")[0])
    assert re.findall(r"^```cpp\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL) == [compiled]

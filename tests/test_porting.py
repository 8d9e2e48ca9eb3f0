"""The code on the page about collectives is that of tests/comm/test_porting.cpp, which runs on ranks."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_block_of_the_page_is_in_the_test_that_runs():
    blocks = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs" / "collectives.md").read_text(), flags=re.DOTALL)
    assert blocks
    program = (ROOT / "tests" / "comm" / "test_porting.cpp").read_text()
    lines = {line.strip() for line in program.splitlines()}
    for line in "".join(blocks).splitlines():
        assert not line.strip() or line.strip() in lines, line

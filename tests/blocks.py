"""python blocks.py PAGE.md OUT.inc: what a test compiles of a page, its blocks of C++ as they stand.

A block that starts with ```cpp is compiled, one with a title (```cpp title="OpenMP") is only shown. Each block
has a scope of its own; #include lines and `using namespace` are left to the test."""

import re
import sys
from pathlib import Path


def blocks(page: Path) -> str:
    text = page.read_text()
    out = []
    for found in re.finditer(r"^```cpp\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, found.start(1)) + 1
        body = re.sub(r"^(#include|using namespace).*$", "", found[1], flags=re.MULTILINE)
        out.append(f'{{\n#line {line} "{page}"\n{body}}}\n')
    if not out:
        sys.exit(f"{page}: no block that starts with ```cpp")
    return "".join(out)


page, out = Path(sys.argv[1]), Path(sys.argv[2])
out.parent.mkdir(parents=True, exist_ok=True)
out.write_text(blocks(page))

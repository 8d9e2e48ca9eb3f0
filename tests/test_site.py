"""The documentation as a site: MkDocs finds nothing wrong, and a page asks no other host for anything."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_site_is_built_without_a_warning(tmp_path):
    built = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path],
                           cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) >= len(list((ROOT / "docs").rglob("*.md")))
    for page in pages:
        loads = re.findall(r"<(?:link|script|img|iframe)\b[^>]*?(?:href|src)=[\"']?(?:https?:)?//([^/\"'> ]+)",
                           page.read_text())
        assert not loads, f"{page.relative_to(tmp_path)} loads from {loads}"

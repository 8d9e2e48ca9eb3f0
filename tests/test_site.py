"""The documentation as a site: the builder finds nothing wrong, and a page asks no other host for anything."""

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from plaq import dca, lqcd, pic

ROOT = Path(__file__).parent.parent
LOADS = re.compile(r"<(?:link|script|img|iframe|video|source)\b[^>]*?(?:href|src)=[\"']?([^\"'> ]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site's pages."""
    out = tmp_path_factory.mktemp("site")
    (out / "0.0.9").mkdir()
    (out / "0.0.9" / "index.html").write_text("an older version")
    built = subprocess.run([sys.executable, ROOT / "packaging" / "site", out], capture_output=True, text=True,
                           timeout=300, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "No issues found" in built.stderr, built.stdout + built.stderr
    folder, = [path.parent for path in out.glob("*/sitemap.xml")]
    assert [entry["version"] for entry in json.loads((out / "versions.json").read_text())] == [folder.name, "0.0.9"]
    return folder


def test_the_site_is_whole_and_loads_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) >= len([*ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])
    for page in pages:
        for load in LOADS.findall(page.read_text()):
            where = urlsplit(load)
            assert not where.netloc, f"{page.relative_to(site)} loads {load}"
            if where.path and page.name != "404.html" and "rel=canonical" not in load:
                assert (page.parent / unquote(where.path)).exists(), f"{page.relative_to(site)}: {load} is not there"


def test_formulas_are_set(site):
    page = (site / "conventions" / "index.html").read_text()
    assert page.count("<math") > 20 and "$" not in re.sub(r"(?s)<(script|code).*?</\1>", "", page)


@pytest.mark.parametrize("module", [dca, pic, lqcd], ids=lambda module: module.__name__)
def test_the_reference_has_the_public_names(site, module):
    pages = "".join((site / "reference" / name / "index.html").read_text()
                    for name in ("applications", module.__name__.rpartition(".")[2]))
    missing = [name for name in module.__all__ if not re.search(rf'id="?plaq\.[\w.]*\b{name}["> ]', pages)]
    assert not missing


def test_every_name_of_the_headers_is_described(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "packaging/site")
    from headers import FENCE, Headers, described

    found = Headers(ROOT / "src")
    pages = "".join(page.read_text() for page in (ROOT / "docs/reference").glob("cpp_*.md"))
    names = " ".join(FENCE.findall(pages)).split()
    things = [thing for name in names for thing in found.of_file[f"plaq/{name}"]]
    missing = [thing.findtext("compoundname") or thing.findtext("name") for thing in things
               if found.thing(thing) and not described(thing)]
    assert len(things) > 200 and not missing


def test_the_reference_has_the_headers(site):
    tasks = (site / "reference" / "cpp_task" / "index.html").read_text()
    for name in ("future", "channel", "parallel_for", "with_backend", "dataflow"):
        assert re.search(rf'id="?{name}["> ]', tasks), name

"""Build the documentation: `python packaging/site FOLDER` writes FOLDER/VERSION/ and lists the versions that are there.

Beside docs/ the site has the pages of benchmarks/, notebooks and figures of examples/, and the reference of the C++
headers. All of it is laid out as one tree of Markdown; the builder, zensical, reads that tree and mkdocs.yml.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from importlib.util import find_spec
from pathlib import Path

import yaml
from headers import Headers
from nbconvert import MarkdownExporter

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = "[This page as a notebook.]({}.ipynb)\n\n"
OTHERS = ("benchmarks", "examples")  # folders beside docs/ whose pages and figures are part of the site

FONT = "STIXTwoMath-Regular.ttf"  # of formulas, from the package ziamath


def lay_out(tree):
    """Write all pages as Markdown below `tree`/docs, with links between folders as the site needs them."""
    docs = tree / "docs"
    shutil.copytree(ROOT / "docs", docs)
    for found in sorted([*ROOT.glob("benchmarks/*.md"), *ROOT.glob("examples/*/*.png")]):
        to = docs / found.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, to)
    for notebook in sorted(ROOT.glob("examples/notebooks/*.ipynb")):
        write_notebook(notebook, docs / notebook.relative_to(ROOT).parent)
    (docs / "fonts").mkdir()
    shutil.copy(Path(find_spec("ziamath").origin).parent / "fonts" / FONT, docs / "fonts")
    headers = Headers(ROOT / "src")
    for page in docs.rglob("*.md"):
        up = "../" * (len(page.relative_to(docs).parts) - 1)
        text = headers.page(page.read_text())
        for folder in OTHERS:
            text = text.replace(f"](../{up}{folder}/", f"]({up}{folder}/")
        text = text.replace("](../docs/", "](../")
        page.write_text(re.sub(r"(\]\(\S*examples/notebooks/\w+)\.ipynb\)", r"\1.md)", text))


def write_notebook(notebook, folder):
    """Write a notebook with its outputs as a page, its figures as files."""
    folder.mkdir(parents=True, exist_ok=True)
    text, outputs = MarkdownExporter().from_filename(notebook)
    for name, content in outputs["outputs"].items():
        (folder / f"{notebook.stem}_{name}").write_bytes(content)
        text = text.replace(f"]({name})", f"]({notebook.stem}_{name})")
    (folder / f"{notebook.stem}.md").write_text(NOTEBOOK.format(notebook.stem) + text)
    shutil.copy(notebook, folder)


def settings(version):
    """Return mkdocs.yml for the tree."""
    read = yaml.load((ROOT / "mkdocs.yml").read_text(), yaml.SafeLoader)
    read["copyright"] = f"plaq {version}"
    for plugin in read["plugins"]:
        if "mkdocstrings" in plugin:
            plugin["mkdocstrings"]["handlers"]["python"]["paths"] = [str(ROOT / "python")]
    return read


def build(folder, version):
    """Build the site of this version below `folder`; raises CalledProcessError for a warning of the builder."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        lay_out(tree)
        (tree / "mkdocs.yml").write_text(yaml.safe_dump(settings(version), sort_keys=False))
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent), "NO_COLOR": "1"}
        subprocess.run([sys.executable, "-m", "zensical", "build", "--strict"], cwd=tree, env=environment, check=True)
        shutil.rmtree(folder / version, ignore_errors=True)
        shutil.copytree(tree / "site", folder / version)


def list_versions(folder):
    """Write versions.json, from which a page offers other versions, and a first page that leads to the newest."""
    number = lambda version: [int(part) for part in re.findall(r"\d+", version)]
    versions = sorted((path.parent.name for path in folder.glob("*/index.html")), key=number, reverse=True)
    (folder / "versions.json").write_text(json.dumps(
        [{"version": version, "title": version, "aliases": ["latest"] * (version == versions[0])}
         for version in versions]))
    (folder / "index.html").write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={versions[0]}/">\n')


if __name__ == "__main__":
    out = Path(sys.argv[1]).resolve()
    number = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    try:
        build(out, number)
    except subprocess.CalledProcessError as failed:
        sys.exit(f"the site was not built: {failed}")
    list_versions(out)
    print(f"the site: {out / number}/index.html")

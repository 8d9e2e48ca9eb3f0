"""Commands of pages exist with their options, files that they name exist, Python blocks run."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import typer.main
from walked import BLOCK

from plaq import dca
from plaq.main import app

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"),
                *ROOT.glob("benchmarks/**/*.md")])


NO_COMMANDS = {"plaq sealed file 1"}  # the head of a file


def commands(page):
    """The calls of plaq in blocks of a page, fenced or indented, as words behind "plaq"."""
    text = page.read_text()
    lines = "".join(re.findall(r"^```\w*\n(.*?)^```$", text, re.M | re.S)).splitlines()
    lines += [line for line in text.splitlines() if line.startswith("    ")]
    for line in lines:
        for call in re.split(r"&&|[|;>]", re.sub(r"\s#.*", "", line)):
            found = re.match(r"\s*(?:\$ )?(?:mpirun -n \S+ |srun )?(plaq [a-z]+(?: .*|))$", call.rstrip())
            if found and found[1] not in NO_COMMANDS:
                yield shlex.split(found[1])[1:]


def parse(words):
    """Resolves command and options as the command line does, without carrying anything out."""
    command, name = typer.main.get_command(app), "plaq"
    context = command.make_context(name, list(words))
    while hasattr(command, "resolve_command"):
        name, command, words = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, words, parent=context)
    return context.params


@pytest.mark.parametrize("page", [page for page in PAGES if any(commands(page))],
                         ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_a_page_are_there(page):
    for words in commands(page):
        parse(words)
        for word in words:
            if word.startswith(("examples/", "benchmarks/", "packaging/")):
                assert (ROOT / word).exists(), f"{page}: {word} is not there"


def test_a_command_that_is_not_there_is_noticed():
    for words in (["dca", "rum", "x.toml"], ["dca", "run", "x.toml", "--treads", "os"]):
        with pytest.raises(Exception, match="[Nn]o such"):
            parse(words)


def python_blocks(page):
    return [code for language, _, code in BLOCK.findall((ROOT / page).read_text()) if language == "python"]


def test_the_first_python_of_the_readme(capsys):
    block, = python_blocks("README.md")
    exec(compile(block, "README.md", "exec"), {})
    assert re.fullmatch(r"0\.\d+\(\d+\) 0\.\d+\(\d+\)\n", capsys.readouterr().out)


def test_python_that_reads_a_run_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dca.run(dca.Parameters(model={"U": 2}, dca={"temperatures": [0.5, 0.08], "density": 0.95},
                           solver={"measurements": 400}, two_particle={"channels": ["pp"]}), "run")
    names = {}
    load, of_triqs = [code for code in python_blocks("docs/run_folder.md") if "import" in code]
    exec(compile(load, "docs/run_folder.md", "exec"), names)
    assert list(names["T"]) == [0.5, 0.08] and len(names["error"]) == 2 and "h5" in of_triqs


def test_python_of_exact_diagonalisation():
    """On a bond: the density that was asked for comes from the same eigenstates."""
    block, = python_blocks("docs/exact_diagonalisation.md")
    names = {"hopping": np.array([[0.0, -1.0], [-1.0, 0.0]]), "fourier": np.array([[1.0, 1.0], [1.0, -1.0]]),
             "omega": np.pi / 5 * np.arange(1, 20, 2)}
    exec(compile(block, "docs/exact_diagonalisation.md", "exec"), names)
    assert abs(names["cluster"].density - 1) < 1e-12  # mu = U/2

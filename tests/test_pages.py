"""Commands of pages exist with their options, files that they name exist."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main

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

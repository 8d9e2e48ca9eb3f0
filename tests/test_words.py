"""The rules of words that a machine can count: sentences of the docs, openings of doc comments, subjects of commits."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = sorted(path for top in ("src", "python", "bindings") for path in (ROOT / top).rglob("*")
                 if path.suffix in (".hpp", ".cpp", ".cu", ".cuh", ".py"))

MEAN_LENGTH = 17  # words a sentence, over all pages
LONGEST_MEAN = 21  # of one page
LONG = 35  # words
LONG_SHARE = 0.04
NUMBERS = 2.5  # in 100 words, over all pages
SUBJECT = 72  # characters

# A doc comment begins with the thing or a verb, not with a word that needs a sentence before it.
ORPHAN = re.compile(
    r"(Of|What|Who|Whose|Those|That|Which|Where|How|To|As|So many|Its|The same|The rest|Nothing|Nobody)\b")
PERSON = re.compile(
    r"\b([Ww]hoever|[Nn]obody|[Ss]omebody)\b|(?:^|[.;:,] |\b(?:by|for|to|from) )[Ww]ho (?:is|are|was|has|have|had|"
    r"waits?|runs?|stays?|lets?|calls?|needs?|wants?|asks?|comes?|knows?|takes?|sends?)\b")
HISTORY = re.compile(
    r"\b([Ss]ince then|[Bb]efore that|no longer|not any ?more|of today|the version before|20\d\d-\d\d-\d\d)\b")
NUMBER = re.compile(r"(?<![\w.])[-−+±×≤≥]?\d[\d.,]*(?:\(\d+\))?")


def sentences(page):
    """Sentences of four words and more of a page's paragraphs and lists, without code, tables and headings."""
    text = page.read_text()
    for skipped in (r"(?s)```.*?```", r"(?s)<!--.*?-->", r"(?m)^ {4,}.*$", r"(?m)^\s*\|.*$", r"(?m)^#.*$"):
        text = re.sub(skipped, "", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(?m)^\s*[-*+]\s+", "\n\n", text)
    for paragraph in re.split(r"\n\s*\n", text):
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`*\[(])", " ".join(paragraph.split())):
            if len(sentence.split()) >= 4:
                yield sentence


def doc_comments(path):
    """Doc comments of a file: docstrings in Python, blocks of /// in C++."""
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
                yield (ast.get_docstring(node) or "").strip()
        return
    block = []
    for line in [*path.read_text().split("\n"), ""]:
        if comment := re.match(r"\s*///(?!<)\s?(.*)", line):
            block.append(comment[1])
        elif block:
            yield " ".join(block).strip()
            block = []


def git(*arguments):
    listed = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return listed.stdout.splitlines()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_of_a_page_are_short(page):
    found = list(sentences(page))
    lengths = [len(sentence.split()) for sentence in found]
    if not lengths:
        return
    long = [sentence for sentence in found if len(sentence.split()) > LONG]
    assert len(long) <= max(1, LONG_SHARE * len(found)), "sentences to cut:\n" + "\n".join(long)
    if len(found) >= 10:
        assert sum(lengths) / len(found) <= LONGEST_MEAN


def test_sentences_of_all_pages_are_short_and_have_few_numbers():
    found = [sentence for page in PAGES if page.is_relative_to(ROOT / "docs") for sentence in sentences(page)]
    words = sum(len(sentence.split()) for sentence in found)
    assert words / len(found) <= MEAN_LENGTH
    assert 100 * sum(len(NUMBER.findall(sentence)) for sentence in found) / words <= NUMBERS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_say_what_is(page):
    """A rank or a thread is not a person; changes belong into CHANGELOG.md, dates and machines into benchmarks/."""
    found = list(sentences(page))
    assert not [sentence for sentence in found if PERSON.search(sentence)]
    assert not [sentence for sentence in found if HISTORY.search(sentence)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_doc_comments_begin_with_the_thing_or_a_verb(path):
    assert not [doc[:100] for doc in doc_comments(path) if ORPHAN.match(doc)]


@pytest.mark.parametrize("page", sorted((ROOT / "benchmarks").rglob("*.md")), ids=lambda page: page.name)
def test_pages_of_benchmarks_are_short(page):
    assert len(page.read_text().split()) <= 1500


def test_subjects_of_commits_name_area_and_deed():
    """Commits since this file: area, verb, object in 72 characters."""
    begin = git("log", "--diff-filter=A", "--format=%H", "--", "tests/test_words.py")
    subjects = git("log", "--no-merges", "--format=%s", f"{begin[-1]}..HEAD") if begin else []
    assert not [subject for subject in subjects if len(subject) > SUBJECT or not re.match(r"[\w/., -]+: \S", subject)]


def test_what_breaks_the_rules_is_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Of what\n\nThen who is idle, and who runs, steals. See [this page](x.md) for more words.\n\n- "
                    "Since then it is faster on 2026-11-20.\n\n| a | b c d e f |\n\n```\ncode is not prose here\n```\n")
    found = list(sentences(page))
    assert len(found) == 3 and found[1] == "See this page for more words."
    assert PERSON.search("It steals, who runs out.") and not PERSON.search(found[1])
    assert HISTORY.search(found[2]) and not HISTORY.search(found[0])
    source = tmp_path / "a.hpp"
    source.write_text("/// Of a rank\n/// all bytes.\nint a;  ///< Of b\n/// Bytes of memory a rank.\nint b;\n")
    assert [bool(ORPHAN.match(doc)) for doc in doc_comments(source)] == [True, False]
    module = tmp_path / "a.py"
    module.write_text('"""What it is."""\n\n\ndef f():\n    """Return one."""\n')
    assert [bool(ORPHAN.match(doc)) for doc in doc_comments(module)] == [True, False]

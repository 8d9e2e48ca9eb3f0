"""Files and functions stay small: one idea per file, no function longer than two screens."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(path for top in ("src", "bindings", "python", "tests", "benchmarks") for path in (ROOT / top).rglob("*")
               if path.suffix in (".hpp", ".cpp", ".cu", ".cuh", ".py"))
FILE_LINES = 500
FUNCTION_LINES = 100

SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def functions_of_python(text):
    """(name, lines) of every function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.end_lineno - node.lineno + 1


def functions_of_cpp(text):
    """(last line before the body, lines) of every block of a namespace or class that is not one itself."""
    text = SKIPPED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    stack, begin = [], 0
    for match in re.finditer(r"[{};]", text):
        at = match.start()
        if match[0] == "{":
            opener = text[begin:at].strip()
            scope = bool(SCOPE.search(opener)) and not opener.endswith(")")
            stack.append((scope, text.count("\n", 0, at), opener.rpartition("\n")[2]))
        elif match[0] == "}":
            scope, line, opener = stack.pop()
            if not scope and all(outer for outer, _, _ in stack):
                yield opener, text.count("\n", 0, at) - line + 1
        begin = at + 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_and_its_functions_are_short(path):
    text = path.read_text()
    assert text.count("\n") <= FILE_LINES
    functions = functions_of_python(text) if path.suffix == ".py" else functions_of_cpp(text)
    assert not {name: lines for name, lines in functions if lines > FUNCTION_LINES}


def test_a_long_function_is_seen():
    body = "  f();\n" * 101
    cpp = ("namespace a {\nstruct b {\n  int c = 0;\n};\n/// }\nvoid long_one(int x)\n{\n" + body
           + "}\nint short_one() { return '{'; }\n}\n")
    assert dict(functions_of_cpp(cpp)) == {"void long_one(int x)": 103, "int short_one()": 1}
    assert dict(functions_of_python(f"def g():\n{body.replace('();', '()')}")) == {"g": 102}

"""python walk.py PAGE OUT EXPRESSION...: run the blocks of a page in the working directory, in their order.

Files are written, shell and Python blocks executed, the latter in one namespace. OUT gets as JSON what the shell
printed, for every block of text (the text, what the blocks before it printed), and the values of the expressions at the
end. This imports nothing but what Python brings: it runs where only plaq is installed.
"""

import io
import json
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', flags=re.MULTILINE | re.DOTALL)


def walk(page: Path) -> dict:
    """Return the namespace, what the shell printed, and the quoted texts."""
    names, printed, since, quoted = {"__name__": "page"}, "", "", []
    for block in BLOCK.finditer(page.read_text()):
        language, title, code = block.groups()
        if language == "toml":
            Path(title).write_text(code)
        elif language == "python":
            with redirect_stdout(io.StringIO()) as out:
                exec(compile(code, f"{page.name}, block at character {block.start()}", "exec"), names)
            since += out.getvalue()
        elif language == "bash":
            done = subprocess.run(["bash", "-euc", code], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{code}\n{done.stdout}\n{done.stderr}")
            printed += done.stdout
            since += done.stdout
        elif language == "text":
            quoted.append((code, since))
            since = ""
        elif language != "math":
            sys.exit(f"{page}: a block of kind {language!r} would not be run")
    return {"names": names, "printed": printed, "quoted": quoted}


if __name__ == "__main__":
    walked = walk(Path(sys.argv[1]))
    names = walked.pop("names")
    walked["values"] = [eval(expression, names) for expression in sys.argv[3:]]
    Path(sys.argv[2]).write_text(json.dumps(walked, default=lambda array: array.tolist()))

"""Pages whose blocks the tests run: files are written, Python and shell blocks executed, all in their order."""

import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', flags=re.MULTILINE | re.DOTALL)


def walked(page: Path, folder: Path):
    """Run all blocks in one folder and one namespace; return (namespace, output of the shell, (text that is
    quoted, what the blocks before it have printed) for every block of text)."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    names, printed, since, quoted = {"__name__": "tutorial"}, "", "", []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPLBACKEND", "Agg")
        patch.setenv("PATH", path)
        patch.chdir(folder)
        for block in BLOCK.finditer(page.read_text()):
            language, title, code = block.groups()
            if language == "toml":
                Path(title).write_text(code)
            elif language == "python":
                with redirect_stdout(io.StringIO()) as out:
                    exec(compile(code, f"{page.name}, block at character {block.start()}", "exec"), names)
                since += out.getvalue()
            elif language == "bash":
                done = subprocess.run(["bash", "-euc", code], capture_output=True, text=True)
                assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
                printed += done.stdout
                since += done.stdout
            else:
                assert language == "text", f"a block of kind {language!r} would not be run"
                quoted.append((code, since))
                since = ""
    return names, printed, quoted

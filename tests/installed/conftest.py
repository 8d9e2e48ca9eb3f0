"""plaq as its users have it: from a wheel, in an environment of its own, run in folders outside the checkout.

`make test-installed` makes that environment; PLAQ_INSTALLED names it. The tests here start its commands. They import
nothing of plaq, and nothing that they import is in the environment.
"""

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

WALK = Path(__file__).with_name("walk.py")


class Installed:
    """The environment in ``folder``."""

    def __init__(self, folder: Path):
        self.bin = folder / "bin"
        (self.package,) = folder.glob("lib/python*/site-packages/plaq")
        (self.metadata,) = self.package.parent.glob("plaq-*.dist-info")

    def run(self, name, *arguments, folder, timeout=600, **variables):
        """Run a command of the environment, or one with a full path; return its completed process."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
        path = [str(self.bin), *(part for part in os.environ["PATH"].split(os.pathsep) if ".venv" not in part)]
        return subprocess.run([self.bin / name, *map(str, arguments)], cwd=folder, text=True, timeout=timeout,
                              env={**clean, "PATH": os.pathsep.join(path), "MPLBACKEND": "Agg", **variables},
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def plaq(self, *arguments, folder, **variables):
        """Run plaq; return its completed process."""
        return self.run("plaq", *arguments, folder=folder, **variables)

    def python(self, script, *arguments, folder, **variables):
        """Run a script; return what it prints."""
        done = self.run("python", "-P", "-c", script, *arguments, folder=folder, **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def walk(self, page, folder, wanted):
        """Run the blocks of a page; return what they print and quote, and the values of the expressions ``wanted``."""
        out = folder / "walked.json"
        done = self.run("python", "-P", WALK, page, out, *wanted.values(), folder=folder)
        assert done.returncode == 0, done.stderr
        walked = json.loads(out.read_text())
        walked["values"] = dict(zip(wanted, walked["values"], strict=True))
        return SimpleNamespace(folder=folder, **walked)


@pytest.fixture(scope="session")
def installed():
    folder = os.environ.get("PLAQ_INSTALLED")
    if not folder:
        pytest.skip("there is no environment with an installed plaq: `make test-installed` makes one")
    return Installed(Path(folder))

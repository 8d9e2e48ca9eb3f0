"""Whole runs of ``plaq dca`` in processes of their own, of the ``input.toml`` beside their folders."""

import subprocess
import sys

import no_figures
import pytest

from plaq import _core

needs_mpi = pytest.mark.skipif(not _core.comm.mpiexec(), reason="built without MPI")


def command(folder, *arguments):
    """Return the command of a run; without -n it leaves figures out, since its process reads no other program."""
    program = ["-m", "plaq"] if "-n" in arguments else [no_figures.__file__]
    return [sys.executable, *program, "dca", "run", str(folder.parent / "input.toml"), "--out", str(folder),
            *map(str, arguments)]


def finish(folder, *arguments):
    """Carry out a run to its end; return the digest of its results."""
    done = subprocess.run(command(folder, *arguments), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr + done.stdout
    return digest(folder)


def digest(folder):
    done = subprocess.run([sys.executable, "-m", "plaq", "dca", "digest", str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[0]

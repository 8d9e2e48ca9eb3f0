"""The command line ``plaq`` as a process, on one or several ranks."""

import os
import subprocess
import sys

from plaq.comm.launch import launcher_command

PLAQ = (sys.executable, "-m", "plaq")


def start_plaq(*arguments, folder=None, ranks=None, program=PLAQ, **options):
    """Start the command in ``folder``, on ``ranks`` ranks of MPI if they are given; return its process."""
    launcher = launcher_command(ranks) if ranks else []
    environment = {"PLAQ_EXPECTED_RANKS": str(ranks), "PLAQ_TERMINAL": ""} if ranks else {}
    return subprocess.Popen([*launcher, *program, *map(str, arguments)], cwd=folder, text=True,
                            stdin=subprocess.DEVNULL, env={**os.environ, **environment}, **options)


def run_plaq(*arguments, folder=None, ranks=None, program=PLAQ, timeout=300):
    """Run the command as `start_plaq` does; return its completed process with both outputs."""
    process = start_plaq(*arguments, folder=folder, ranks=ranks, program=program, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=timeout)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)

"""Start of plaq on several ranks, with the launcher of the MPI that this process finds."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from io import BufferedWriter
from threading import Thread
from typing import BinaryIO

from plaq import _core
from plaq.comm.launcher_noise import NoiseFilter
from plaq.errors import InputError, RunError
from plaq.parts import demand
from plaq.streams import Descriptor

# Variables that launchers set in the processes they start.
_RANK_OF = ("OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
# Variables that `start` passes to the ranks, beside PLAQ_MPI.
_PASSED = ("PLAQ_EXPECTED_RANKS", "PLAQ_TERMINAL")
# Signals that end a process without a message. Launchers report them as 128 + the number, MPICH's with the number
# alone where no core was dumped: exit codes that plaq does not use.
_FATAL = (signal.SIGKILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)
LAST_OUTPUT = 5.0  # seconds that output may still take when the job is over: a process that it left may hold the pipe
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def relaunch(arguments: Sequence[str], ranks: int) -> int:
    """Run ``plaq arguments...`` on ``ranks`` ranks and return its exit code; see `start`."""
    return start([*module_command("plaq"), *arguments], ranks)


def module_command(name: str) -> list[str]:
    """Return the command that runs a module of plaq with this Python, with the flags of this process.

    The working directory is not on its path (-P): a random.py or a plaq.py of the user there would replace ours.
    """
    flags = [flag for flag, is_set in (("-E", sys.flags.ignore_environment), ("-s", sys.flags.no_user_site)) if is_set]
    return [sys.executable, "-P", *flags, "-m", name]


def start(program: Sequence[str], ranks: int) -> int:
    """Run a program on ``ranks`` ranks and return its exit code. To be called from the main thread.

    Each rank finds the promised number of ranks in PLAQ_EXPECTED_RANKS, which `plaq.comm.world` checks, and the
    launcher's library of MPI in PLAQ_MPI. The first SIGINT or SIGTERM reaches the ranks as SIGUSR1, which `plaq.comm`
    turns into SIGTERM: launchers forward it, but respond to the signal itself with a kill. A second one ends the job at
    once. The exit code after a signal is 128 + its number, unless the job succeeds all the same.

    Raises InputError if there is no MPI, ``ranks`` < 1, or this process is a rank already; RunError if the launcher is
    missing, or if a rank was killed or crashed.
    """
    command = launcher_command(ranks) + list(program)
    if is_rank():
        raise InputError("-n starts ranks, but this process is already one: leave out either -n or the launcher")
    environment = {**os.environ, "PLAQ_EXPECTED_RANKS": str(ranks), "PLAQ_TERMINAL": _terminal(),
                   "PLAQ_MPI": _core.comm.describe_mpi()["library"]}
    received: list[int] = []
    before = {}
    try:
        # A session of its own: Ctrl-C in the terminal reaches this process alone, and decides what ranks see.
        job = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_end_with_parent(),
        )
    except OSError as error:
        raise RunError(f"cannot start {command[0]}: {error.strerror}") from None

    # Launchers end the job when they cannot write: what the ranks print goes through this process.
    noise_filter = NoiseFilter()
    printed = [Thread(target=_forward, args=output, daemon=True)
               for output in ((job.stdout, 1), (job.stderr, 2, noise_filter, noise_filter.rest))]
    for each in printed:
        each.start()

    def pass_on(number: int, frame) -> None:
        # Ranks end when their launcher is gone; a SIGTERM some launchers only pass on.
        job.send_signal(signal.SIGKILL if received else signal.SIGUSR1)
        received.append(number)

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, pass_on)
        code = job.wait()
        for each in printed:
            each.join(LAST_OUTPUT)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if code != 0 and received:
        return 128 + received[0]
    code = code if code >= 0 else 128 - code
    killed_by = code if code in _FATAL and _core.comm.library_version().startswith("MPICH") else code - 128
    if killed_by in _FATAL:
        # A killed rank prints nothing, nor do those that the launcher ends with it;
        # MPICH's launcher does not name the rank.
        victim = noise_filter.killed()
        name = "a rank" if victim is None else f"rank {victim} of {ranks}"
        raise RunError(f"{name} was killed by {signal.Signals(killed_by).name}, which ended the job")
    if code != 0 and not noise_filter.has_output:  # the launcher's messages are all there is
        Descriptor(2).write(noise_filter.noise)
    return code


def _forward(pipe: BinaryIO, number: int, shown: Callable[[bytes], bytes] = bytes,
             rest: Callable[[], bytes] = bytes) -> None:
    """Copy ``shown(piece)`` of each piece of a pipe, and ``rest()`` at its end, to a file descriptor.

    Text that cannot be written is lost.
    """
    with pipe, BufferedWriter(Descriptor(number)) as out:
        while piece := pipe.read1(1 << 16):
            out.write(shown(piece))
            out.flush()
        out.write(rest())


def is_rank() -> bool:
    """Return whether an MPI launcher started this process."""
    return any(name in os.environ for name in _RANK_OF)


def stdout_is_terminal() -> bool:
    """Return whether the user reads standard output on a terminal.

    A rank cannot tell by itself, because Open MPI gives each one a terminal of its own: `start` passes it on, and under
    any other launcher the result is False.
    """
    return bool(os.environ.get("PLAQ_TERMINAL")) if is_rank() else bool(_terminal())


def terminal_size() -> tuple[int, int]:
    """Return columns and lines of that terminal now.

    A rank asks the terminal that `start` was called on; if that is not visible, as on another node, 80 x 24 are
    assumed.
    """
    try:
        if not is_rank():
            return os.get_terminal_size(sys.stdout.fileno())
        terminal = os.open(os.environ["PLAQ_TERMINAL"], os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            return os.get_terminal_size(terminal)
        finally:
            os.close(terminal)
    except (OSError, ValueError, KeyError):
        return 80, 24


def _terminal() -> str:
    """Return the path of the terminal that standard output is; empty if it is none."""
    try:
        return os.ttyname(sys.stdout.fileno()) if sys.stdout is not None and sys.stdout.isatty() else ""
    except OSError:
        return "a terminal without a name"


def launcher_command(ranks: int) -> list[str]:
    """Return the launcher of plaq's MPI with the options to start ``ranks`` ranks, here or in this batch job."""
    if ranks < 1:
        raise InputError(f"-n {ranks}: the number of ranks must be at least 1")
    version, mpiexec = _core.comm.library_version(), _core.comm.mpiexec()
    if not version:
        demand("MPI", f"-n {ranks} starts ranks of MPI")
    library = _core.comm.describe_mpi()["library"]
    if not mpiexec:
        raise RunError(f"{_core.comm.describe_mpi()['in_words']} has no mpiexec beside it; install its launcher "
                       "(Debian, Ubuntu: apt-get install openmpi-bin), or name another MPI in PLAQ_MPI")
    command = [mpiexec, "-n", str(ranks)]
    if version.startswith("Open MPI"):
        # Its defaults pin each rank, with all its threads, to one core and refuse more ranks than cores.
        command += ["--bind-to", "none", "--map-by", "slot:OVERSUBSCRIBE"]
        command += [word for name in (*_PASSED, f"PLAQ_MPI={library}") for word in ("-x", name)]
        if os.geteuid() == 0:
            command.append("--allow-run-as-root")
    return command


def _end_with_parent():
    """Return a function that asks Linux to end the launcher when plaq dies, even by SIGKILL."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

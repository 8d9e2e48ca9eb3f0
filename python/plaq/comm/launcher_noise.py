"""What MPI and its launchers add when a job ends with an error, of which plaq has said already what it was."""

from __future__ import annotations

import re

_BAR = re.compile(rb"-{70,}\s*")
_BOXES = re.compile(rb"MPI_ABORT was invoked|exited with non-zero|returned\s+a\s+non-zero|exited on\s+signal|"
                    rb"has exited due to process rank|"
                    rb"sent help message")
_STARTS = (b"------", b"Abort(", b"orteru", b"prteru", b"mpirun", b"mpiexe")
_LINES = re.compile(rb"Abort\(\d+\) on node \d+ .*application called MPI_Abort|\w+: Forwarding signal \d+ to job")
_KILLED = re.compile(rb"process rank (\d+)\b[^-]* exited on\s+signal")


class NoiseFilter:
    """Standard error of a job, piece by piece, without lines of MPICH and boxes of Open MPI (text between two bars of
    dashes) that only repeat that it was aborted, or that a rank ended with an exit code or by a signal. ``kept`` are
    these; ``said`` is whether there was anything else."""

    def __init__(self) -> None:
        self._line, self._box = b"", []
        self.kept, self.said = b"", False

    def __call__(self, piece: bytes) -> bytes:
        """What of it, and of what was held back before, is to be shown now."""
        *lines, self._line = (self._line + piece).splitlines(keepends=True) or [b""]
        if self._line.endswith(b"\n"):
            lines, self._line = [*lines, self._line], b""
        shown = b"".join(map(self._whole, lines))
        if not (self._box or any(self._line[:6] == start[:len(self._line)] for start in _STARTS)):
            shown, self._line = shown + self._line, b""  # nobody waits for the end of a line
        self.said |= bool(shown)
        return shown

    def _whole(self, line: bytes) -> bytes:
        if not (self._box or _BAR.fullmatch(line)):
            return self._unless(_LINES.match(line), line)
        self._box.append(line)
        if len(self._box) == 1 or not _BAR.fullmatch(line):
            return b""
        box, self._box = b"".join(self._box), []
        return self._unless(_BOXES.search(box), box)

    def _unless(self, noise: re.Match[bytes] | None, text: bytes) -> bytes:
        if noise:
            self.kept += text
        return b"" if noise else text

    def killed(self) -> int | None:
        """The rank that a signal ended, where the launcher said which."""
        found = _KILLED.search(self.kept)
        return int(found[1]) if found else None

    def rest(self) -> bytes:
        """What is held back still, at the end."""
        held, self._line, self._box = b"".join(self._box) + self._line, b"", []
        self.said |= bool(held)
        return held

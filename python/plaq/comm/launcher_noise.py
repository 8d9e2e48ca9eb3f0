"""Filter for messages that MPI and its launchers add when a job ends with an error that plaq has reported."""

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
    """Standard error of a job, piece by piece, without the launcher's noise.

    Noise are lines of MPICH and boxes of Open MPI (text between two bars of dashes) that only repeat that the job was
    aborted, or that a rank ended with an exit code or by a signal. ``noise`` collects them; ``has_output`` is whether
    there was other text.
    """

    def __init__(self) -> None:
        self._line, self._box = b"", []
        self.noise, self.has_output = b"", False

    def __call__(self, piece: bytes) -> bytes:
        """Return the text of this piece, and of the one held back before, that is to be shown now."""
        *lines, self._line = (self._line + piece).splitlines(keepends=True) or [b""]
        if self._line.endswith(b"\n"):
            lines, self._line = [*lines, self._line], b""
        shown = b"".join(map(self._whole, lines))
        if not (self._box or any(self._line[:6] == start[:len(self._line)] for start in _STARTS)):
            shown, self._line = shown + self._line, b""  # other lines are not held back
        self.has_output |= bool(shown)
        return shown

    def _whole(self, line: bytes) -> bytes:
        if not (self._box or _BAR.fullmatch(line)):
            return self._drop_if(_LINES.match(line), line)
        self._box.append(line)
        if len(self._box) == 1 or not _BAR.fullmatch(line):
            return b""
        box, self._box = b"".join(self._box), []
        return self._drop_if(_BOXES.search(box), box)

    def _drop_if(self, match: re.Match[bytes] | None, text: bytes) -> bytes:
        if match:
            self.noise += text
        return b"" if match else text

    def killed(self) -> int | None:
        """Return the rank that a signal ended, if the launcher named it."""
        match = _KILLED.search(self.noise)
        return int(match[1]) if match else None

    def rest(self) -> bytes:
        """Return the text that is still held back, at the end."""
        held, self._line, self._box = b"".join(self._box) + self._line, b"", []
        self.has_output |= bool(held)
        return held

"""Times, sizes and numbers in readable form."""

from __future__ import annotations

from typing import Any


def format_duration(seconds: float | None) -> str:
    """Return ``42 s``, ``3 min 20 s``, ``2 h 05 min``."""
    if seconds is None:
        return "–"
    whole = int(round(seconds))
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def format_size(count: float) -> str:
    """Return a number of bytes in a readable unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def format_number(value: Any, form: str = ".4g") -> str:
    """Return a number in a short form, – if it is not known."""
    return "–" if value is None or value != value else format(value, form)

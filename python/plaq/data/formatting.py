"""Times, sizes, numbers and vectors in readable form."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

LARGEST_DENOMINATOR = 64  # K = 2 pi m/N_c with N_c up to 64: two of them differ by 1/4032 or more, in units of pi


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


def momentum(K: Iterable[float]) -> str:
    """Return a momentum in units of π: ``(π,0)``, ``(π/2,π)``, ``(-4π/13,6π/13)``."""
    def part(x: float) -> str:
        ratio = Fraction(float(x / math.pi)).limit_denominator(LARGEST_DENOMINATOR)
        if abs(ratio - x / math.pi) > 1e-6:
            return f"{x / math.pi:.3g}π"
        if ratio == 0:
            return "0"
        size = abs(ratio.numerator)
        return (f"{'-' if ratio < 0 else ''}{size if size > 1 else ''}π"
                f"{f'/{ratio.denominator}' if ratio.denominator > 1 else ''}")

    return f"({','.join(part(x) for x in K)})"


def vector(x: Iterable[float], unit: str = "") -> str:
    """Return a vector: a momentum in units of π if it is measured in 1/a, else its numbers."""
    return momentum(x) if unit.startswith("1/") else f"({','.join(f'{part:.4g}' for part in x)})"

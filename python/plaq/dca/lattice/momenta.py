"""Cluster momenta in words."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

LARGEST_DENOMINATOR = 64  # K = 2 pi m/N_c with N_c up to 64: two of them differ by 1/4032 or more, in units of pi


def momentum(K: np.ndarray) -> str:
    """Return a momentum in units of π: ``(π,0)``, ``(π/2,π)``, ``(-4π/13,6π/13)``."""
    def part(x: float) -> str:
        ratio = Fraction(float(x / np.pi)).limit_denominator(LARGEST_DENOMINATOR)
        if abs(ratio - x / np.pi) > 1e-6:
            return f"{x / np.pi:.3g}π"
        if ratio == 0:
            return "0"
        size = abs(ratio.numerator)
        return (f"{'-' if ratio < 0 else ''}{size if size > 1 else ''}π"
                f"{f'/{ratio.denominator}' if ratio.denominator > 1 else ''}")

    return f"({','.join(part(x) for x in K)})"

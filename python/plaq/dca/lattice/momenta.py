"""Cluster momenta in words, and which of them stand for the others."""

from __future__ import annotations

import numpy as np


def momentum(K: np.ndarray) -> str:
    """A momentum in units of π: ``(π,0)``, ``(π/2,π)``."""
    def part(x: float) -> str:
        ratio = x / np.pi
        for d in range(1, 9):
            n = round(ratio * d)
            if abs(ratio * d - n) < 1e-6:
                top = "0" if n == 0 else ("-" if n < 0 else "") + ("" if abs(n) == 1 else str(abs(n))) + "π"
                return top if d == 1 or n == 0 else f"{top}/{d}"
        return f"{ratio:.3g}π"

    return f"({','.join(part(x) for x in K)})"


def wedge(K: np.ndarray) -> list[int]:
    """Indices of momenta with K_x >= K_y >= 0, where the square lattice repeats itself."""
    chosen = [i for i, (x, y) in enumerate(K) if x >= y - 1e-9 and y >= -1e-9]
    return chosen or list(range(len(K)))

"""The order parameter in functions of a spinor: what is off the diagonal, its size, and the field conjugate to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class OrderParameter:
    """Order along a ``pattern`` [S, K, a, b], the real matrix of a field 1 in H, on so many sites."""

    pattern: np.ndarray
    sites: int

    def field(self, h: float) -> np.ndarray:
        """Return the matrix of the field h in H, [S, K, a, b, 1]."""
        return h * self.pattern[..., None]

    def part(self, f: np.ndarray) -> np.ndarray:
        """Return the part of f [..., a, b, w] that is there in the ordered phase only."""
        return f * (1 - np.eye(f.shape[-2]))[..., None]

    def size(self, f: np.ndarray, omega: np.ndarray) -> np.ndarray:
        """Return the part of f [..., S, K, a, b, w] along the field, in units of a field 1.

        It is a mean over frequencies with weights 1/(1 + w^2), w in t.
        """
        weight = 1 / (1 + omega**2)
        return np.einsum("skab,w,...skabw->...", self.pattern, weight / weight.sum(), f.real) / np.sum(self.pattern**2)

    def value(self, holes: np.ndarray) -> float:
        """Return the order parameter per site, -dH/dh, from <c_a c+_b>(K) [S, K, a, b]."""
        return float(np.einsum("skab,skba->", self.pattern, holes.real) / self.sites)

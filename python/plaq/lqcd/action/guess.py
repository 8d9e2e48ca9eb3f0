r"""First guesses of solutions from those before (Brower, Ivanenko, Levi and Orginos, hep-lat/9509012).

Along a trajectory the solutions of $\hat M^+\hat M x = \phi$ change smoothly. The guess is the combination of the last
ones with the smallest $x^+ \hat M^+\hat M x - 2\,\mathrm{Re}\,\phi^+ x$. Solutions then depend on those before, so a
trajectory is reversible to the residual of its solutions alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plaq.lqcd.fields.spinor_field import SpinorField


class ChronologicalGuess:
    """The last ``length`` solutions of a term in a trajectory; each solve begins from zero if it is 0."""

    def __init__(self, length: int):
        self.length = length
        self.solutions: list[SpinorField] = []

    def forget(self) -> None:
        """Begin a new trajectory."""
        self.solutions.clear()

    def solve(self, normal: Callable[[SpinorField], SpinorField], phi: SpinorField, residual: float,
              solve: Callable[[SpinorField, float], SpinorField]) -> SpinorField:
        """Return x with |phi - N x| <= ``residual`` |phi|.

        normal : x to N x with $N = \\hat M^+\\hat M$. solve : (source, its residual) to the solution from zero.
        Collective.
        """
        if not self.length:
            return solve(phi, residual)
        x, left = self._guess(normal, phi)
        size, goal = left.norm2() ** 0.5, residual * phi.norm2() ** 0.5
        if size > goal:
            x.add(solve(left, goal / size))
        self.solutions = [*self.solutions, x.copy()][-self.length:]
        return x

    def _guess(self, normal: Callable[[SpinorField], SpinorField],
               phi: SpinorField) -> tuple[SpinorField, SpinorField]:
        """Return the guess x, and phi - N x."""
        basis: list[SpinorField] = []
        for solution in reversed(self.solutions):  # orthonormal, from the newest
            v = solution.copy()
            for _ in range(2):
                for other in basis:
                    v.add(other, -other.dot(v))
            size = v.norm2() ** 0.5
            if size > 1e-8 * solution.norm2() ** 0.5:
                basis.append(v.scale(1 / size))
        images = [normal(v) for v in basis]
        x, left = phi.like(), phi.copy()
        if basis:
            matrix = np.array([[v.dot(image) for image in images] for v in basis])
            for factor, v, image in zip(np.linalg.solve(matrix, [v.dot(phi) for v in basis]), basis, images):
                x.add(v, factor)
                left.add(image, -factor)
        return x, left

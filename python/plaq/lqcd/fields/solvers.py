"""Solvers of M psi = eta for a linear operator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from plaq import _core
from plaq.errors import InputError, RunError
from plaq.lqcd.choices import METHODS, PRECISIONS
from plaq.lqcd.fields.eigenvectors import Eigenvectors
from plaq.lqcd.fields.linear_operator import LinearOperator, Vector
from plaq.lqcd.fields.spinor_field import SpinorField
from plaq.lqcd.fields.wilson import Wilson


class Solved(NamedTuple):
    """Result of a solve that began from eigenvectors: steps and updates after that, and |eta - M psi| / |eta|."""

    steps: int
    updates: int
    residual: float

    def __str__(self) -> str:
        return f"converged in {self.steps} steps and {self.updates} updates to a residual of {self.residual:.3g}"


def solve(matrix: LinearOperator[Vector], eta: Vector, residual: float = 1e-10, method: str = "cg",
          precision: str = "single", max_steps: int = 100_000, eigenvectors: Eigenvectors[Vector] | None = None):
    """Return (psi, result) with M psi = eta to |eta - M psi| <= residual |eta|, computed from the final psi.

    method : "cg", "bicgstab", "gcr" or "multigrid", on even-odd preconditioned fields; a `Doublet` takes "cg" alone.
    precision : of most steps, "double", "single" or "half", which is single with links in 16 bits. When the residual
    stagnates, steps continue in the next higher precision. Multigrid takes "single" alone; steps of a `Doublet` are
    always in double precision.
    The first solve with multigrid sets it up (multigrid.hpp) for all further ones; InputError if aggregates of sites do
    not fit into the boxes of ranks.
    eigenvectors : of the smallest eigenvalues of a `Wilson` (`lowest_eigenvectors`), in whose space the solve begins
    from the solution.
    The result has ``steps``, ``updates``, ``residual``, and a sentence as its text. Collective. RunError with that
    sentence if the method stalls (as for kappa beyond its critical value) or runs out of steps.
    """
    if method not in METHODS:
        raise InputError(f"the method {method!r} is not one of {', '.join(METHODS)}")
    if eigenvectors is not None:
        first = begin_with(eigenvectors, matrix, eta)
        left = eta.copy().add(matrix(first), -1.0)
        more = residual * math.sqrt(eta.norm2() / left.norm2())
        psi, result = solve(matrix, left, min(more, 0.99), method, precision, max_steps)
        share = result.residual * math.sqrt(left.norm2() / eta.norm2())
        return psi.add(first), Solved(result.steps, result.updates, share)
    steps, psi = native_precision(precision), matrix.zeros()
    result = matrix.lattice.call(matrix.solver.solve, psi.native, eta.native, _core.lqcd.Method[method], steps,
                                 residual, max_steps)
    raise_unless_converged(result, method, matrix, residual)
    return psi, result


def set_up_multigrid(matrix: Wilson, aggregates: Sequence[Sequence[int]] = ()) -> None:
    """Set up multigrid for all further solves, which the first one does otherwise, with two levels.

    aggregates : extents of aggregates on each level, in sites of the level above, such as ``[(4, 4, 4, 4), (2, 2, 2,
    2)]`` for three levels; two levels, of about 4^4 sites, if empty. InputError if aggregates do not fit into the boxes
    of ranks. Collective.
    """
    matrix.lattice.call(matrix.solver.set_up, [list(box) for box in aggregates])


def begin_with(eigenvectors: Eigenvectors[SpinorField], matrix: Wilson, eta: SpinorField) -> SpinorField:
    r"""Return psi whose odd sites solve $\hat M^+\hat M x = \hat M^+ b$ in the space of eigenvectors. Collective.

    b is the source of $\hat M x = b$; even sites are those of the solution for these odd ones.
    """
    b = matrix.zeros(odd=True)
    matrix.lattice.call(matrix.native.prepare, b.native, eta.native)
    x, psi = eigenvectors.inverse(matrix.apply_odd(b, True)), matrix.zeros()
    psi.array[-len(x.array):] = x.array
    matrix.lattice.call(matrix.native.complete, psi.native, eta.native)
    return psi


def solve_normal(matrix: Wilson, phi: SpinorField, twist: float = 0.0, residual: float = 1e-10,
                 precision: str = "single", max_steps: int = 100_000, method: str = "cg") -> SpinorField:
    r"""Return x on odd sites with $\hat M^+ \hat M x = \phi$, from zero.

    $|\phi - \hat M^+ \hat M x| \le$ ``residual`` $|\phi|$. ``twist`` as in `Wilson.apply_odd`. method : "cg", or
    "multigrid" without twist, which solves $\hat M^+ y = \phi$ and $\hat M x = y$. Collective. RunError as `solve`.
    """
    x = phi.like()
    if method == "multigrid":
        if twist:
            raise InputError("multigrid is for operators without a twist on odd sites")
        result = matrix.lattice.call(matrix.solver.solve_normal_by_multigrid, x.native, phi.native, residual, max_steps)
    else:
        result = matrix.lattice.call(matrix.solver.solve_normal, x.native, phi.native, twist,
                                     native_precision(precision), residual, max_steps)
    raise_unless_converged(result, method, matrix, residual)
    return x


def solve_shifted(matrix: LinearOperator[Vector], phi: Vector, shifts: Sequence[float], residual: float = 1e-10,
                  max_steps: int = 100_000) -> list[Vector]:
    r"""Return x with $(\hat M^+ \hat M + \sigma) x = \phi$ on odd sites for each of the ``shifts`` $\sigma \ge 0$.

    Where phi has all sites, M takes the place of $\hat M$. It takes about the steps of the smallest shift (Jegerlehner,
    hep-lat/9612014). Collective. RunError as `solve`.
    """
    x = [phi.like() for _ in shifts]
    result = matrix.lattice.call(matrix.solver.solve_shifted, [field.native for field in x], phi.native, list(shifts),
                                 residual, max_steps)
    raise_unless_converged(result, "multishift cg", matrix, residual)
    return x


def native_precision(precision: str):
    """Return the native value of a precision. InputError for an unknown one."""
    if precision not in PRECISIONS:
        raise InputError(f"the precision {precision!r} is not one of {', '.join(PRECISIONS)}")
    return _core.lqcd.Precision[precision]


def raise_unless_converged(result, method: str, matrix: LinearOperator, residual: float) -> None:
    """Raise RunError on all ranks if a solver did not converge."""
    if result.converged:
        return
    error = RunError(f"{method} for {matrix} {result}, not {residual:g}")
    error.ranks = matrix.lattice.comm.size
    raise error

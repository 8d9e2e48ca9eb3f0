"""Susceptibilities with orbitals and leading eigenvalues of the lattice at any q, from one two-particle function.

As `plaq.dca.physics.lattice_response` for one band, with functions of pairs x = (K, a, b)
(plaq.dca.physics.orbital_channels) and rows for the frequencies outside the window: one for each x, whose chi0 is X,
the sum outside, a matrix in (a, b) for each K, and whose vertex with all others is the bare interaction u [x, x'],
    Gamma = chi0_cluster^-1 - G4^-1 - u (X_cluster^-1 - u)^-1 u    inside.
For densities and pairs of electrons at one site
    chi_ab(q, inu) = T/N_c e^(i (q - Q).(r_a - r_b)) sum_kk' [1/(1/chi0 - Gamma)]_(k aa)(k' bb),
with the phases that lead from functions relative to the patches to those of cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from plaq.dca.lattice.coarse_graining import SLACK
from plaq.dca.lattice.matrix_bubble import MatrixBubble
from plaq.dca.lattice.model import Model
from plaq.dca.physics import orbital_channels
from plaq.dca.physics.bare_vertex import bare_vertex
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.lattice_response import NAMES, SCALE, extrapolation
from plaq.dca.physics.orbital_channels import add_blocks, in_pairs
from plaq.dca.physics.susceptibility import FOLLOWING, Window


@dataclass(frozen=True)
class OrbitalFunctions:
    """Functions of one sample at any Matsubara index n [n]: cluster G and lattice z = iw + mu - Sigma, [K, a, b, n]."""

    g: Callable[[np.ndarray], np.ndarray]
    z: Callable[[np.ndarray], np.ndarray]

    @classmethod
    def of(cls, evaluation: Evaluation, m: np.ndarray) -> OrbitalFunctions:
        """Return those of a sample of `Evaluation.sample`."""
        g, sigma = evaluation.dyson(m)
        on_lattice, algebra = evaluation.on_lattice(sigma), evaluation.equations.algebra
        constant = orbital_channels.high_frequency_sigma(evaluation, g)
        return cls(lambda n: algebra.at(evaluation.mesh, g, n)[0], lambda n: on_lattice.z_at(sigma, constant, n)[0])


@dataclass(frozen=True)
class Pairs:
    """chi0 with rows for the frequencies outside: inside [K, n, ab, a'b'], outside [K, ab, a'b']."""

    inside: np.ndarray
    outside: np.ndarray

    def blocks(self, function: Callable[[np.ndarray], np.ndarray] = lambda x: x) -> np.ndarray:
        """Return function of all blocks as one matrix, rows (K, ab, n) and then (K, ab)."""
        K, n, pairs = self.inside.shape[:3]
        size = K * pairs
        out = np.zeros((size * (n + 1),) * 2, dtype=complex)
        add_blocks_at(out, 0, function(self.inside))
        add_blocks_at(out, size * n, function(self.outside)[:, None])
        return out


def add_blocks_at(matrix: np.ndarray, start: int, blocks: np.ndarray) -> None:
    """Add [K, n, ab, a'b'] to the part of a matrix that begins at a row, in place."""
    size = blocks.shape[0] * blocks.shape[1] * blocks.shape[2]
    part = np.zeros((size, size), dtype=complex)
    add_blocks(part, blocks)
    matrix[start:start + size, start:start + size] += part


class OrbitalResponse:
    """Response of the lattice in one channel at momenta [q, 2] that the vertex at the transfer Q gives.

    The arguments are those of `TransferResponse`; operations : index of the operation of the point group that led to
    each momentum from the one asked for.
    """

    def __init__(self, model: Model, beta: float, wmax: float, kind: str, transfer: int, m: int, window: int,
                 momenta: Sequence[np.ndarray], operations: Sequence[int]):
        self.model, self.kind, self.transfer, self.beta = model, kind, transfer, beta
        self.pairs, self.operations = kind == "pp", operations
        far = int(np.ceil(wmax * beta / (2 * np.pi)))
        self.windows = [Window(n, m, self.pairs, far) for n in dict.fromkeys((window, max(1, window // 2)))]
        self.bubbles = [MatrixBubble(model.cluster, q, SLACK * np.pi / beta, self.pairs,
                                     isolated=model.coarse_graining.isolated) for q in momenta]
        self.bare = bare_vertex(model, kind, transfer, beta)
        bands = model.lattice.bands
        self.local = np.eye(bands * bands)[:: bands + 1].T  # [ab, c], 1 where a = b = c

    def chi0_cluster(self, functions: OrbitalFunctions, window: Window, n: np.ndarray) -> np.ndarray:
        """Return chi0 [K, n, ab, a'b'] of the cluster."""
        cluster = self.model.cluster
        partners = cluster.momentum_difference[self.transfer] if self.pairs else cluster.momentum_sum[:, self.transfer]
        product = np.einsum("kabn,kcdn->kabcdn", functions.g(n), functions.g(window.partner(n))[partners])
        return in_pairs(product, self.pairs)

    def with_outside(self, window: Window, chi0: Callable[[np.ndarray], np.ndarray]) -> Pairs:
        """Return chi0(n) [K, n, ab, a'b'] in the window, with its sum outside."""
        return Pairs(chi0(window.n), window.sum_outside(lambda n: np.moveaxis(chi0(n), 1, -1)))

    def solve(self, functions: OrbitalFunctions, g4: np.ndarray, window: Window) -> tuple[np.ndarray, Pairs]:
        """Return the vertex with rows outside, of a window no larger than that of g4, and chi0 of the cluster."""
        n = functions.g(window.n)
        cut = slice(g4.shape[3] // 2 - window.window, g4.shape[3] // 2 + window.window)
        inside = g4[:, :, :, cut][..., cut]
        if self.kind == "charge" and self.transfer == 0 and window.m == 0:
            inside = inside - 2 * np.einsum("kabn,lcdv->kabnldcv", n, n)
        chi0 = self.with_outside(window, lambda n: self.chi0_cluster(functions, window, n))
        count, size = len(window.n), len(self.bare)
        whole = np.zeros((size, count, size, count), dtype=complex)
        outside = np.zeros((size, size), dtype=complex)
        add_blocks(outside, np.linalg.inv(chi0.outside)[:, None])
        whole -= (self.bare @ np.linalg.solve(outside - self.bare, self.bare))[:, None, :, None]
        flat = whole.reshape(size * count, -1)
        flat -= np.linalg.inv(inside.reshape(size * count, -1))
        add_blocks(flat, np.linalg.inv(chi0.inside))
        edge = np.repeat(self.bare, count, axis=1)
        return np.block([[flat, np.repeat(self.bare, count, axis=0)], [edge, self.bare]]), chi0

    def on_lattice(self, functions: OrbitalFunctions, bubble: MatrixBubble, window: Window) -> Pairs:
        """Return chi0 of the lattice at one q."""
        return self.with_outside(window, lambda n: in_pairs(
            bubble(functions.z(n), functions.z(window.partner(n))), self.pairs))

    def susceptibility(self, gamma: np.ndarray, chi0: Pairs, i: int) -> np.ndarray:
        """Return chi_ab at the i-th momentum as it was asked for, [a, b]."""
        count, cells = chi0.inside.shape[1], len(chi0.outside)
        legs = np.concatenate([np.tile(np.repeat(self.local, count, axis=0), (cells, 1)),
                               np.tile(self.local, (cells, 1))])
        chi = legs.T @ np.linalg.solve(chi0.blocks(np.linalg.inv) - gamma, legs)
        bubble, op = self.bubbles[i], self.model.group.action.operations[self.operations[i]]
        v = np.exp(1j * self.model.lattice.positions @ bubble.offset)
        chi = (v[:, None] * v.conj() * chi)[np.ix_(op.orbitals, op.orbitals)]
        turn = np.exp(1j * op.shifts @ bubble.q)
        return SCALE[self.kind] / (self.beta * cells) * turn[:, None] * turn.conj() * chi

    def references(self, functions: OrbitalFunctions, g4: np.ndarray) -> list[tuple[complex, np.ndarray] | None]:
        """Return the leading physical eigenvalue and its vector at each q with all data; None without one."""
        window = self.windows[0]
        try:
            gamma, chi0 = self.solve(functions, g4, window)
            skip = int(np.count_nonzero(np.linalg.eigvals(gamma @ chi0.blocks()).real > 1))
            return [leading(gamma @ self.on_lattice(functions, bubble, window).blocks(), skip)
                    for bubble in self.bubbles]
        except np.linalg.LinAlgError:
            return [None] * len(self.bubbles)

    def __call__(self, functions: OrbitalFunctions, g4: np.ndarray, references: Sequence) -> dict[str, np.ndarray]:
        """Return susceptibilities [q] and [q, a, b], what extrapolation adds to the first, and leading eigenvalues.

        Numbers without a solution are NaN.
        """
        count, bands = len(self.bubbles), self.model.lattice.bands
        chi, change = np.full((count, bands, bands), np.nan, complex), np.full(count, np.nan)
        values, vectors = np.full(count, np.nan), np.full((count, *self.vector_shape), np.nan, complex)
        try:
            solved = [self.solve(functions, g4, window)[0] for window in self.windows]
        except np.linalg.LinAlgError:
            solved = []
        for i, bubble in enumerate(self.bubbles if solved else ()):
            chi0 = [self.on_lattice(functions, bubble, window) for window in self.windows]
            found = [self.susceptibility(gamma, part, i) for gamma, part in zip(solved, chi0)]
            more = extrapolation(found, self.windows)
            chi[i], change[i] = found[0] + more, more.sum().real
            if references[i] is not None:
                values[i], vector = followed(solved[0] @ chi0[0].blocks(), *references[i], len(self.bare))
                vectors[i] = vector.reshape(self.vector_shape)
        name = NAMES[self.kind]
        resolved = {f"{name}_orbital": chi} if bands > 1 else {}
        return {name: chi.sum(axis=(1, 2)).real, f"{name}_window": change, **resolved,
                f"leading_{self.kind}": values, f"leading_vector_{self.kind}": vectors}

    @property
    def vector_shape(self) -> tuple[int, ...]:
        """Shape of an eigenvector, [K, a, b, n], or [K, n] of one orbital."""
        bands, count = self.model.lattice.bands, 2 * self.windows[0].window
        return (self.model.cluster.size, *((bands, bands) if bands > 1 else ()), count)


def leading(kernel: np.ndarray, skip: int) -> tuple[complex, np.ndarray]:
    """Return the eigenvalue with the largest Re - |Im| beside the ``skip`` largest ones, and its vector."""
    values, vectors = np.linalg.eig(kernel)
    rest = np.argsort(-values.real, kind="stable")[min(skip, len(values) - 1):]
    first = rest[np.argmax(values[rest].real - np.abs(values[rest].imag))]
    return values[first], vectors[:, first]


def followed(kernel: np.ndarray, value: complex, vector: np.ndarray, outside: int) -> tuple[float, np.ndarray]:
    """Return the eigenvalue (real part) that continues a known one, and its vector without the rows outside.

    Inverse iteration with the shift renewed in every step. The largest entry of the vector is 1.
    """
    vector = vector / np.linalg.norm(vector)
    for _ in range(FOLLOWING + 1):
        try:
            new = np.linalg.solve(kernel - value * np.eye(len(kernel)), vector)
        except np.linalg.LinAlgError:  # an eigenvalue to the last bit
            break
        value = value + (vector.conj() @ vector) / (vector.conj() @ new)
        vector = new / np.linalg.norm(new)
    inside = vector[:-outside]
    return float(np.real(value)), inside / inside[np.abs(inside).argmax()]

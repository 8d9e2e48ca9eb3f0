"""Susceptibilities and leading eigenvalues of the lattice at the momenta asked for, from one two-particle function.

A `TransferResponse` belongs to one function (channel, Q, m) and to the momenta q whose vertex it gives: those nearest
to Q, or to a momentum that the point group maps onto Q, after that rotation
(plaq.dca.lattice.transfers). Formulas: plaq.dca.physics.susceptibility.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from plaq.dca.lattice.bubble import Bubble
from plaq.dca.lattice.coarse_graining import SLACK
from plaq.dca.lattice.model import Model
from plaq.dca.physics import bethe_salpeter
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.susceptibility import BARE, Spectrum, Sums, Window, susceptibilities, vertex
from plaq.errors import RunError

CHANNELS = ("magnetic", "charge", "pp")
SCALE = {"magnetic": 0.5, "charge": 2.0, "pp": 1.0}  # of S^z and n in units of the channels' operators
NAMES = {"magnetic": "chi_s", "charge": "chi_c", "pp": "chi_pair_s"}


@dataclass(frozen=True)
class LatticeFunctions:
    """Functions of one sample at any Matsubara index n [n]: cluster G [K, n], and iw + mu - Sigma of the lattice."""

    g: Callable[[np.ndarray], np.ndarray]
    z: Callable[[np.ndarray], np.ndarray]

    @classmethod
    def of(cls, evaluation: Evaluation, g: np.ndarray, sigma: np.ndarray, constant: np.ndarray) -> LatticeFunctions:
        """Return those of G and Sigma on the mesh, [K, w]; constant [K] is Sigma at infinite frequency."""
        return cls(lambda n: evaluation.mesh.at_frequencies(g, n), lambda n: evaluation.z_at(sigma, constant, n))


def d_wave(q: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return cos k_x - cos k_y of k [..., 2], mean of k and q - k: of a singlet on bonds that meet at a site."""
    factor = lambda k: np.cos(k[..., 0]) - np.cos(k[..., 1])
    return lambda k: (factor(k) + factor(q - k)) / 2


def has_d_wave(model: Model) -> bool:
    """Return whether x and y are equivalent directions of a square lattice, so that d_x2y2 is an irrep."""
    return any(abs(g[0, 0]) == 0 for g in model.group.operations) and model.lattice.system.name == "square"


@dataclass
class Solved:
    """Vertex of one sample with frequencies outside in one more row, and chi0 of the cluster in the same form."""

    gamma: np.ndarray
    chi0: np.ndarray


class TransferResponse:
    """Response of the lattice in one channel at momenta [q, 2] that the vertex at the transfer Q gives.

    ``momenta`` are those of `assign`; ``window`` positive frequencies; ``m`` the bosonic index.
    """

    def __init__(self, model: Model, beta: float, wmax: float, kind: str, transfer: int, m: int, window: int,
                 momenta: Sequence[np.ndarray]):
        self.model, self.kind, self.transfer, self.beta = model, kind, transfer, beta
        pairs = kind == "pp"
        far = int(np.ceil(wmax * beta / (2 * np.pi)))
        self.windows = [Window(n, m, pairs, far) for n in dict.fromkeys((window, max(1, window // 2)))]
        self.factors = [[d_wave(q)] if pairs and has_d_wave(model) else [] for q in momenta]
        self.bubbles = [Bubble(model.cluster, q, SLACK * np.pi / beta, pairs, [f for d in factors for f in
                               (d, lambda k, d=d: d(k) ** 2)], model.coarse_graining.isolated)
                        for q, factors in zip(momenta, self.factors)]
        self.bare = BARE[kind] * model.U / (beta * model.cluster.size)

    @property
    def names(self) -> list[str]:
        """Names of the susceptibilities, one for each form factor."""
        return [NAMES[self.kind], *(["chi_pair_d"] if self.kind == "pp" and has_d_wave(self.model) else [])]

    def solve(self, functions: LatticeFunctions, g4: np.ndarray, window: Window) -> Solved:
        """Return the vertex of a window no larger than that of g4 [K, n, K', n'], of both signs."""
        cut = slice((g4.shape[1] - 2 * window.window) // 2, (g4.shape[1] + 2 * window.window) // 2)
        chi0 = self.chi0_cluster(functions, window, window.n)
        g4 = g4[:, cut][..., cut]
        if self.kind == "charge" and self.transfer == 0 and window.m == 0:
            g = functions.g(window.n)
            g4 = g4 - 2 * g[:, :, None, None] * g
        group = self.model.group
        g4 = bethe_salpeter.group_average(g4, group.momentum_permutations[group.leaving(self.transfer)])
        g4 = g4.reshape(chi0.size, -1)
        outside = window.sum_outside(lambda n: self.chi0_cluster(functions, window, n).sum(axis=0))
        return Solved(vertex((g4 + g4.T) / 2, chi0.ravel(), outside, self.bare), np.append(chi0, outside))

    def chi0_cluster(self, functions: LatticeFunctions, window: Window, n: np.ndarray) -> np.ndarray:
        """Return chi0 [K, n] of the cluster."""
        cluster, g, partner = self.model.cluster, functions.g(n), functions.g(window.partner(n))
        if self.kind == "pp":
            return g * partner[cluster.momentum_difference[self.transfer]]
        return -g * partner[cluster.momentum_sum[:, self.transfer]]

    def sums(self, functions: LatticeFunctions, bubble: Bubble, window: Window) -> Sums:
        """Return the bubble of the lattice at one q."""
        sign = 1 if self.kind == "pp" else -1
        values = lambda n: sign * bubble(functions.z(n), functions.z(window.partner(n)))
        return Sums.of(values(window.n), window.sum_outside(lambda n: values(n).sum(axis=1)))

    def references(self, functions: LatticeFunctions, g4: np.ndarray) -> list[Spectrum | None]:
        """Return the spectrum of Gamma chi0 at each q with all data, which the samples follow; None without one."""
        try:
            solved = self.solve(functions, g4, self.windows[0])
            skip = Spectrum.of(solved.gamma, solved.chi0).above_one
            return [Spectrum.of(solved.gamma, self.sums(functions, bubble, self.windows[0]).chi0, skip)
                    for bubble in self.bubbles]
        except (np.linalg.LinAlgError, RunError):
            return [None] * len(self.bubbles)

    def __call__(self, functions: LatticeFunctions, g4: np.ndarray,
                 references: Sequence[Spectrum | None]) -> dict[str, np.ndarray]:
        """Return susceptibilities [q], their part from extrapolation of the window, and leading eigenvalues.

        With c/N^2 left after the frequencies outside N are taken into account, chi of the windows N and N' gives
        chi(N) + (chi(N) - chi(N')) N'^2 / (N^2 - N'^2). Numbers without a solution are NaN.
        """
        size, w = self.model.cluster.size, 2 * self.windows[0].window
        values = {name: np.full(len(self.bubbles), np.nan) for name in self.names}
        change, leading = {name: np.full(len(self.bubbles), np.nan) for name in self.names}, []
        vectors = np.full((len(self.bubbles), size, w), np.nan, dtype=complex)
        scale = SCALE[self.kind] / (self.beta * size)
        try:
            solved = [self.solve(functions, g4, window) for window in self.windows]
        except np.linalg.LinAlgError:
            solved = []
        for i, bubble in enumerate(self.bubbles):
            eigenvalue = np.nan
            if solved:
                sums = [self.sums(functions, bubble, window) for window in self.windows]
                chi = [scale * susceptibilities(s.gamma, part).real for s, part in zip(solved, sums)]
                more = extrapolation(chi, self.windows)
                for name, value, added in zip(self.names, chi[0], more):
                    values[name][i], change[name][i] = value + added, added
                if references[i] is not None:
                    eigenvalue, vector = references[i].follow(solved[0].gamma, sums[0].chi0)
                    vectors[i] = vector[:-1].reshape(size, w)
            leading.append(eigenvalue)
        return (values | {f"{name}_window": change[name] for name in self.names}
                | {f"leading_{self.kind}": np.array(leading), f"leading_vector_{self.kind}": vectors})


def extrapolation(chi: Sequence[np.ndarray], windows: Sequence[Window]) -> np.ndarray:
    """Return what extrapolation adds to chi of the largest window; 0 where there is one window only."""
    if len(chi) == 1:
        return np.zeros_like(chi[0])
    large, small = (window.window for window in windows)
    return (chi[0] - chi[1]) * small**2 / (large**2 - small**2)

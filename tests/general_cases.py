"""Small general models without a bath: exact by brute force in Fock space, and by CT-INT."""

from dataclasses import dataclass, field
from functools import cached_property
from types import SimpleNamespace

import numpy as np

from plaq import comm
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.cluster import Cluster
from plaq.dca.lattice.hopping import Lattice
from plaq.dca.lattice.interaction import Interaction
from plaq.dca.lattice.model import Model
from plaq.dca.lattice.symmetry import PointGroup
from plaq.dca.solver import ctaux, ctint
from plaq.dca.solver.chains import Chains, run_chains


def annihilators(count):
    """Return Jordan-Wigner matrices c_i [i, 2^count, 2^count]."""
    z, lower, one = np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [0.0, 0.0]]), np.eye(2)
    out = []
    for i in range(count):
        c = np.ones((1, 1))
        for j in range(count):
            c = np.kron(c, z if j < i else lower if j == i else one)
        out.append(c)
    return np.array(out)


class Exact:
    """Grand-canonical averages of H = sum h_ij c+_i c_j + sum v c+ c c+ c; spin-orbitals i, s as i + s N."""

    def __init__(self, h, terms, beta):
        """h : [spin, i, j] with -mu; terms : (v, i, j, k, n) for v c+_i c_j c+_k c_n over spin-orbitals."""
        count = h.shape[1]
        c = annihilators(2 * count)
        self.count, self.beta, self.c = count, beta, c
        H = sum(h[s, i, j] * c[i + s * count].T @ c[j + s * count]
                for s in (0, 1) for i in range(count) for j in range(count) if h[s, i, j])
        for v, i, j, k, n in terms:
            H = H + v * c[i].T @ c[j] @ c[k].T @ c[n]
        self.energy, self.states = np.linalg.eigh(H)
        weights = np.exp(-beta * (self.energy - self.energy[0]))
        self.weights = weights / weights.sum()

    def mean(self, operator):
        return float(self.weights @ np.einsum("an,ab,bn->n", self.states, operator, self.states, optimize=True))

    def static(self, a, b):
        """Return int_0^beta dtau <a(tau) b>."""
        a, b = (self.states.T @ x @ self.states for x in (a, b))
        gap = self.energy[:, None] - self.energy
        same = np.abs(gap) < 1e-9
        # weights_n a_nm b_mn int e^{(E_n - E_m) tau}
        kernel = np.where(same, self.beta * self.weights[:, None],
                          (self.weights - self.weights[:, None]) / np.where(same, 1, gap))
        return float((kernel * a * b.T).sum())

    def green(self, i, j, iw):
        """Return G_ij(iw) of spin-orbitals."""
        ci, cj = (self.states.T @ self.c[x] @ self.states for x in (i, j))
        residue = ci * cj * (self.weights[:, None] + self.weights)
        gap = self.energy - self.energy[:, None]  # E_m - E_n of <n|c|m>
        return np.array([(residue / (z - gap)).sum() for z in iw])

    def number(self, i):
        return self.c[i].T @ self.c[i]


@dataclass
class GeneralCase:
    """Isolated cluster of a lattice with orbitals, by CT-INT and exactly; table and vectors as for the lattice."""

    table: dict
    vectors: tuple
    interaction: Interaction
    beta: float
    mu: float
    measurements: int = 20000
    order: float = 10.0
    chains: int = 4
    bins: int = 64
    seed: int = 1
    K: float | str = "auto"
    warm_up: int = 200
    extra: dict = field(default_factory=dict)  # of the request

    @cached_property
    def lattice(self):
        count = np.shape(next(iter(self.table.values())))[-1]
        return Lattice(self.table, tuple(map(str, range(count))))

    @cached_property
    def cluster(self):
        return Cluster(self.lattice, self.vectors)

    @cached_property
    def model(self):
        group = PointGroup(self.cluster, self.interaction, isolated=True)
        return Model(np.nan, self.lattice, self.cluster, group, None, [], None, self.interaction, True)

    @cached_property
    def h(self):
        """Matrix elements t_ab(R) of the cluster, [S, R, a, b]."""
        h = np.zeros((self.lattice.spins, self.cluster.size, self.lattice.bands, self.lattice.bands))
        for d, amplitudes in self.lattice.table.items():
            h[:, self.cluster.site_index(d)] += amplitudes
        return h

    @cached_property
    def solver(self):
        return SimpleNamespace(block_length="auto", measure_every=1, bins=self.bins, chains=self.chains, K=self.K,
                               precision="double", seed=self.seed)

    @cached_property
    def mesh(self):
        strength = sum(abs(p.value) for p in (*self.interaction.pairs, *self.interaction.exchanges))
        return matsubara.mesh(self.beta, np.abs(self.h).sum() + strength + abs(self.mu) + 1)

    @cached_property
    def h_of_momentum(self):
        return np.einsum("kr,srab->skab", self.cluster.fourier, self.h)

    @cached_property
    def bath(self):
        """1/(iw + mu - h(K)) [S, K, a, b, w]."""
        one = np.eye(self.h.shape[-1])[..., None]
        return inverse(one * (1j * self.mesh.omega + self.mu) - self.h_of_momentum[..., None])

    @cached_property
    def auxiliary(self):
        """G0, projected on the basis of the mesh."""
        shift = ctint.auxiliary_shift(self.model)[..., None]
        fourier, size = self.cluster.fourier, self.cluster.size
        g0 = inverse(inverse(self.bath) - shift)
        in_space = np.einsum("kr,skabw->srabw", fourier.conj(), g0) / size
        return np.einsum("kr,srabw->skabw", fourier, self.mesh.evaluate(self.mesh.fit(in_space)))

    @cached_property
    def request(self):
        return ctaux.SolverRequest(beta=self.beta, U=0.0, K=1.0, g0=self.auxiliary, measurements=self.measurements,
                                   order=self.order, warm_up=self.warm_up, point=0, iteration=0, **self.extra)

    @cached_property
    def problem(self):
        return ctint.make_problem(self.model, self.mesh, self.request, self.solver)

    def fresh_chains(self):
        return Chains.fresh(comm.world(), self.chains, self.bins)

    def run(self, chains, threads="fiber", workers=1, watch=lambda measurements, sweeps: None):
        """Advance the chains; return whether all are complete."""
        how = SimpleNamespace(threads=threads, workers=workers, bind="auto", chains_in_flight="auto", device="none")
        return run_chains(self.problem, chains, how, comm.world(), watch)

    def collected(self):
        """Return the bins of a whole run as `Measured`."""
        chains = self.fresh_chains()
        assert self.run(chains)
        return ctint.collect(self.problem, chains.bins, chains.tally(comm.world()), self.model, self.request)

    def measure(self):
        """Return averages with errors {name: (mean, error)}: G, density, pairs, static, order, sign."""
        measured = self.collected()
        bins = len(measured.norm)

        def values(keep):
            norm = measured.norm[keep].mean()
            mean = lambda a: a[keep].mean(axis=0) / norm
            m = mean(measured.m)
            g = self.auxiliary - product(product(self.auxiliary, m), self.auxiliary)
            correlations = {name: mean(a) for name, a in measured.correlations.items()}
            out = {"G": g, **correlations}
            out["order"] = measured.order[keep].mean() / measured.sign[keep].mean()
            out["expected_order"] = ctint.expected_order(self.model, correlations, self.beta,
                                                         1.0 if self.K == "auto" else self.K)
            out["sign"] = measured.sign[keep].mean()
            return out

        samples = [values(np.arange(bins) != i) for i in range(bins)]
        whole = values(np.arange(bins) >= 0)
        out = {}
        for name, mean in whole.items():
            spread = np.array([s[name] for s in samples]) - mean
            root = lambda x: np.sqrt((bins - 1) / bins * (x**2).sum(axis=0))
            error = root(spread.real) + 1j * root(spread.imag) if np.iscomplexobj(mean) else root(spread)
            out[name] = mean, error
        out["measured"] = measured
        return out

    @cached_property
    def exact(self):
        cells, count = self.cluster.size, self.h.shape[-1]
        spin_orbital = lambda cell, a, s: cell * count + a + s * cells * count
        h = np.zeros((2, cells * count, cells * count))
        for s in (0, 1):
            for i in range(cells):
                for j in range(cells):
                    block = self.h[min(s, len(self.h) - 1), self.cluster.site_difference[i, j]]
                    h[s, i * count:(i + 1) * count, j * count:(j + 1) * count] = block
            h[s] -= self.mu * np.eye(cells * count)
        terms = []
        for r in range(cells):
            for p in self.interaction.pairs:
                there = self.cluster.site_index(self.cluster.sites[r] + np.array(p.d))
                i, j = spin_orbital(r, p.a, p.spin_a), spin_orbital(there, p.b, p.spin_b)
                terms.append((p.value, i, i, j, j))
            for e in self.interaction.exchanges:
                terms.append((e.value, spin_orbital(r, e.a, 0), spin_orbital(r, e.b, 0), spin_orbital(r, e.c, 1),
                              spin_orbital(r, e.d, 1)))
        return Exact(h, terms, self.beta)

    def exact_values(self):
        """Return the exact values of `measure`."""
        cells, count, exact = self.cluster.size, self.h.shape[-1], self.exact
        index = lambda cell, a, s: cell * count + a + s * cells * count
        number = lambda cell, a, s: exact.number(index(cell, a, s))
        g = np.array([[[[exact.green(index(r, a, s), index(0, b, s), 1j * self.mesh.omega)
                         for b in range(count)] for a in range(count)] for r in range(cells)]
                      for s in range(len(self.h))])
        every = [(s, t, r, a, b) for s in (0, 1) for t in (0, 1) for r in range(cells) for a in range(count)
                 for b in range(count)]
        shape = (2, 2, cells, count, count)
        pairs = np.array([exact.mean(number(r, a, s) @ number(0, b, t)) for s, t, r, a, b in every]).reshape(shape)
        static = np.array([exact.static(number(r, a, s), number(0, b, t)) for s, t, r, a, b in every]).reshape(shape)
        density = np.array([[exact.mean(number(0, a, s)) for a in range(count)] for s in (0, 1)])
        return {"G": np.einsum("kr,srabw->skabw", self.cluster.fourier, g), "pairs": pairs, "static": static,
                "density": density}


def product(a, b):
    return np.einsum("...abw,...bcw->...acw", a, b)


def inverse(a):
    return np.moveaxis(np.linalg.inv(np.moveaxis(a, -1, -3)), -3, -1)


def deviations(measured, exact):
    """Return (mean - exact) in standard errors, real and imaginary parts apart, where there is an error."""
    mean, error = measured
    parts = [(np.real(mean - exact), np.real(error))]
    if np.iscomplexobj(mean):
        parts.append((np.imag(mean - exact), np.imag(error)))
    d = np.concatenate([p[0].ravel() for p in parts])
    e = np.concatenate([p[1].ravel() for p in parts])
    return np.where(e > 1e-7, d / np.where(e > 1e-7, e, 1), d / 1e-6)

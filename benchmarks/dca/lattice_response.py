"""Susceptibilities of the lattice against what follows from other runs, with their errors.

`python benchmarks/dca/lattice_response.py [measurements]` prints, for clusters of one, two and four sites:

compressibility     chi_c(q = 0) of a run at mu beside (n(mu + d) - n(mu - d)) / 2d of two runs without two-particle
                    functions. The irreducible vertex is the derivative of Sigma, so DCA fulfils this exactly.
field               chi_s(q = 0) beside <S^z>/h in a uniform field h, which CT-INT solves; one site.
pseudospin          at half filling chi_pair_s(q + (pi, pi)) = chi_c(q) / 2 at every q, by rotation of the pseudospin:
                    two channels, other momenta, other windows.
"""

import sys

import numpy as np

from plaq import dca

CLUSTERS = {"1 site": [[1, 0], [0, 1]], "2 sites": [[1, 1], [1, -1]], "2x2": [[2, 0], [0, 2]]}
HOT, FIELD = 0.5, 0.3
U, T, MU, STEP = 4.0, 0.25, 0.8, 0.1
FEW = [[0, 0], [0.25, 0.125], [0.45, 0.2], [0.7, 0.45], [1, 0], [1, 0.625], [1, 1]]


def run(measurements, cluster, seed, **sections):
    solver = {"measurements": measurements, "seed": seed}
    model = {"U": U, "cluster": cluster}
    return dca.run(dca.Parameters(model=model, solver=solver, run={"workers": 1}, **sections)).at(T)


def compressibility(measurements, cluster):
    """Print chi_c(0) and the derivative of n."""
    pairs = {"channels": ["charge"], "momenta": [[0, 0]], "frequencies": 12}
    chi = run(measurements, cluster, 1, dca={"temperatures": [T], "mu": MU}, two_particle=pairs)
    above, below = (run(4 * measurements, cluster, seed, dca={"temperatures": [T], "mu": MU + shift},
                        two_particle={"channels": []})["density"] for seed, shift in ((2, STEP), (3, -STEP)))
    slope = float(above.mean - below.mean) / (2 * STEP), float(np.hypot(above.error, below.error)) / (2 * STEP)
    value, error = float(chi["chi_c"].mean[0, 0]), float(chi["chi_c"].error[0, 0])
    deviation = (value - slope[0]) / np.hypot(error, slope[1])
    window = chi["chi_c_window"].mean[0, 0]
    own = chi["charge_susceptibility"].pick(K=0)
    print(f"  n = {chi['density']}: chi_c(0) = {value:.4f} +- {error:.4f} (window {window:+.4f}), dn/dmu = "
          f"{slope[0]:.4f} +- {slope[1]:.4f}, {deviation:+.1f} errors; the cluster's {own}", flush=True)


def field(measurements):
    """Print chi_s(0) and the magnetisation in a field over the field."""
    loop, site = {"temperatures": [HOT], "mu": 1.0}, {"U": U, "cluster": CLUSTERS["1 site"]}
    solver = lambda kind, seed, factor: {"kind": kind, "seed": seed, "measurements": factor * measurements}
    pairs = {"channels": ["magnetic"], "momenta": [[0, 0]], "frequencies": 10}
    chi = dca.run(dca.Parameters(model=site, dca=loop, solver=solver("ctaux", 1, 1), two_particle=pairs)).at(HOT)
    there = dca.run(dca.Parameters(model=site | {"field": FIELD}, dca=loop, solver=solver("ctint", 4, 15),
                                   two_particle={"channels": []})).at(HOT)
    value, ratio = chi["chi_s"].pick(q=0, nu=0), there["magnetisation"] / FIELD
    apart = value - ratio
    print(f"  chi_s(0) = {value}, <S^z>/h = {ratio}, {float(apart.mean / apart.error):+.1f} errors; "
          f"the cluster's {chi['spin_susceptibility'].pick(K=0)}", flush=True)


def pseudospin(measurements, cluster):
    """Print both sides at every q, and their difference, in which most of the noise cancels."""
    momenta = FEW + [[x + 1, y + 1] for x, y in FEW]
    point = run(measurements, cluster, 4, dca={"temperatures": [T], "density": 1.0},
                two_particle={"channels": ["pp", "charge"], "momenta": momenta, "frequencies": 12})
    count, relative = len(FEW), []
    for i, q in enumerate(FEW):
        charge, pairs = point["chi_c"].pick(q=i, nu=0), 2 * point["chi_pair_s"].pick(q=count + i, nu=0)
        relative.append(float((pairs - charge).mean / charge.mean))
        print(f"  q = {q}: chi_c = {charge}, 2 chi_pair = {pairs}, difference {pairs - charge}", flush=True)
    print(f"  largest difference {np.abs(relative).max():.1e} of the value", flush=True)


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for name, vectors in CLUSTERS.items():
        print(f"{name}, U = {U:g}, T = {T:g}: compressibility", flush=True)
        compressibility(number, vectors)
        print(f"{name}, U = {U:g}, T = {T:g}, half filling: pseudospin", flush=True)
        pseudospin(number, vectors)
    print(f"1 site, U = {U:g}, T = {HOT:g}, mu = 1: field {FIELD:g}", flush=True)
    field(number)

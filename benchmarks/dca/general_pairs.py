"""Two-particle functions of general models beside what is known of them; prints the tables of dca_general_pairs.md.

    python benchmarks/dca/general_pairs.py solvers | attraction | site | cells | response | bilayer [measurements]

solvers     one band by CT-AUX and by CT-INT, in baths that each finds for itself
attraction  the plaquette at half filling, -U beside +U
response    dn/dmu of a bilayer by two further runs; one band by CT-AUX and CT-INT between momenta of the cluster
bilayer     pairing of the bilayer of Maier and Scalapino (2011), on 2x2 cells, against t_perp
site        the same of the lattice's response, for a cluster of one site
cells       two cells of two orbitals with Kanamori's interaction, without a bath, beside exact diagonalisation
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from plaq.comm import world
from plaq.data import statistics
from plaq.dca.loop.loop import Loop
from plaq.dca.loop.observer import QuietObserver
from plaq.dca.parameters import Parameters
from plaq.run.driver import Run

PLAQUETTE = [[2, 0], [0, 2]]


def point(*args, **options):
    """Return the only temperature of a run."""
    return points(*args, **options)[0]


def points(model, kind, dca, channels, measurements, q=((0, 0),), frequencies=6, momenta=None):
    """Return the temperatures of a run."""
    transfers = "auto" if momenta else [list(x) for x in q]
    p = Parameters(model=model, dca=dca, run={"workers": 1},
                   solver={"measurements": measurements, "chains": 16, "warmup": 100, "kind": kind},
                   two_particle={"channels": channels, "frequencies": frequencies, "transfers": transfers,
                                 "momenta": momenta})
    run = Run(world(), SimpleNamespace(requested=lambda: None))
    return run.carry_out(Loop(p, run, QuietObserver())).points


def deviation(a, b, scale=1.0):
    """Return (a - scale b) in standard errors."""
    return (a.mean - scale * b.mean) / np.hypot(a.error, scale * b.error)


def solvers(measurements):
    dca = {"temperatures": [0.4], "density": 0.9}
    found = [point({"U": 4, "cluster": PLAQUETTE}, kind, dca, ["pp", "magnetic", "charge"], measurements,
                   ((0, 0), (1, 1)), 4) for kind in ("ctaux", "ctint")]
    print("| eigenvalue | CT-AUX | CT-INT | deviation |\n|---|---|---|---|")
    for name in found[0].observables:
        if name.startswith("lambda_") and name in found[1] and not name.startswith("lambda_pp"):
            print(f"| `{name}` | {found[0][name]} | {found[1][name]} | {deviation(*(p[name] for p in found)):.1f} σ |")


def attraction(measurements):
    print("| T | λ_s(pp, −U) | λ(magnetic, (π,π), U) | deviation | χ_c((π,π), −U) | 4 χ_s((π,π), U) | deviation |")
    print("|---|---|---|---|---|---|---|")
    for T in (0.5, 0.3):
        minus = point({"U": -4, "cluster": PLAQUETTE}, "ctint", {"temperatures": [T], "mu": -2.0}, ["pp"], measurements)
        plus = point({"U": 4, "cluster": PLAQUETTE}, "ctint", {"temperatures": [T], "mu": 2.0}, ["magnetic"],
                     measurements, ((1, 1),))
        pairing, magnetic = minus["lambda_s"], plus["lambda_magnetic_q3_m0_s"]
        charge, spin = (p[f"{kind}_susceptibility"].pick(K=3) for p, kind in ((minus, "charge"), (plus, "spin")))
        print(f"| {T} | {pairing} | {magnetic} | {deviation(pairing, magnetic):.1f} σ | {charge} | "
              f"{4 * spin.mean:.3f}({1000 * 4 * spin.error:.0f}) | {deviation(charge, spin, 4):.1f} σ |")


def site(measurements):
    one, q = [[1, 0], [0, 1]], [[0, 0], [1, 1]]
    minus = point({"U": -4, "cluster": one}, "ctint", {"temperatures": [0.4], "mu": -2.0}, ["pp", "charge"],
                  measurements, momenta=q)
    plus = point({"U": 4, "cluster": one}, "ctint", {"temperatures": [0.4], "mu": 2.0}, ["magnetic"], measurements,
                 momenta=q)
    print("| −U | | U | | deviation |\n|---|---|---|---|---|")
    for name, other, scale, shift in (("leading_pp", "leading_magnetic", 1, 1), ("chi_c", "chi_s", 4, 0)):
        for i in (0, 1):
            a, b = minus[name].pick(q=i, nu=0), plus[other].pick(q=(i + shift) % 2, nu=0)
            print(f"| `{name}`, q = {q[i]} | {a} | {scale} `{other}`, q = {q[(i + shift) % 2]} | "
                  f"{scale * b.mean:.4f} ± {scale * b.error:.4f} | {deviation(a, b, scale):.1f} σ |")


def response(measurements):
    model = {"lattice": "bilayer", "amplitudes": {"t_perp": 1.0}, "U": 4.0, "cluster": [[1, 0], [0, 1]]}
    runs = [point(model, "ctint", {"temperatures": [0.5], "mu": mu}, ["charge"] if mu == 1.2 else [], measurements,
                  momenta=[[0, 0]] if mu == 1.2 else None) for mu in (1.0, 1.2, 1.4)]
    low, high = (runs[i]["density"] for i in (0, 2))
    slope, error = (high.mean - low.mean) / 0.4, np.hypot(low.error, high.error) / 0.4
    chi = runs[1]["chi_c"].pick(q=0, nu=0)
    print(f"| bilayer, U = 4, t_perp = 1, mu = 1.2, T = 0.5 | chi_c(0) = {chi} | dn/dmu = {slope:.4f} +- {error:.4f} | "
          f"{(chi.mean - slope) / np.hypot(chi.error, error):.1f} σ |")
    q = [[0, 0], [0.6, 0.3], [1, 0], [1, 1]]
    found = [point({"U": 4, "cluster": PLAQUETTE}, kind, {"temperatures": [0.4], "density": 0.9},
                   ["pp", "magnetic", "charge"], measurements, momenta=q) for kind in ("ctaux", "ctint")]
    print("| | q / π | CT-AUX | CT-INT | deviation |\n|---|---|---|---|---|")
    for name in ("chi_s", "chi_c", "chi_pair_s", "leading_magnetic", "leading_pp"):
        for i, where in enumerate(q):
            one, other = (p[name].pick(q=i, nu=0) for p in found)
            print(f"| `{name}` | {where} | {one} | {other} | {deviation(one, other):.1f} σ |")


def bilayer(measurements):
    print("| t_perp | T | sign | λ_s | λ_d | λ_s_odd | λ_d_odd |\n|---|---|---|---|---|---|---|", flush=True)
    for t_perp in (0.5, 1.0, 1.5, 2.0):
        model = {"lattice": "bilayer", "amplitudes": {"t_perp": t_perp}, "U": 6.0, "cluster": PLAQUETTE}
        for found in points(model, "ctint", {"temperatures": [0.333, 0.25, 0.2], "density": 1.9}, ["pp"], measurements,
                            frequencies=4):
            print(f"| {t_perp} | {found.T:g} | {found['sign']} | " + " | ".join(
                str(found[f"lambda_{irrep}"]) for irrep in ("s", "d", "s_odd", "d_odd")) + " |", flush=True)


def cells(measurements):
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
    from general_cases import GeneralCase, deviations

    from plaq.dca.lattice.interaction import Torus, build_interaction
    from plaq.dca.solver.ed.model import exact_cluster
    from plaq.dca.solver.ed.two_particle import two_particle

    vectors, here, right, left = ((2, 0), (0, 1)), (0, 0), (1, 0), (-1, 0)
    table = {here: [[0.3, 0.0], [0.0, -0.2]], right: [[-1.0, 0.4], [0.2, -0.5]], left: [[-1.0, 0.2], [0.4, -0.5]]}
    hund = build_interaction(Torus(vectors), [2.0, 2.0], atoms=[0, 0], U_prime=1.2, J=0.4, kanamori=True)
    channels = [("pp", 0, 0), ("pp", 1, 1), ("magnetic", 1, 0), ("charge", 0, 1)]
    case = GeneralCase(table, vectors, hund, beta=2.0, mu=1.2, seed=4, measurements=measurements, order=8, chains=64,
                       extra={"window": 2, "channels": channels})
    measured, exact = case.collected(), exact_cluster(case.cluster, hund, 1.2, 2.0)
    print("| channel, Q, m | numbers | χ²/N | largest deviation |\n|---|---|---|---|")
    for (kind, q, m), bins in zip(channels, measured.channels):
        found = statistics.average("G4", measured.norm, bins, measured.weights)
        off = deviations((found.mean, found.error), two_particle(exact, kind, q, m, np.arange(-2, 2)))
        print(f"| {kind}, {q}, {m} | {off.size} | {np.mean(off**2):.2f} | {np.abs(off).max():.1f} σ |")


if __name__ == "__main__":
    part = {"solvers": solvers, "attraction": attraction, "site": site, "cells": cells, "response": response,
            "bilayer": bilayer}[sys.argv[1]]
    part(int(sys.argv[2]) if len(sys.argv) > 2 else 32000)

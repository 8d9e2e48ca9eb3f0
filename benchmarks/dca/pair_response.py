"""One iteration of the loop with a small ordered self-energy, beside the pairing function of the normal phase.

    python pair_response.py [--U 6] [--density 0.95] [--T 0.125] [--measurements 30000] [--sizes 0.15] [--seed 0]

Both are solved in the bath of one normal self-energy Sigma. To first order in x(K, w), the ordered part of Sigma, that
of the output is

    y = G4 phi / |G|^2 - phi,    phi = (chi0_lattice / |Gbar|^2 - 1) x,

with G4 and G of the cluster, and Gbar and chi0_lattice, means over patches, of the lattice. At y = x an eigenvalue
lambda of Gamma chi0_lattice is 1, so T_c from above and from below agree if y does. CT-AUX measures G4, CT-INT y.

Growth is the mean of y over that of x at (pi, 0), over the frequencies of the window with weights 1/(1 + w^2). Without
order in the bath a configuration has none, so that the noise of y is proportional to x: its relative error does not
depend on how small x is.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from problems import Problem

from plaq.comm import world
from plaq.data.estimate import with_error
from plaq.dca.lattice.model import Model
from plaq.dca.lattice.symmetry import irrep_blocks, irrep_projectors
from plaq.dca.loop import iteration
from plaq.dca.loop.loop import first_state
from plaq.dca.loop.observer import QuietObserver
from plaq.dca.loop.setup import Setup
from plaq.dca.parameters import Parameters
from plaq.dca.physics import bethe_salpeter, two_particle
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.solver import jackknife_groups
from plaq.dca.solver.distributed_g4 import pair_functions
from plaq.run.driver import Run

PLAQUETTE = [[2, 0], [0, 2]]
DECAY = 4  # x falls as (1 + w^2)^(-DECAY / 2)
WINDOW = 16  # frequencies of G4
SHOWN = 3


def growth(problem, y, x):
    """Return the growth of y [..., w] of x [w], on the frequencies of the mesh in the window."""
    weight = 1 / (1 + problem.mesh.omega[problem.mesh.n < WINDOW] ** 2)
    return y[..., :len(weight)] @ weight / (x @ weight)


def normal(problem, window, measurements, x):
    """Return lambda_d, y [w] at (pi, 0) on the mesh, and growth, each with its error, in the normal phase."""
    start = problem.run(measurements=64, bins=16, warm_up=200)
    found = problem.run(order=start.order, measurements=measurements, bins=64, warm_up=0, window=window, every=4,
                        start=start.states).measured
    evaluation = Evaluation(problem.model, problem.mesh, problem.K, problem.mu, problem.g0)
    projectors, blocks = irrep_projectors(problem.cluster), irrep_blocks(problem.cluster)
    blocks = {name: block for name, block in blocks.items() if "d_x2y2" in name.split("+")}
    function = pair_functions(window, problem.cluster.size, two_particle.pair_orbits(problem.group), 0)["pairing"]
    n = np.arange(window)
    z = evaluation.z_at(problem.sigma, two_particle.high_frequency_sigma(evaluation, problem.gbar), n)
    chi0_lattice = problem.coarse.chi0_pp(z, z.conj()).real
    phi = (chi0_lattice / np.abs(problem.mesh.at_frequencies(problem.gbar, n)) ** 2 - 1) * x
    bath = found.in_bath(problem.g0).bath
    arrays = found.norm, bath.ratio, bath.inverse_g0, found.pairing

    def values(sums, bins):
        w, ratio, inverse, g4 = (total / bins for total in sums)
        inside, m = evaluation.sample(w, ratio, inverse)
        g4 = function.whole(g4 / w)
        leading = two_particle.pairing(inside, m, projectors, blocks, g4)["lambda_d"]
        even = bethe_salpeter.folded(bethe_salpeter.symmetrised(g4, problem.group.momentum_permutations))
        chi0 = np.abs(problem.mesh.at_frequencies(inside.dyson(m)[0], n)) ** 2
        y = np.einsum("KwLv,Lv->Kw", even, phi) / chi0 - phi
        y, x_there = (f[1, on_mesh] for f in (y, x))
        return np.array([leading, growth(problem, y, x_there), *y])

    on_mesh = problem.mesh.n[problem.mesh.n < window]
    sums, bins = [a.sum(axis=0) for a in arrays], len(found.norm)
    mean = values(sums, bins)
    samples = np.array([values([s - a[b] for s, a in zip(sums, arrays)], bins - 1) for b in range(bins)])
    error = np.sqrt((bins - 1) * samples.var(axis=0))
    return (mean[0], error[0]), (mean[2:], error[2:]), (mean[1], error[1])


def ordered(problem, measurements, size, seed, x):
    """Return y [w] at (pi, 0) and growth of one iteration with ``size`` x, over ``size``, each with its error."""
    beta = problem.beta
    p = Parameters(model={"U": problem.U, "cluster": PLAQUETTE}, order={"kind": "superconducting", "symmetry": "d"},
                   dca={"temperatures": [1 / beta], "mu": problem.mu}, run={"workers": 1},
                   solver={"measurements": 20 * measurements, "measurements_first": measurements, "seed": seed})
    model = Model.of(p)
    model.coarse_graining.prepare(np.pi / beta)
    setup = Setup(p, model, Run(world(), SimpleNamespace(requested=lambda: None)), QuietObserver(), 1 / beta,
                  problem.mesh, 0, 0)
    setup.__dict__["field"] = 0.0
    state = first_state(setup)
    sigma = np.zeros((1, problem.cluster.size, 2, 2, len(problem.mesh.omega)), dtype=complex)
    sigma[0, :, 0, 0], sigma[0, :, 1, 1] = problem.sigma, -problem.sigma.conj()
    shape = model.spinor.form[:, None] / (1 + problem.mesh.omega**2) ** (DECAY / 2)
    sigma[0, :, 0, 1] = sigma[0, :, 1, 0] = -size * shape
    state = replace(state, sigma=np.array([sigma] * len(state.sigma)))
    bath = iteration.make_bath(setup, state)
    for _ in iteration.measure(setup, state, bath):
        pass
    solution = iteration.solve(setup, state, bath)
    part = -solution.sigma[:, 0, 1, 0, 1].real / size
    error = lambda samples: jackknife_groups.error(samples, solution.measured.weights)
    grown = growth(problem, part, x)
    return (part[0], error(part)), (grown[0], float(error(grown)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--U", type=float, default=6.0)
    parser.add_argument("--density", type=float, default=0.95)
    parser.add_argument("--T", type=float, nargs="*", default=[0.125])
    parser.add_argument("--measurements", type=int, default=30_000)
    parser.add_argument("--sizes", type=float, nargs="*", default=[0.15])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--by-g4", type=int, default=200_000, help="measurements of G4")
    parser.add_argument("--bath", type=int, default=60_000, help="measurements of each of the iterations for the bath")
    given = parser.parse_args()
    for T in given.T:
        problem = Problem(PLAQUETTE, given.U, 1 / T, given.density)
        problem.converge(4, 4000)
        problem.converge(3, given.bath)
        problem.gbar = problem.coarse.gbar(1j * problem.mesh.omega + problem.mu - problem.sigma)
        omega = problem.mesh.frequency(np.arange(WINDOW))
        form = (np.cos(problem.cluster.momenta[:, 0]) - np.cos(problem.cluster.momenta[:, 1])) / 2
        x = form[:, None] / (1 + omega**2) ** (DECAY / 2)
        leading, (y, y_error), grown = normal(problem, WINDOW, given.by_g4, x)
        sign, x = np.sign(form[1]), x[1, problem.mesh.n[problem.mesh.n < WINDOW]]
        show = lambda value, error: ", ".join(with_error(sign * value[i], error[i]) for i in range(SHOWN))
        print(f"T = {T:g}: lambda_d = {with_error(*leading)}; at the lowest frequencies and (pi, 0)\n"
              f"  x {', '.join(f'{sign * value:.4f}' for value in x[:SHOWN])}\n  y by G4 {show(y, y_error)}; growth "
              f"{with_error(*grown)}", flush=True)
        for i, size in enumerate(given.sizes):
            (found, found_error), (by_loop, error) = ordered(problem, given.measurements, size, given.seed + i, x)
            deviations = ((found[:len(y)] - y) / np.hypot(found_error[:len(y)], y_error))[:SHOWN]
            print(f"  y by the loop, {size:g} x: {show(found, found_error)}; deviations "
                  f"{', '.join(f'{d:+.1f}' for d in deviations)} errors; growth "
                  f"{with_error(by_loop, error)}", flush=True)


if __name__ == "__main__":
    main()

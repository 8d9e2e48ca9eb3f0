"""Which results of a chain decorrelate slowly: `python slow_modes.py [--problems 2x2-14 ...] [--sweeps 30000]`.

For the problems of errors.py: the standard deviation s of a result from one configuration; 2 tau in sweeps, so that N
sweeps give the error s sqrt(2 tau / N) if each is measured; and the factor by which error^2 would fall if the density,
or the number of vertices, were known without noise: 1/(1 - r^2) with the correlation r of long bins.
"""

from __future__ import annotations

import argparse

import numpy as np
from errors import PROBLEMS, WINDOW, model_sigma
from problems import Problem

from plaq.dca.lattice.symmetry import irrep_blocks, irrep_projectors
from plaq.dca.physics import two_particle
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.solver.distributed_g4 import pair_functions

APART = 10  # sweeps between single configurations
LENGTH = 160  # sweeps of a long bin


def deviations(problem, measured, window):
    """{label: [bin]} of first-order deviations of each bin, in the unit of the result."""
    norm = measured.norm
    mean = norm.mean()

    def of(values):
        average = values.mean(axis=0) / mean
        return (values - average * norm.reshape(-1, *[1] * (values.ndim - 1))) / mean

    density = of(measured.correlations["density"])
    spin = of(problem.cluster.to_momenta(measured.correlations["static_spin"], axis=1).real)
    values = {
        "sign": measured.sign - measured.sign.mean(),
        "⟨k⟩": (measured.order - measured.order.mean() / measured.sign.mean() * measured.sign) / measured.sign.mean(),
        "n": density, "D": of(measured.correlations["double_occupancy"]),
        "spin square": of(measured.correlations["spin"].sum(axis=1)),
        "χ_s(π,π)": spin[:, np.argmin(np.abs(np.array(problem.cluster.momenta) - np.pi).sum(axis=1))]}
    m, average = of(measured.m), measured.m.mean(axis=0) / mean
    for k in sorted(set(problem.group.representatives)):
        sigma = -m[:, k, 0] / (1 - problem.g0[k, 0] * average[k, 0]) ** 2
        x, y = np.array(problem.cluster.momenta[k]) / np.pi
        values[f"Re Σ({x:.2g},{y:.2g})"], values[f"Im Σ({x:.2g},{y:.2g})"] = sigma.real, sigma.imag
    if window:
        values["λ_d"] = eigenvalues(problem, measured, window)
    return values


def eigenvalues(problem, measured, window):
    """Deviations of lambda_d: N times the change when a bin is left out."""
    evaluation = Evaluation(problem.model, problem.mesh, problem.K, problem.mu, problem.g0)
    bath = measured.in_bath(problem.g0).bath
    function = pair_functions(window, problem.cluster.size, two_particle.pair_orbits(problem.group), 0)["pairing"]
    projectors, blocks = irrep_projectors(problem.cluster), irrep_blocks(problem.cluster)
    d_wave = {name: block for name, block in blocks.items() if "d_x2y2" in name.split("+")}
    arrays = measured.norm, bath.ratio, bath.inverse_g0, measured.pairing
    total, count = [a.sum(axis=0) for a in arrays], len(measured.norm)

    def value(sums, n):
        w, g, f, g4 = (x / n for x in sums)
        return two_particle.pairing(*evaluation.sample(w, g, f), projectors, d_wave, function.whole(g4 / w))["lambda_d"]

    whole = value(total, count)
    left_out = [value([t - a[b] for t, a in zip(total, arrays)], count - 1) for b in range(count)]
    return (count - 1) * (whole - np.array(left_out))


def table(name, sweeps):
    vectors, beta = PROBLEMS[name]
    problem = Problem(vectors, 6.0, beta, 0.95)
    problem.sigma = model_sigma(problem)
    problem.update()
    window = 0 if beta < 5 else WINDOW
    start = problem.run(measurements=64, bins=16, warm_up=200)
    run = lambda bins, of_bin, every: problem.run(order=start.order, measurements=bins * of_bin, bins=bins, warm_up=0,
                                                  window=window, every=every, start=start.states)
    single = deviations(problem, run(sweeps // (4 * APART), 1, APART).measured, window)
    r = run(sweeps // LENGTH, LENGTH, 1)
    long = deviations(problem, r.measured, window)
    print(f"\n{name}: <k> = {r.order:.0f}, {r.measurements:.0f} sweeps; 2 tau is known to "
          f"{100 * np.sqrt(2 * LENGTH / sweeps):.0f} %\n")
    print("| | s | 2τ, sweeps | n known | k known |\n|---|---|---|---|---|")
    for label, values in long.items():
        s = single[label].std()
        if s == 0:
            continue
        gain = ["" if label == known else f"{1 / (1 - np.corrcoef(values, long[known])[0, 1] ** 2):.1f}"
                for known in ("n", "⟨k⟩")]
        print(f"| {label} | {s:.2g} | {LENGTH * values.var() / s**2:.1f} | {' | '.join(gain)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument("--sweeps", type=int, default=30000)
    given = parser.parse_args()
    for name in given.problems:
        table(name, given.sweeps)


if __name__ == "__main__":
    main()

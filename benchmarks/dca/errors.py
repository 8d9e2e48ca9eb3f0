"""(Error)^2 x CPU seconds on fixed baths, the measure of a Monte Carlo code: `python errors.py [--problems 2x2-14 ...]
[--seconds 60] [--json FILE]`.

Six problems at U = 6, n = 0.95: 2x2 at beta = 2, 5, 10, 14, and 8A and 16A. Their bath is that of a self-energy in
closed form (`model_sigma`), so that two versions of plaq, or plaq and another code, measure the same. The errors are
those of the jackknife over 64 bins of contiguous measurements, with the interval between measurements that plaq
chooses; the relative error of (error)^2 is 18 %.
"""

from __future__ import annotations

import argparse
import json
from types import SimpleNamespace

import numpy as np
from problems import Problem

from plaq.data import statistics
from plaq.dca.physics import observables
from plaq.dca.physics.equations import equations_of
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.solver import choices

BINS = 64
WINDOW = 16  # positive frequencies of G4
PROBLEMS = {
    "2x2-2": ([[2, 0], [0, 2]], 2.0), "2x2-5": ([[2, 0], [0, 2]], 5.0), "2x2-10": ([[2, 0], [0, 2]], 10.0),
    "2x2-14": ([[2, 0], [0, 2]], 1 / 0.07), "8A-5": ([[2, 2], [2, -2]], 5.0), "16A-5": ([[4, 0], [0, 4]], 5.0),
}


def measure(name, seconds):
    """{quantity: (mean, error)} and CPU seconds."""
    vectors, beta = PROBLEMS[name]
    problem = Problem(vectors, 6.0, beta, 0.95)
    problem.sigma = model_sigma(problem)
    problem.update()
    order = problem.run(measurements=64, bins=16, warm_up=100).order
    window = 0 if beta < 5 else WINDOW
    first = problem.run(order=order, measurements=64, bins=16, warm_up=100, window=window)
    every = choose_interval(problem, order, window, first)
    trial = problem.run(order=order, measurements=256, bins=16, warm_up=0, window=window, every=every,
                        start=first.states)
    per_bin = max(4, int(seconds / BINS / (trial.seconds / trial.measurements)))
    r = problem.run(order=order, measurements=BINS * per_bin, bins=BINS, warm_up=0, window=window, every=every,
                    start=first.states)
    evaluation = Evaluation(problem.model, problem.mesh, problem.K, problem.mu, problem.g0)
    found = observables.estimates(evaluation, r.measured, window)
    return quantities(problem, found), r, every


def model_sigma(problem):
    """U n/2 + a/(iw + i Gamma_K - e_K), a = U^2 n/2 (1 - n/2) [K, w]: one pole for each K, with the exact tail. e and
    Gamma are polynomials of f = (cos Kx + cos Ky)/2 that come near the 2x2 cluster's self-energy at T = 0.07."""
    n, U = problem.density, problem.U
    f = np.cos(np.array(problem.cluster.momenta)).mean(axis=1)[:, None]
    energy = 4.14 + 8.7 * f - 5.54 * f**2
    width = 2.54 - 1.48 * f - 0.92 * f**2
    return U * n / 2 + U**2 * n / 2 * (1 - n / 2) / (1j * (problem.mesh.omega + width) - energy)


def choose_interval(problem, order, window, first):
    """plaq's own choice, from the autocorrelation that a short run shows."""
    tau = observables.sweeps_between_independent(first.measured, equations_of(problem.model).series_columns, 1)
    costs = choices.costs(order, problem.cluster.size, len(problem.mesh.omega), window)
    return choices.measure_every(SimpleNamespace(measure_every="auto"), tau, *costs)


def quantities(problem, found):
    """{label: (mean, error)} of what users quote; Sigma at the lowest frequency, K up to symmetry."""
    names = [name for name in ("sign", "density", "double_occupancy", "energy", "lambda_d") if name in found]
    values = {name: (float(found[name].mean), float(error(found[name]))) for name in names}
    sigma, sigma_error = found["Sigma"], error(found["Sigma"])
    for k in sorted(set(problem.group.representatives)):
        x, y = np.array(problem.cluster.momenta[k]) / np.pi
        for part in ("real", "imag"):
            values[f"{part} Sigma ({x:.2g},{y:.2g})"] = tuple(getattr(a[k, 0], part) for a in (sigma.mean, sigma_error))
    spin = found["spin_susceptibility"]
    values["chi_s (0,0)"] = (float(spin.mean[0]), float(error(spin)[0]))
    return values


def error(estimate):
    """By jackknife, also where the bins are too short for plaq to quote it."""
    values = estimate.jackknife
    return statistics.by_parts(lambda part: np.sqrt((len(part) - 1) * part.var(axis=0)), values)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="*", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument("--seconds", type=float, default=60, help="CPU seconds of each problem")
    parser.add_argument("--json", help="a file for the figures")
    given = parser.parse_args()
    everything = {}
    for name in given.problems:
        values, r, every = measure(name, given.seconds)
        print(f"{name}: <k> = {r.order:.0f}, {r.measurements:.0f} measurements, {every} sweeps apart, "
              f"{r.seconds:.1f} s CPU, {100 * r.walking / r.seconds:.0f} % of it walking", flush=True)
        for label, (mean, error) in values.items():
            print(f"  {label:<20}{mean:12.6f} +- {error:.6f}   error^2 x CPU {error**2 * r.seconds:.3g} s", flush=True)
        everything[name] = {"seconds": r.seconds, "measurements": float(r.measurements), "every": every,
                            "values": values}
    if given.json:
        with open(given.json, "w") as file:
            json.dump(everything, file, indent=1)


if __name__ == "__main__":
    main()

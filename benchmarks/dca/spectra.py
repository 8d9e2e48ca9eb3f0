"""Spectra by every method beside the exact ones: isolated clusters with the bins of real runs, and mock spectra.

    python benchmarks/dca/spectra.py [--ana-cont]

A row for each case and method: deviation of the distance between the parts below and above 0 (of their mean energies),
largest deviation of a part's weight, of the whole weight 1, and chi2 over the number of data. With --ana-cont also
ana-cont's maximum entropy with the same covariance (pip install cython setuptools; pip install --no-build-isolation
ana-cont). Processor time per spectrum, without error bars.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2] / "tests"), str(Path(__file__).parents[2] / "tests" / "dca")]

import isolated  # noqa: E402
import mock_spectra  # noqa: E402

from plaq.dca.continuation import maxent, pade, stochastic  # noqa: E402
from plaq.dca.continuation.data import whitened  # noqa: E402
from plaq.dca.continuation.kernel import Grid  # noqa: E402
from plaq.dca.continuation.one_function import Matsubara  # noqa: E402

CLUSTERS = {
    "2 sites, U = 6, n = 1, T = 0.2": isolated.Isolated(isolated.DIMER, 6.0, 5.0, 3.0, measurements=16384),
    "4 sites, U = 6, n = 1, T = 0.2": isolated.Isolated(isolated.PLAQUETTE, 6.0, 5.0, 3.0, measurements=16384),
    "4 sites, U = 6, n = 1, T = 0.1": isolated.Isolated(isolated.PLAQUETTE, 6.0, 10.0, 3.0, measurements=16384),
    "4 sites, U = 4, n = 0.9, T = 0.2": isolated.at_filling(isolated.PLAQUETTE, 4.0, 5.0, 0.9, measurements=16384),
    "4 sites, U = 8, n = 0.9, T = 0.2": isolated.at_filling(isolated.PLAQUETTE, 8.0, 5.0, 0.9, measurements=16384),
}


def cluster_cases():
    """(name, grid, function, parts), parts {-1, 1: (weight, mean energy)} of the exact spectrum."""
    for name, case in CLUSTERS.items():
        G, grid = case.measure()["G"], Grid.up_to(case.mesh.wmax)
        places, weights = case.exact.poles()
        for k, *_ in case.group.momentum_orbits:
            function = Matsubara(case.mesh.omega, G.mean[k], G.error[k], G.jackknife[:, k], 1.0, 0.0, 9.0)
            parts = {side: (weights[k, side * places > 0].sum(), np.average(places[side * places > 0],
                                                                          weights=weights[k, side * places > 0]))
                     for side in (-1, 1)}
            yield f"{name}, K = {case.cluster.names[k]}", grid, function, parts


def mock_cases():
    for name, truth in mock_spectra.CASES.items():
        for error in (1e-3, 1e-4):
            parts = {side: mock_spectra.moments(mock_spectra.GRID, truth, side) for side in (-1, 1)}
            yield f"{name}, noise {error:g}", mock_spectra.GRID, mock_spectra.noisy(truth, error), parts


def methods(grid, function, data, with_ana_cont):
    """{name: spectrum function}."""
    flat, gaussian = grid.flat(), grid.gaussian(function.mean, function.variance)
    by_entropy = lambda model, rule: maxent.MaxEnt(grid, data.kernel, model).scan(data.values).chosen(rule)
    found = {f"maxent, {rule}": lambda rule=rule: by_entropy(flat, rule) for rule in maxent.CHOICES}
    found["maxent, gaussian"] = lambda: by_entropy(gaussian, "chi2kink")
    found["stochastic"] = lambda: stochastic.stochastic_spectra(grid, data, [data.values])[0]
    found["Padé"] = lambda: pade.pade_spectrum(grid, data, function.omega, function.values, function.errors, 1.0)[0]
    if with_ana_cont:
        found["ana-cont, chi2kink"] = lambda: ana_cont(grid, function)
    return found


def ana_cont(grid, function):
    """Maximum entropy of ana-cont with the covariance of the samples, which has to be regular."""
    from ana_cont.continuation import AnalyticContinuationProblem

    error = np.hypot(function.errors.real, function.errors.imag) / np.sqrt(2)
    problem = AnalyticContinuationProblem(im_axis=function.omega, re_axis=grid.omega, im_data=function.values,
                                          kernel_mode="freq_fermionic")
    solution, _ = problem.solve(method="maxent_svd", model=grid.flat(), stdev=error, optimizer="newton",
                                alpha_determination="chi2kink", interactive=False, verbose=False)
    return solution.A_opt


def compare(cases, with_ana_cont, parts_of):
    worst = {}
    print("| case | method | gap | weight | χ²/data | ms |\n|---|---|---|---|---|---|")
    for name, grid, function, parts in cases:
        data = whitened(grid, function.omega, function.values, function.errors, function.samples, function.norm)
        for method, solve in methods(grid, function, data, with_ana_cont).items():
            start = time.process_time()
            try:
                spectrum = solve()
            except pade.NoFunction:
                print(f"| {name} | {method} | none | | | |")
                continue
            spent = time.process_time() - start
            found = {side: parts_of(grid, spectrum, side) for side in (-1, 1)}
            distance = lambda of: of[1][1] - of[-1][1]
            gap = distance(found) / distance(parts) - 1
            weight = max(abs(found[side][0] - parts[side][0]) for side in (-1, 1))
            worst.setdefault(method, []).append((abs(gap), weight, data.chi2(spectrum) / data.size))
            print(f"| {name} | {method} | {100 * gap:+.1f} % | {100 * weight:.2f} % | {data.chi2(spectrum):.1f}"
                  f"/{data.size} | {1e3 * spent:.0f} |", flush=True)
    print("\n| method | cases | gap within 5 % | weight within 2 % | χ² fits |\n|---|---|---|---|---|")
    for method, rows in worst.items():
        print(f"| {method} | {len(rows)} | {sum(gap < 0.05 for gap, _, _ in rows)} | "
              f"{sum(weight < 0.02 for _, weight, _ in rows)} | {sum(ratio < 2.3 for *_, ratio in rows)} |")
    print()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ana-cont", action="store_true")
    arguments = parser.parse_args()
    compare(cluster_cases(), arguments.ana_cont, mock_spectra.moments)
    compare(mock_cases(), arguments.ana_cont, mock_spectra.moments)

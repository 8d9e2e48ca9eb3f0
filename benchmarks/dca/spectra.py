"""Spectra by every method beside the exact ones: isolated clusters with the bins of real runs, and mock spectra.

    python benchmarks/dca/spectra.py

A row for each case and method, of the worst cluster momentum: deviation of the distance between the parts below and
above 0 (of their mean energies), of a part's weight, of the whole weight 1, and the largest chi2 over the number of
data. Milliseconds are processor time per spectrum, without error bars.
"""

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
from plaq.dca.continuation.one_function import Matsubara, is_fit  # noqa: E402

CLUSTERS = {
    "2 sites, U = 6, n = 1, T = 0.2": isolated.Isolated(isolated.DIMER, 6.0, 5.0, 3.0, measurements=16384),
    "4 sites, U = 6, n = 1, T = 0.2": isolated.Isolated(isolated.PLAQUETTE, 6.0, 5.0, 3.0, measurements=16384),
    "4 sites, U = 6, n = 1, T = 0.1": isolated.Isolated(isolated.PLAQUETTE, 6.0, 10.0, 3.0, measurements=16384),
    "4 sites, U = 4, n = 0.9, T = 0.2": isolated.at_filling(isolated.PLAQUETTE, 4.0, 5.0, 0.9, measurements=16384),
    "4 sites, U = 8, n = 0.9, T = 0.2": isolated.at_filling(isolated.PLAQUETTE, 8.0, 5.0, 0.9, measurements=16384),
}
# No setting was chosen by these.
HELD_OUT = {
    "2 sites, U = 4, n = 0.8, T = 0.25": isolated.at_filling(isolated.DIMER, 4.0, 4.0, 0.8, measurements=16384),
    "2 sites, U = 8, n = 1, T = 0.15": isolated.Isolated(isolated.DIMER, 8.0, 20 / 3, 4.0, measurements=16384),
    "4 sites, U = 6, n = 0.85, T = 0.25": isolated.at_filling(isolated.PLAQUETTE, 6.0, 4.0, 0.85, measurements=16384),
    "4 sites, U = 5, n = 1, T = 0.3": isolated.Isolated(isolated.PLAQUETTE, 5.0, 10 / 3, 2.5, measurements=16384),
    "4 sites, U = 3, n = 0.8, T = 0.2": isolated.at_filling(isolated.PLAQUETTE, 3.0, 5.0, 0.8, measurements=16384),
    "4 sites, U = 8, n = 0.95, T = 0.3": isolated.at_filling(isolated.PLAQUETTE, 8.0, 10 / 3, 0.95, measurements=16384),
}


def cluster_cases(clusters):
    """(name, grid, function, parts), parts {-1, 1: (weight, mean energy)} of the exact spectrum."""
    for name, case in clusters.items():
        found, grid = case.measure(), Grid.up_to(case.mesh.wmax)
        G, density = found["G"], found["density"]
        places, weights = case.exact.poles()
        for k, *_ in case.group.momentum_orbits:
            center = case.group.cluster.energies[k] + case.U * density.mean / 2 - case.mu
            variance = case.U**2 * density.mean / 2 * (1 - density.mean / 2)
            function = Matsubara(case.mesh.omega, G.mean[k], G.error[k], G.jackknife[:, k], 1.0, center, variance)
            parts = {side: (weights[k, side * places > 0].sum(), np.average(places[side * places > 0],
                                                                          weights=weights[k, side * places > 0]))
                     for side in (-1, 1)}
            yield name, grid, function, parts


def mock_cases():
    for name, truth in mock_spectra.CASES.items():
        for error in (1e-3, 1e-4):
            parts = {side: mock_spectra.moments(mock_spectra.GRID, truth, side) for side in (-1, 1)}
            yield f"{name}, noise {error:g}", mock_spectra.GRID, mock_spectra.noisy(truth, error), parts


def methods(grid, function, data):
    """{name: function that returns a spectrum}."""
    flat, gaussian = grid.flat(), grid.gaussian(function.mean, function.variance)
    by_entropy = lambda model, rule: maxent.MaxEnt(grid, data.kernel, model).scan(data.values).chosen(rule)
    found = {f"maxent, {rule}": lambda rule=rule: by_entropy(flat, rule) for rule in maxent.CHOICES}
    found["maxent, gaussian"] = lambda: by_entropy(gaussian, "chi2kink")
    found["stochastic"] = lambda: stochastic.stochastic_spectra(grid, data, [data.values])[0]
    found["pade"] = lambda: pade.pade_spectrum(grid, data, function.omega, function.values, function.errors, 1.0)[0]
    return found


def compare(name, grid, function, parts):
    """Yield (case, method, gap, weight, chi2, data, milliseconds) of every method."""
    data = whitened(grid, function.numbers(grid), function.norm, function.known(grid))
    distance = lambda of: of[1][1] - of[-1][1]
    for method, solve in methods(grid, function, data).items():
        start = time.process_time()
        spectrum = solve()
        spent = 1e3 * (time.process_time() - start)
        found = {side: mock_spectra.moments(grid, spectrum, side) for side in (-1, 1)}
        weight = max(abs(found[side][0] - parts[side][0]) for side in (-1, 1))
        yield name, method, distance(found) / distance(parts) - 1, weight, data.chi2(spectrum), data.size, spent


def main():
    show([*cluster_cases(CLUSTERS), *mock_cases()])
    print("\nHeld out: no setting was chosen by these.\n")
    show(cluster_cases(HELD_OUT))


def show(cases):
    rows = [row for case in cases for row in compare(*case)]
    print("| case | method | gap | weight | χ²/data |\n|---|---|---|---|---|")
    for name, method in dict.fromkeys(row[:2] for row in rows):
        of = [row for row in rows if row[:2] == (name, method)]
        if method in ("maxent, chi2kink", "stochastic", "pade"):
            print(f"| {name} | {method} | {100 * max((row[2] for row in of), key=abs):+.1f} % | "
                  f"{100 * max(row[3] for row in of):.2f} % | {max(row[4] / row[5] for row in of):.1f} |")
    print("\n| method | spectra | gap within 5 % | weight within 2 % | fits | ms |\n|---|---|---|---|---|---|")
    for method in dict.fromkeys(row[1] for row in rows):
        of = [row for row in rows if row[1] == method]
        count = lambda good: sum(map(good, of))
        print(f"| {method} | {len(of)} | {count(lambda row: abs(row[2]) < 0.05)} | "
              f"{count(lambda row: row[3] < 0.02)} | {count(lambda row: is_fit(row[4], row[5]))} | "
              f"{np.median([row[6] for row in of]):.0f} |")


if __name__ == "__main__":
    main()

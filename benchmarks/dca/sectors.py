"""Times in which chains forget their total spin and their number of electrons, with worms and without.

    python sectors.py [measurements]

Isolated clusters that are slow. For each problem, of the squares of the cluster's S^z and N: the independent values
that a CPU second of walking gives, 1/(2 tau) over the seconds of a sweep, tau from the series of all chains. Without
worms there are insertions, removals and flips of whole sites; with them chains walk as in `plaq dca`. 0 where a
chain's series is too short for a tau; "-" where all values are equal. Then the estimates of 16 chains, as they are
reported ((?) is no error), and the exact values.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

from plaq.dca.physics import observables
from plaq.dca.physics.exact import exact_point

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from isolated import OPEN_DIMER, OPEN_PLAQUETTE, PLAQUETTE, RING, at_filling  # noqa: E402

#           cluster         U    beta  density
PROBLEMS = [(OPEN_DIMER, 6.0, 10.0, 1.0), (OPEN_DIMER, 6.0, 10.0, 0.8), (OPEN_DIMER, 8.0, 5.0, 1.2),
            (RING, 6.0, 10.0, 1.0),
            (OPEN_PLAQUETTE, 4.0, 10.0, 1.0), (OPEN_PLAQUETTE, 6.0, 10.0, 0.9), (PLAQUETTE, 6.0, 5.0, 1.0),
            (PLAQUETTE, 6.0, 10.0, 1.0), (PLAQUETTE, 6.0, 10.0, 0.9), (PLAQUETTE, 8.0, 10.0, 0.8)]
NEVER = 2**31 - 1
WATCHED = {"spin_square": "S²", "charge_square": "N²"}


def walked(case, worms):
    """{observable: (independent values per second, estimate)} of one run."""
    if not worms:
        case.problem.sweeps_between_worms, case.problem.sweeps_between_charge_worms = NEVER, 0
    chains = case.fresh_chains()
    case.run(chains, workers=1)
    measured = case.collected(chains)
    seconds = measured.walking_seconds / case.measurements
    times, found = observables.autocorrelation(measured), observables.estimates(case.evaluation, measured)
    return {name: (1 / (2 * times[name] * seconds) if name in times else None, found[name]) for name in WATCHED}


def main():
    measurements = int(sys.argv[1]) if len(sys.argv) > 1 else 32768
    rows = [f"{label} per s, {walk}" for label in WATCHED.values() for walk in ("without", "with")]
    rows += [f"⟨{label}⟩/N_c, {walk}" for label in WATCHED.values() for walk in ("without", "with", "exact")]
    print(f"| cluster, U, β, n | {' | '.join(rows)} |\n{'|---' * (len(rows) + 1)}|")
    for problem in PROBLEMS:
        runs = []
        for worms in (False, True):
            case = at_filling(*problem, measurements=measurements, chains=16, bins=64, warm_up=200, seed=7)
            runs.append(walked(case, worms))
        parameters = SimpleNamespace(unit="t", dca=SimpleNamespace(mu=case.mu, temperatures=[1 / case.beta]))
        exact = exact_point(parameters, case.model, 0)
        cells = ["-" if run[name][0] is None else f"{run[name][0]:.3g}" for name in WATCHED for run in runs]
        for name in WATCHED:
            cells += [str(run[name][1]) for run in runs] + [f"{float(exact[name].mean):.4g}"]
        geometry, U, beta, density = problem
        print(f"| {geometry.name}, {U:g}, {beta:g}, {density:g} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

"""What the pages of CT-INT say: sign by alpha, cost of a sweep, agreement with CT-AUX.

`python ctint.py [measurements]`

sign        of two orbitals on two sites (U = 4, J = 1 with spin flip and pair hopping, T = 0.2), by the alpha of
            exchange terms (docs/ctint.md).
cost        seconds of a sweep and of a measurement of one band by the expansion order, beside the model of
            docs/cost.md. One worker; stop other work first.
agreement   the plaquette in its bath at U = 4, n = 0.9 by both solvers: deviations in their joint errors.
"""

import sys

import numpy as np

from plaq import dca
from plaq.dca.solver import choices, ctint

ALPHAS = 0.01, 0.05, 0.2
PLAQUETTE = [[2, 0], [0, 2]]
NUMBERS = "density", "double_occupancy", "energy_kinetic", "energy"


def run(measurements, kind, model, seed=1, **sections):
    return dca.run(dca.Parameters(model=model, solver={"kind": kind, "measurements": measurements, "seed": seed},
                                  two_particle={"channels": []}, run={"workers": 1}, **sections)).points[0]


def signs(measurements):
    print("| α | sign |\n|---|---|")
    dimer = {"U": 4.0, "J": 1.0, "kanamori": True, "cluster": [[2, 0], [0, 1]], "orbitals": ["a", "b"],
             "hopping": {"1,0": [[-0.5, 0.0], [0.0, -0.5]]}}
    usual = ctint.EXCHANGE_ALPHA
    for alpha in ALPHAS:
        ctint.EXCHANGE_ALPHA = alpha
        point = run(measurements, "ctint", dimer, dca={"temperatures": [0.2], "mu": 3.5, "isolated": True})
        print(f"| {alpha:g} | {point['sign']} |", flush=True)
    ctint.EXCHANGE_ALPHA = usual


def costs(measurements):
    print("\n| T | ⟨k⟩ | µs a sweep | model | µs a measurement | model |\n|---|---|---|---|---|---|")
    for T in (1.0, 0.5, 0.25, 0.125):
        point = run(measurements, "ctint", {"U": 4.0, "cluster": PLAQUETTE},
                    dca={"temperatures": [T], "mu": 1.2, "isolated": True})
        order, record = float(point["expansion_order"].mean), point.history[-1]
        sweeps = measurements * record["sweeps_per_measurement"] + 16 * 200
        model = choices.expansion_costs(order, 4, point["G"].axes[-1].size)
        print(f"| {T:g} | {order:.1f} | {1e6 * point.seconds['walking'] / sweeps:.1f} | {1e6 * model[0]:.1f} | "
              f"{1e6 * point.seconds['measuring'] / measurements:.1f} | {1e6 * model[1]:.1f} |", flush=True)


def agreement(measurements):
    print("\n| number | CT-AUX | CT-INT | deviation / error |\n|---|---|---|---|")
    model, loop = {"U": 4.0, "cluster": PLAQUETTE}, {"temperatures": [0.4], "density": 0.9}
    aux, expansion = (run(measurements, kind, model, seed, dca=loop) for kind, seed in (("ctaux", 1), ("ctint", 2)))
    for name in NUMBERS[1:]:
        a, b = aux[name], expansion[name]
        print(f"| {name} | {a} | {b} | {float(a.mean - b.mean) / np.hypot(a.error, b.error):+.1f} |")
    a, b = aux["Sigma"], expansion["Sigma"]
    other = b.mean.reshape(a.mean.shape), b.error.reshape(a.error.shape)
    ratios = np.concatenate([(part(a.mean) - part(other[0])) / np.hypot(part(a.error), part(other[1]))
                             for part in (np.real, np.imag)])[..., :4]
    print(f"| Σ(K, iω), four frequencies: root mean square | | | {np.sqrt(np.mean(ratios**2)):.2f} |")


def main():
    measurements = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    signs(measurements)
    costs(measurements)
    agreement(measurements)


if __name__ == "__main__":
    main()

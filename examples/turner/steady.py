"""Steady state of a discharge from below and from above: `python examples/turner/steady.py`, half an hour of one core.

A run with a quarter of the particles, from a smooth profile, gives the shape of all distributions. Its particles, of
four times with the same phase of the voltage, are drawn again with the weights of the case, 7 % fewer and 7 % more, and
both runs continue until their densities meet. Repeat the command to resume.
"""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path

import numpy as np
from scipy.optimize import curve_fit

from plaq import pic

HERE = Path(__file__).parent
SPECIES = ("electrons", "ions")
SETTLE, APART = 192, 32  # periods of the first run, and between its times that are united
WINDOW = 32  # periods of a mean


def run(tables: dict, folder: Path, periods: int, **sections) -> pic.Results:
    """Run a case with other sections for so many periods, with a mean of the ions over each."""
    case = tables | sections
    period = case["output"]["history"] * case["time"]["step"]
    mean = {"quantity": "density", "species": "ions", "length": period, "every": 8}
    case |= {"time": case["time"] | {"end": periods * period}, "mean": {"ions": mean}, "run": {"workers": 1}}
    return pic.run(pic.Parameters.from_tables(case, str(HERE / "case")), folder)


def start(tables: dict, folder: Path, middle: float) -> pic.Series:
    """Run a quarter of the particles from a profile with this density in the middle, in 1/m³."""
    profile = f"{middle}*max(0.05, cos(pi*(x/{tables['grid']['length'][0]} - 0.5)))"
    species = {name: one | {"density": profile, "per_cell": one["per_cell"] // 4}
               for name, one in tables["species"].items()}
    every = APART * tables["output"]["history"]
    run(tables, folder, SETTLE, species=species,
        output=tables["output"] | {"every": every, "particles": list(SPECIES), "fields": ["phi"]})
    return pic.Series(folder)


def draw(tables: dict, series: pic.Series, folder: Path, factor: float) -> dict:
    """Write particles of the case's weight, so many times those of the series, and return the species that have them.

    Particles in the order of x are drawn at equal distances of the sum of weights, so that densities have less noise
    than those of independent draws. Copies of a particle are spread over a cell.
    """
    rng, out = np.random.default_rng(1), {}
    units = pic.Units("SI", tables["units"]["density"])
    length, cells = tables["grid"]["length"][0] / units.in_si("length"), tables["grid"]["cells"][0]
    for name in SPECIES:
        found = [series.particles(name, step) for step in series.steps[-4:]]
        x, u, w = (np.concatenate([one[key] for one in found]) for key in "xuw")
        weight = length / cells / tables["species"][name]["per_cell"]
        order = np.argsort(x[:, 0])
        up_to = np.floor(np.cumsum(w[order]) * factor / len(found) / weight + rng.uniform()).astype(int)
        copies = np.diff(up_to, prepend=0)
        chosen = np.repeat(order, copies)
        spread = (np.repeat(copies, copies) > 1) * rng.uniform(-0.5, 0.5, len(chosen)) * length / cells
        file = folder.with_name(f"{folder.name}_{name}.h5")
        pic.write_particles(file, name, np.clip(x[chosen, 0] + spread, 0, length * (1 - 1e-12)), u[chosen],
                            np.full(len(chosen), weight), mass=tables["species"][name]["mass"])
        given = tables["species"][name]
        out[name] = {"charge": given["charge"], "mass": given["mass"], "file": str(file.resolve())}
    return out


def in_the_middle(results: pic.Results, density: float) -> np.ndarray:
    """Return the density of the ions in the middle, 1/m³, over windows one after the other."""
    values = density * results["ions"].values
    middle = values.shape[1] // 2
    values = values[:, middle - 2:middle + 3].mean(axis=1)
    return values[:len(values) // WINDOW * WINDOW].reshape(-1, WINDOW).mean(axis=1)


def limits(below: np.ndarray, above: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Fit limit + amplitude exp(-t/τ) to both, with one τ. Return both limits, their errors, and τ in periods."""
    times = WINDOW * (np.arange(len(below)) + 0.5)

    def model(_: np.ndarray, low: float, high: float, a: float, b: float, tau: float) -> np.ndarray:
        decay = np.exp(-times / tau)
        return np.concatenate([low + a * decay, high + b * decay])

    guess = (below[-1], above[-1], below[0] - below[-1], above[0] - above[-1], 150.0)
    found, covariance = curve_fit(model, np.zeros(2 * len(times)), np.concatenate([below, above]), guess)
    return found[:2], np.sqrt(np.diag(covariance)[:2]), found[4]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--case", type=Path, default=HERE / "case2.toml")
    arguments.add_argument("--middle", type=float, default=7.9e14, help="density of that profile, 1/m³")
    arguments.add_argument("--periods", type=int, default=384, help="of both runs")
    arguments.add_argument("--out", type=Path, default=Path("turner2_steady"))
    given = arguments.parse_args()
    given.out.mkdir(exist_ok=True)
    tables = tomllib.loads(given.case.read_text())
    series = start(tables, given.out / "start", given.middle)
    means = []
    for name, factor in (("below", 0.93), ("above", 1.07)):
        folder = given.out / name
        species = draw(tables, series, folder, factor)
        means.append(in_the_middle(run(tables, folder, given.periods, species=species), tables["units"]["density"]))
        print(f"{name}: means of {WINDOW} periods in the middle, 10¹⁴/m³: "
              + " ".join(f"{1e-14 * one:.3f}" for one in means[-1]), flush=True)
    found, errors, tau = limits(*means)
    print(f"limits {1e-14 * found[0]:.3f} ± {1e-14 * errors[0]:.3f} from below, {1e-14 * found[1]:.3f} ± "
          f"{1e-14 * errors[1]:.3f} from above, with {tau:.0f} periods of relaxation")


if __name__ == "__main__":
    main()

"""Do the error bars of `plaq dca` hold? Isolated clusters with default settings against exact diagonalisation.

    python coverage.py FOLDER [--short] [--part 1/4]

does the cases that FOLDER has no file of, one after the other on one core, and prints the table of all that are there.
It may be stopped and started again; several at once take parts. All cases take some hundred hours, --short a few
minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from plaq import dca
from plaq.dca.lattice.symmetry import irrep_blocks, irrep_projectors
from plaq.dca.physics import checks, two_particle
from plaq.dca.physics.exact import exact_point
from plaq.dca.physics.point import Point
from plaq.dca.solver import choices
from plaq.files.atomic import write_atomically

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from isolated import OPEN_DIMER, OPEN_PLAQUETTE, PLAQUETTE, at_filling  # noqa: E402

GEOMETRIES = {geometry.name: geometry for geometry in (OPEN_DIMER, OPEN_PLAQUETTE, PLAQUETTE)}
CHANNELS, FREQUENCIES = ["pp", "magnetic", "charge"], 4
ROUNDING = 1e-7  # of measurements in single precision: a smaller error is none
FAR = 5.0  # standard errors


@dataclass(frozen=True)
class Case:
    """A cluster with this exact density, measured so often."""

    geometry: str
    U: float
    beta: float
    density: float
    measurements: int
    seed: int

    @property
    def name(self) -> str:
        return "_".join(str(value).replace(" ", "-") for value in asdict(self).values())

    @property
    def group(self) -> str:
        """The row of the table that it counts in."""
        filling = "half filled" if self.density == 1 else "doped"
        return f"{self.geometry}, β = {self.beta:g}, {filling}, {self.measurements} measurements"

    @property
    def transfer(self) -> list[float]:
        return [1.0, 0.0] if GEOMETRIES[self.geometry].cluster.size == 2 else [1.0, 1.0]

    def parameters(self) -> dca.Parameters:
        """All that the case does not name is left at its default, but the size of two-particle functions."""
        geometry = GEOMETRIES[self.geometry]
        hopping = {f"{x},{y}": amplitude for (x, y), amplitude in geometry.lattice.hopping.items()}
        return dca.Parameters(
            model={"U": self.U, "hopping": hopping, "cluster": geometry.vectors},
            dca={"temperatures": [1 / self.beta], "mu": self.mu, "isolated": True},
            solver={"measurements": self.measurements, "seed": self.seed}, run={"workers": 1},
            two_particle={"channels": CHANNELS, "frequencies": FREQUENCIES, "transfers": [[0, 0], self.transfer]})

    @property
    def mu(self) -> float:
        return problem(self.geometry, self.U, self.beta, self.density).mu


@lru_cache(maxsize=1)
def problem(geometry: str, U: float, beta: float, density: float):
    """Return the problem of the tests: the cluster, its frequencies and its exact solution."""
    return at_filling(GEOMETRIES[geometry], U, beta, density)


@lru_cache(maxsize=1)
def exact(geometry: str, U: float, beta: float, density: float) -> dict[str, np.ndarray]:
    """Everything that is known of a case, by the name that the solver gives it."""
    case = Case(geometry, U, beta, density, 8192, 1)
    parameters, isolated = case.parameters(), problem(geometry, U, beta, density)
    cluster, evaluation = isolated.cluster, isolated.evaluation
    q = next(i for i, K in enumerate(cluster.momenta) if np.allclose(np.abs(K), np.pi * np.array(case.transfer)))
    channels = [(kind, i, 0) for kind in CHANNELS for i in (0, q)]
    point = exact_point(parameters, isolated.model, 0, channels, FREQUENCIES)
    # that is of the expansion
    found = {name: estimate.mean for name, estimate in point.observables.items() if name != "sign"}
    order = choices.expansion_constant(parameters, cluster, beta) + beta * U * cluster.size * (
        found["density"] / 2 - found["double_occupancy"])
    found |= {"order_identity": np.array(0.0), "expansion_order": order}
    m = (evaluation.g0 - found["G"]) / evaluation.g0**2
    pairs = two_particle.pairing(evaluation, m, irrep_projectors(cluster), irrep_blocks(cluster), found["G4_pp"])
    for kind, i, nu in channels[1:]:
        tag, blocks = f"{kind}_q{i}_m{nu}", irrep_blocks(cluster, i)
        terms = two_particle.channel_terms(evaluation, m, kind, i, nu, FREQUENCIES, found[f"G4_{tag}"])
        pairs |= two_particle.channel(blocks, two_particle.modes_of_all_data(blocks, *terms), tag, *terms)
    return found | {name: np.array(value) for name, value in pairs.items() if name.startswith("lambda_")}


def compared(point: Point, known: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Return for every quantity its counts: numbers, |z| < 1, |z| > FAR, missing error bars; and the sum of z^2.

    Leading eigenvalues are `lambda_...`; lists of them have no order of complex pairs, eigenvectors no phase.
    """
    found = {}
    for name in known:
        if name not in point or name.startswith("eigenv"):
            continue
        mean, error, target = (np.atleast_1d(x) for x in (point[name].mean, point[name].error, known[name]))
        if np.iscomplexobj(mean):
            mean, error, target = (np.concatenate([x.real.ravel(), x.imag.ravel()]) for x in (mean, error, target))
        unsupported, noisy = ~np.isfinite(error), np.isfinite(error) & (error > ROUNDING)
        z = np.abs((mean - target)[noisy] / error[noisy])
        found[name] = {"numbers": z.size, "squares": float((z**2).sum()), "held": int((z < 1).sum()),
                       "far": int((z > FAR).sum()), "worst": float(z.max(initial=0.0)),
                       "unsupported": int(unsupported.sum())}
    return {name: q for name, q in found.items() if q["numbers"] or q["unsupported"]}


def carry_out(case: Case) -> dict[str, Any]:
    """Return the content of a case's file."""
    point = dca.run(case.parameters()).points[0]
    known = exact(case.geometry, case.U, case.beta, case.density)
    return {"case": asdict(case), "doubts": checks.warnings(point), "quantities": compared(point, known),
            "notes": {name: e.note for name, e in point.observables.items() if e.note},
            "seconds": sum(point.seconds.values())}


def cases(short: bool = False) -> Iterator[Case]:
    """All, those of one exact solution together; or a few that take seconds each."""
    if short:
        wanted = [[OPEN_DIMER.name, OPEN_PLAQUETTE.name], [2.0, 6.0], [2.0, 5.0], [1.0, 0.75], [8192], [1]]
    else:
        wanted = [GEOMETRIES, [2.0, 4.0, 6.0, 8.0], [2.0, 5.0, 10.0], [1.0, 0.9, 0.75], [8192, 100_000], [1, 2, 3, 4]]
    return itertools.starmap(Case, itertools.product(*wanted))


@dataclass
class Row:
    """Row of one class or quantity, over all runs."""

    runs: list[tuple[float, float]]  # sum of z^2, numbers
    held: int = 0
    far: int = 0
    far_told: int = 0
    unsupported: int = 0
    doubted: int = 0

    def cells(self) -> list[str]:
        squares, numbers = np.array(self.runs).T
        total = max(numbers.sum(), 1)
        chi2 = squares.sum() / total
        # from run to run: numbers of one hang together
        error = np.sqrt(((squares - chi2 * numbers) ** 2).sum()) / total
        return [str(len(self.runs)), f"{int(numbers.sum())}", f"{chi2:.2f} ± {error:.2f}",
                f"{100 * self.held / total:.0f} %",
                str(self.far), str(self.far_told), str(self.unsupported), str(self.doubted)]


def table(found: list[Mapping[str, Any]]) -> str:
    """In markdown: by class, by quantity, and of all."""
    rows: dict[tuple[int, str], Row] = defaultdict(lambda: Row([]))
    for run in found:
        doubted = bool(run["doubts"])
        sums: dict[tuple[int, str], np.ndarray] = defaultdict(lambda: np.zeros(6))
        for name, q in run["quantities"].items():
            told = doubted or name in run["notes"]
            values = np.array([q["squares"], q["numbers"], q["held"], q["far"], q["far"] * told, q["unsupported"]])
            for key in ((0, Case(**run["case"]).group), (1, f"`{name}`"), (2, "all")):
                sums[key] += values
        for key, (squares, numbers, held, far, far_told, unsupported) in sums.items():
            row = rows[key]
            row.runs.append((squares, numbers))
            row.held += int(held)
            row.far += int(far - far_told)
            row.far_told += int(far_told)
            row.unsupported += int(unsupported)
            row.doubted += doubted
    head = ["", "runs", "numbers", "χ²/N", "in 1σ", f"beyond {FAR:g}σ unsaid", "said", "without error", "runs in doubt"]
    lines = [head, ["---"] * len(head)] + [[key[1], *rows[key].cells()] for key in sorted(rows, key=lambda key: key[0])]
    return "\n".join([*(f"| {' | '.join(cells)} |" for cells in lines), "", in_doubt(found)])


def in_doubt(found: list[Mapping[str, Any]]) -> str:
    """Return the numbers of runs with warnings, of those with a number that is FAR off and of the others."""
    wrong = [run for run in found if any(q["far"] for q in run["quantities"].values())]
    right = [run for run in found if run not in wrong]
    count = lambda runs: f"{sum(bool(run['doubts']) for run in runs)} of {len(runs)}"
    return f"In doubt: {count(wrong)} runs with numbers beyond {FAR:g}σ, {count(right)} of the others."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--part", default="1/1", help="which cases, of how many parts")
    arguments = parser.parse_args()
    part, of = map(int, arguments.part.split("/"))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for i, case in enumerate(cases(arguments.short)):
        path = arguments.folder / f"{case.name}.json"
        if i % of == part - 1 and not path.exists():
            run = carry_out(case)
            write_atomically(path, json.dumps(run, indent=1, ensure_ascii=False).encode())
            sums = {key: sum(q[key] for q in run["quantities"].values()) for key in ("numbers", "squares", "far")}
            print(f"{case.name}: chi^2/N {sums['squares'] / max(sums['numbers'], 1):.2f}, "
                  f"{sums['far']} beyond {FAR:g} sigma, {'; '.join(run['doubts']) or 'no doubts'}, "
                  f"{run['seconds']:.0f} s", flush=True)
    print(table([json.loads(path.read_text()) for path in sorted(arguments.folder.glob("*.json"))]))


if __name__ == "__main__":
    main()

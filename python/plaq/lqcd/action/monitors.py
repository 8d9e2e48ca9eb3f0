"""Records of a chain's trajectories: forces, reversibility, extreme eigenvalues."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.lqcd import sea
from plaq.lqcd.action.of_input import operator_of
from plaq.lqcd.action.terms import Term
from plaq.lqcd.fields.eigenvectors import extreme_eigenvalues
from plaq.lqcd.fields.gauge_field import GaugeField
from plaq.lqcd.fields.momenta import Momenta
from plaq.lqcd.parameters import Parameters


class Forces:
    r"""Forces of the kicks of a trajectory by term, for `plaq.lqcd.action.hmc.integrate`.

    The force F of a link is $\sqrt{F_a F_a}$ of its components in the algebra, a sum over all terms of one name.
    """

    def __init__(self) -> None:
        self.squares: dict[str, list[float]] = {}
        self.largest: dict[str, float] = {}

    def __call__(self, term: Term, before: Momenta, after: Momenta, time: float) -> None:
        before.array[:] -= after.array
        before.array[:] /= time
        lattice = before.lattice
        links = 2 * np.square(before.array).sum(axis=(2, 3, 4))  # [group, mu, lane]: F_a F_a, tr T_a T_a = -1/2
        largest = lattice.comm.allreduce(float(links.max(initial=0.0)), "max")
        self.squares.setdefault(term.name, []).append(2 * before.kinetic_energy() / (4 * lattice.volume))
        self.largest[term.name] = max(self.largest.get(term.name, 0.0), largest)

    def row(self, names: list[str]) -> list[tuple[float, float]]:
        """Return (root mean square, largest) of the links over all kicks, for each name."""
        return [(float(np.sqrt(np.mean(self.squares[name]))), float(np.sqrt(self.largest[name]))) for name in names]


class Monitors:
    """Rows by trajectory of what an input asks for; ``state`` is that of a checkpoint."""

    def __init__(self, p: Parameters, state: Mapping[str, np.ndarray] | None = None):
        self.p = p
        clover = [f"{name}.clover" for name, q in p.quarks.items() if q.csw and not q.ratio]
        self.terms = [*sea.all_terms(p.quarks), *clover]
        shapes = {"forces": 1 + 2 * len(self.terms), "reversibility": 3, "eigenvalues": 1 + 2 * len(p.quarks)}
        self.rows = {name: (state or {}).get(name, np.zeros((0, columns))) for name, columns in shapes.items()}

    def due(self, name: str, trajectory: int) -> bool:
        """Return whether a monitor is due in a trajectory, counted from zero."""
        every = getattr(self.p.hmc, f"{name}_every")
        return bool(every) and trajectory % every == 0

    def add(self, name: str, trajectory: int, values) -> None:
        self.rows[name] = np.vstack([self.rows[name], [trajectory + 1, *np.ravel(values)]])

    def measure_eigenvalues(self, trajectory: int, gauge: GaugeField) -> None:
        """Record the extreme eigenvalues of all quarks. Collective."""
        with gauge.frozen():
            values = [extreme_eigenvalues(gauge.operator(operator_of(self.p, name))) for name in self.p.quarks]
        self.add("eigenvalues", trajectory, values)

    def sentences(self) -> list[str]:
        """Describe the largest violation of reversibility, if it was looked for."""
        rows = self.rows["reversibility"]
        if not len(rows):
            return []
        return [f"reversibility: after {len(rows)} trajectories there and back |Delta H| is at most "
                f"{np.abs(rows[:, 1]).max():.2g}, and links have changed by at most {rows[:, 2].max():.2g}"]

    def recorded(self) -> dict[str, Recorded]:
        """Return the series, those of forces as ``force_NAME``, of eigenvalues as ``eigenvalues_NAME``."""
        out: dict[str, Recorded] = {}

        def add(name: str, rows: np.ndarray, values: np.ndarray, what: str) -> None:
            axes = Axis("trajectory", rows[:, 0]), Axis("number", np.arange(values.shape[1]))
            out[name] = Recorded(name, values, axes, "", what)

        if len(rows := self.rows["reversibility"]):
            add("reversibility", rows, rows[:, 1:], "of a trajectory there and back: Delta H; largest change of a "
                "number in a link")
        if len(rows := self.rows["forces"]):
            for number, name in enumerate(self.terms):
                add(f"force_{name.replace('.', '_')}", rows, rows[:, 1 + 2 * number: 3 + 2 * number],
                    "|F| of links, |F|^2 = F_a F_a: root of its mean square, and the largest one")
        if len(rows := self.rows["eigenvalues"]):
            for number, name in enumerate(self.p.quarks):
                add(f"eigenvalues_{name}", rows, rows[:, 1 + 2 * number: 3 + 2 * number],
                    "the smallest and the largest eigenvalue of M^+ M on odd sites")
        return out


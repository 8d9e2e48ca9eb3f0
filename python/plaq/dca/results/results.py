"""Results of a run: one `Point` per temperature, and the transition."""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from plaq.data.estimate import Axis, with_error
from plaq.data.formatting import momentum
from plaq.dca.lattice import matsubara
from plaq.dca.lattice.chemical_potential import cutoff
from plaq.dca.lattice.model import Model
from plaq.dca.parameters import Parameters
from plaq.dca.physics import checks
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.high_temperature import Ensemble, ensemble
from plaq.dca.physics.instabilities import Instability, instabilities, leading_pairing
from plaq.dca.physics.onset import Onset, onset_of
from plaq.dca.physics.point import Point
from plaq.dca.physics.response import momenta, pairing_irreps, responses
from plaq.dca.physics.spin_maximum import SpinMaximum, spin_maximum
from plaq.dca.results.thermodynamics import Thermodynamics, thermodynamics
from plaq.dca.units import measured
from plaq.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from xarray import Dataset

    from plaq.data.display import Drawing


@dataclass(repr=False)
class Results:
    """All temperatures of a run in the order they were run, and the transition when it was looked for.

    ``transition`` is a `plaq.dca.physics.transition.Transition`;
    None when pairing was not measured at two temperatures. ``input`` is the input of the run with every key, as TOML.
    """

    points: list[Point]
    transition: Any = None
    seconds: dict[str, float] = field(default_factory=dict)
    input: str = ""

    def __post_init__(self):
        for point in self.points if self.input else ():
            point.evaluation = partial(evaluation_of, self.input, point)

    @property
    def unit(self) -> str:
        """Unit of energies: ``t``, or nothing (plaq.dca.units)."""
        return next((point[name].unit for point in self.points for name in ("mu", "energy") if name in point), "t")

    def at(self, T: float) -> Point:
        """Return the point at temperature ``T``; KeyError when there is none."""
        for point in self.points:
            if np.isclose(point.T, T, rtol=1e-9, atol=0):
                return point
        raise KeyError(f"no temperature {T}; there are {[point.T for point in self.points]}")

    def series(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (T, mean, error) of an observable over all temperatures that have it; KeyError when none has."""
        rows = [(p.T, p[name].mean, p[name].error) for p in self.points if name in p]
        if not rows:
            there = ", ".join(sorted({known for p in self.points for known in p.observables})) or "no observable yet"
            raise KeyError(f"no {name!r} at any temperature; there are {there}")
        return tuple(np.array(column) for column in zip(*rows))

    def instabilities(self) -> list[Instability]:
        """Return the instability of every channel whose leading eigenvalue was measured, d-wave pairing first."""
        return instabilities(self.points, self.transition)

    @property
    def pairing(self) -> str:
        """Name of the pairing eigenvalue that T_c is of."""
        return leading_pairing(self.points)

    @property
    def onset(self) -> Onset | None:
        """Temperature where order sets in, from the order parameter; None where no symmetry may be broken."""
        return onset_of(self.points)

    @property
    def spin_maximum(self) -> SpinMaximum:
        """T*, where the uniform spin susceptibility is largest."""
        return spin_maximum(self.points)

    @property
    def thermodynamics(self) -> Thermodynamics:
        """Entropy, specific heat and free energy by temperature, by integration from T = inf."""
        return thermodynamics(self.points, self.limit, self.unit)

    @property
    def limit(self) -> Ensemble | None:
        """Exact limit of infinite temperature; None where the input is not known."""
        return ensemble(Parameters("input", **tomllib.loads(self.input))) if self.input else None

    @property
    def tc(self) -> dict[str, Any]:
        """Transition temperature as ``{value, error, status}``; value and error are None unless it was found."""
        transition = plain(self.transition) or {"status": "not measured"}
        return {"value": transition.get("value"), "error": transition.get("error"), "status": transition["status"]}

    def answers(self) -> list[str]:
        """Return the result of the run in a sentence for each order that it looked for, T_c first."""
        orders = self.instabilities()
        alone = [order.is_pairing for order in orders] == [True]
        sentences = [order.sentence if alone else f"{order.name}, {order.eigenvalue}: {order.sentence}"
                 for order in orders]
        if not any(self.pairing in point for point in self.points) and (irreps := pairing_irreps(self.points)):
            sentences.insert(0, no_d_wave(self.points, irreps))
        if (onset := self.onset) is not None:
            sentences.insert(0, onset.sentence)
        sentences = sentences or ["no pairing eigenvalue was measured, so nothing is said about a transition"]
        return sentences + [f"warning: {text}" for text in self.warnings()]

    def warnings(self, target: float | None = None) -> list[str]:
        """Return ``T = 0.1: not converged``, …: temperatures with failed checks.

        target : the density that was asked for.
        """
        by_temperature = {point.T: checks.warnings(point, target) for point in self.points}
        return [f"T = {T:g}: {', '.join(reasons)}" for T, reasons in by_temperature.items() if reasons]

    def drawings(self) -> dict[str, Drawing]:
        """Return the figures that there are data for, by name."""
        from plaq.dca.results.plot import drawings

        return drawings(self)

    def plot(self, name: str | None = None) -> Figure:
        """Return a figure: one of `drawings`, or of an observable; by default an overview."""
        from plaq.dca.results.plot import drawing

        return drawing(self, name).figure()

    def __repr__(self) -> str:
        return f"<plaq dca results: {self.in_words()}>"

    def in_words(self) -> str:
        """Return temperatures and T_c in a line."""
        T = sorted(point.T for point in self.points)
        span = f"T = {T[0]:g}" if len(T) == 1 else f"{len(T)} temperatures from {T[0]:g} to {T[-1]:g}" if T else "no T"
        tc = self.tc
        found = f", T_c = {measured(with_error(tc['value'], tc['error']), self.unit)}" if tc["value"] else ""
        return measured(span, self.unit if T else "") + found

    def to_dataframe(self) -> DataFrame:
        """Return T, beta, and mean and error of every number, a row for each temperature. ImportError without pandas.
        """
        from plaq.data.tables import dataframe
        from plaq.dca.results.export import scalars

        return dataframe(scalars(self))

    def to_xarray(self) -> Dataset:
        """Return all observables by name over T and their axes (plaq.data.datasets). ImportError without xarray."""
        from plaq.data.datasets import dataset_along

        axis = Axis("T", np.array([point.T for point in self.points]), self.unit)
        beta = np.array([point.beta for point in self.points]), self.unit and f"1/{self.unit}"
        return dataset_along(axis, {"beta": beta}, [point.observables for point in self.points])

    def _repr_html_(self) -> str:
        from plaq.dca.results.display import results_html

        return results_html(self)

    def answer(self) -> str:
        """Return `answers` in one text."""
        return "; ".join(self.answers())


def evaluation_of(input_toml: str, point: Point) -> Evaluation:
    """Return the evaluation of a temperature of a run with this input, as the run had it."""
    p = Parameters("input", **tomllib.loads(input_toml))
    model = Model.of(p)
    if model.general:
        raise InputError("functions of several orbitals, V, J, a field or U < 0 cannot be evaluated again")
    mesh = matsubara.mesh(point.beta, cutoff(p, model.lattice, point.T))
    target = None if model.mirror is not None or p.dca.isolated else p.dca.density
    return Evaluation(model, mesh, 0.0, point.mu, None, target_density=target)


def no_d_wave(points: list[Point], irreps: list[str]) -> str:
    """Return why pairing was measured and there is no lambda_d."""
    coldest = min((point for point in points if f"lambda_{irreps[0]}" in point), key=lambda point: point.T)
    K = [momentum(k) for k in momenta(coldest)]
    values = ", ".join(f"lambda_{name} = {coldest[f'lambda_{name}']}" for name in irreps)
    return (f"no T_c: a d-wave gap changes sign between (π,0) and (0,π), and no function on the momenta of this "
            f"cluster, {' '.join(K)}, does; its pairing eigenvalues are {values} at T = {coldest.T:g}")


def plain(thing: Any) -> Any:
    """Return dataclasses as dicts, recursively; everything else as it is."""
    if dataclasses.is_dataclass(thing):
        return {f.name: plain(getattr(thing, f.name)) for f in dataclasses.fields(thing)}
    if isinstance(thing, dict):
        return {str(key): plain(value) for key, value in thing.items()}
    return type(thing)(plain(entry) for entry in thing) if isinstance(thing, (list, tuple)) else thing


SUMMARY = ("density", "double_occupancy", "energy", "sign", "expansion_order", "lambda_d")


def summary(results: Results, header: dict[str, Any], target: float | None = None) -> dict[str, Any]:
    """Return the content of ``summary.json``.

    tc {value, error, status}; a sentence for every order that was looked for; per temperature T, beta, mu and its
    error, {value, error, bias} of the names in `SUMMARY` (lambda_d is null where two-particle functions were not
    measured), the responses at each momentum, and failed checks; seconds by part. target : the density that was asked
    for.
    """

    def pair(point: Point, name: str):
        if name not in point:
            return None
        bias = {} if point[name].bias is None else {"bias": float(point[name].bias)}
        return {"value": float(point[name].mean), "error": float(point[name].error)} | bias

    temperatures = [
        {"T": point.T, "beta": point.beta, "mu": point.mu,
         "mu_error": float(point["mu"].error) if "mu" in point else None,
         **{name: pair(point, name) for name in dict.fromkeys((*SUMMARY, results.pairing))},
         "measurements": point.measurements, "doubts": checks.warnings(point, target),
         "momenta": [row.plain() for row in responses(point)]}
        for point in results.points
    ]
    return {"tc": results.tc, "answers": results.answers(),
            "transitions": [order.plain() for order in results.instabilities()],
            **({} if results.onset is None else {"onset": plain(results.onset)}),
            "T*": plain(results.spin_maximum), "temperatures": temperatures,
            "seconds": results.seconds, "header": header}

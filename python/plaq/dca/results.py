"""What a run gives: one `Point` per temperature, and the transition."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plaq.estimate import Axis, Estimate


@dataclass
class Point:
    """A finished temperature.

    ``observables`` are estimates by name. ``history`` has one record of scalars per iteration, with ``seconds`` a
    table {part: s}; ``seconds`` is the same for the whole temperature, summed over its iterations. ``in_file`` names
    two-particle functions that no rank holds whole: they are in ``results.h5`` only.
    """

    index: int
    T: float
    beta: float
    mu: float
    observables: dict[str, Estimate] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    in_file: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> Estimate:
        if name in self.in_file:
            raise KeyError(f"{name!r} at T = {self.T} is in results.h5 only; plaq.dca.load reads it")
        if name not in self.observables:
            raise KeyError(f"no {name!r} at T = {self.T}; there are {', '.join(self.observables)}")
        return self.observables[name]

    def __contains__(self, name: str) -> bool:
        return name in self.observables

    def state(self) -> dict[str, Any]:
        """As nested dicts, for checkpoints and files."""
        shown = {name: _estimate_state(estimate) for name, estimate in self.observables.items()}
        plain = {"index": self.index, "T": self.T, "beta": self.beta, "mu": self.mu}
        return {**plain, "observables": shown, "history": self.history, "seconds": self.seconds, "in_file": self.in_file}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Point:
        """The inverse of `state`."""
        observables = {name: _estimate(name, entry) for name, entry in state["observables"].items()}
        return cls(**{**state, "observables": observables})


@dataclass
class Results:
    """All temperatures of a run in the order they were run, and the transition when it was looked for.

    ``transition`` is a `plaq.dca.transition.Transition`; None when pairing was not measured at two temperatures.
    """

    points: list[Point]
    transition: Any = None
    seconds: dict[str, float] = field(default_factory=dict)

    def at(self, T: float) -> Point:
        """The point at temperature ``T``; KeyError when there is none."""
        for point in self.points:
            if np.isclose(point.T, T, rtol=1e-9, atol=0):
                return point
        raise KeyError(f"no temperature {T}; there are {[point.T for point in self.points]}")

    def series(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(T, mean, error) of a scalar observable over all temperatures that have it."""
        rows = [(p.T, p[name].mean, p[name].error) for p in self.points if name in p]
        return tuple(np.array(column) for column in zip(*rows)) if rows else (np.empty(0),) * 3

    @property
    def tc(self) -> dict[str, Any]:
        """``{value, error, status}`` of the transition temperature; value and error are None unless it was
        found."""
        found = plain(self.transition) or {"status": "not measured"}
        return {"value": found.get("value"), "error": found.get("error"), "status": found["status"]}

    def answer(self) -> str:
        """The result of the run in a sentence."""
        if self.transition is None:
            measured = [point for point in self.points if "lambda_d" in point]
            if measured:
                coldest = min(measured, key=lambda point: point.T)
                return (f"lambda_d = {coldest['lambda_d']} at T = {coldest.T:g}; T_c is looked for when a run is "
                        "finished that has lambda_d at two temperatures or more")
            return "no pairing eigenvalue was measured, so nothing is said about a transition"
        return plain(self.transition)["sentence"]


def plain(thing: Any) -> Any:
    """Dataclasses as dicts, all the way down; everything else as it is."""
    if dataclasses.is_dataclass(thing):
        return {f.name: plain(getattr(thing, f.name)) for f in dataclasses.fields(thing)}
    if isinstance(thing, dict):
        return {str(key): plain(value) for key, value in thing.items()}
    return type(thing)(plain(entry) for entry in thing) if isinstance(thing, (list, tuple)) else thing


def _estimate_state(estimate: Estimate) -> dict[str, Any]:
    state = {
        f.name: getattr(estimate, f.name) for f in dataclasses.fields(estimate) if f.name not in ("name", "axes")
    }
    state["axes"] = [{"name": a.name, "values": np.asarray(a.values), "unit": a.unit} for a in estimate.axes]
    return state


def _estimate(name: str, state: dict[str, Any]) -> Estimate:
    axes = tuple(Axis(**axis) for axis in state["axes"])
    return Estimate(name, **{**state, "axes": axes})


SUMMARY = ("density", "double_occupancy", "energy", "sign", "expansion_order", "lambda_d")


def summary(results: Results, header: dict[str, Any]) -> dict[str, Any]:
    """The content of ``summary.json``: tc {value, error, status}, per temperature T, beta, mu and {value, error} of
    what `SUMMARY` names (lambda_d is null where two-particle functions were not measured), and seconds by part."""

    def pair(point: Point, name: str):
        return {"value": float(point[name].mean), "error": float(point[name].error)} if name in point else None

    temperatures = [
        {"T": point.T, "beta": point.beta, "mu": point.mu, **{name: pair(point, name) for name in SUMMARY}}
        for point in results.points
    ]
    return {"tc": results.tc, "temperatures": temperatures, "seconds": results.seconds, "header": header}

"""A finished temperature."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from plaq.data import display
from plaq.data.estimate import Axis, Estimate, mark_bins
from plaq.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from plaq.dca.physics.evaluation import Evaluation


@dataclass(repr=False)
class Point:
    """A finished temperature.

    ``observables`` are estimates by name. ``history`` has one record of scalars per iteration, with ``seconds`` a
    table {part: s}; ``seconds`` is the same for the whole temperature, summed over its iterations. ``in_file`` names
    two-particle functions that no rank holds whole: they are in ``results.h5`` only. ``functions`` has Sigma_in,
    Sigma, Sigma_error and G of every iteration, [iteration, K, w] on the mesh. ``representatives`` [K] is the index of
    the first momentum that the point group maps onto each; None where it is not known. ``evaluation`` returns model
    and frequencies of this temperature; None where the input of the run is not known.
    """

    index: int
    T: float
    beta: float
    mu: float
    observables: dict[str, Estimate] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    in_file: list[str] = field(default_factory=list)
    functions: dict[str, np.ndarray] = field(default_factory=dict)
    representatives: np.ndarray | None = field(default=None)
    evaluation: Callable[[], Evaluation] | None = field(default=None, compare=False)

    def __post_init__(self):
        mark_bins(self.observables.values(), f"T = {self.T:g}, ")

    def __getitem__(self, name: str) -> Estimate:
        if name in self.in_file:
            raise KeyError(f"{name!r} at T = {self.T} is in results.h5 only; plaq.dca.load reads it")
        if name not in self.observables:
            raise KeyError(f"no {name!r} at T = {self.T}; there are {', '.join(self.observables)}")
        return self.observables[name]

    def __repr__(self) -> str:
        shown = [f"{name} = {self[name]}" for name in ("density", "energy", "lambda_d") if name in self]
        return f"<plaq dca point: {', '.join([f'T = {self.T:g}', *shown])}; {len(self.observables)} observables>"

    def _repr_html_(self) -> str:
        return display.estimates_html(repr(self)[1:-1], self.observables)

    def plot(self, name: str) -> Figure:
        """Return a figure of an observable."""
        return self[name].plot()

    def susceptibility(self, q: Sequence, channel: str = "magnetic", m: int = 0, form: str = "s") -> Estimate:
        """Return the susceptibility of the lattice at any momentum, from the functions of a finished run.

        q : one momentum [2] or several [q, 2], in pi/a; channel : magnetic (S^z), charge or pp; m : bosonic index; form
        : of pairs, "s" or "d". The run needs ``two_particle.samples = true`` and the channel at the cluster momenta
        nearest to q. The value is extrapolated in the frequency window (docs/lattice_response.md). InputError where the
        run lacks a function.
        """
        from plaq.dca.physics.recomputed import susceptibility

        if self.evaluation is None:
            raise InputError(f"T = {self.T:g}: the input of the run is not known; plaq.dca.load(folder) reads it")
        return susceptibility(self.observables, self.evaluation(), q, channel, m, form)

    def __contains__(self, name: str) -> bool:
        return name in self.observables

    @property
    def measurements(self) -> int | None:
        """Configurations that the numbers are averages over; None for an exact solution."""
        counted = [record["measurements"] for record in self.history if record.get("phase") == "final"]
        return int(sum(counted)) if counted else None

    def state(self) -> dict[str, Any]:
        """Return it as nested dicts, for checkpoints and files."""
        estimates = {name: _estimate_state(estimate) for name, estimate in self.observables.items()}
        plain = {"index": self.index, "T": self.T, "beta": self.beta, "mu": self.mu}
        return {**plain, "observables": estimates, "history": self.history, "seconds": self.seconds,
                "in_file": self.in_file, "functions": self.functions, "representatives": self.representatives}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Point:
        """Return the inverse of `state`."""
        observables = {name: _estimate(name, entry) for name, entry in state["observables"].items()}
        return cls(**{**state, "observables": observables})


def _estimate_state(estimate: Estimate) -> dict[str, Any]:
    state = {
        f.name: getattr(estimate, f.name) for f in dataclasses.fields(estimate)
        if f.name not in ("name", "axes", "bins", "others", "places")
    }
    state["axes"] = [{"name": a.name, "values": np.asarray(a.values), "unit": a.unit} for a in estimate.axes]
    return state


def _estimate(name: str, state: dict[str, Any]) -> Estimate:
    axes = tuple(Axis(**axis) for axis in state["axes"])
    return Estimate(name, **{**state, "axes": axes})

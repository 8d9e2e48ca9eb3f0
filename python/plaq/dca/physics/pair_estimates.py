"""Estimates from two-particle functions: the functions, their eigenvalues, and the response of the lattice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from plaq.data import statistics
from plaq.data.estimate import Estimate
from plaq.data.statistics import Resampled
from plaq.dca.lattice.symmetry import irrep_blocks, irrep_projectors
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.lattice_estimates import lattice_estimates, with_both_signs
from plaq.dca.physics.two_particle import (
    CHANNELS,
    NEGATIVE,
    PAIRING,
    channel,
    channel_labels,
    channel_terms,
    modes_of_all_data,
    pair_orbits,
    pairing,
    pairing_labels,
    two_particle_axes,
)
from plaq.dca.physics.vertex_estimates import PartsEstimate
from plaq.dca.solver.choices import SUMS, measured_as, measured_functions
from plaq.dca.solver.ctaux import Measured
from plaq.dca.solver.distributed_g4 import DistributedEstimate, DistributedG4, PairFunction, pair_functions

UNSOLVED = "noise leaves the equation without a solution in some of the jackknife samples: measure more"
Rows = np.ndarray | list[np.ndarray]  # [bin, row, n']


@dataclass
class PairEstimates:
    """Two-particle functions of a temperature, and the estimates that follow from them.

    channels : (kind, transfer index, bosonic index) asked for, without pairing; on_ranks : evaluates samples, which
    ranks may share; note : the reason for infinite errors, or nothing; samples : whether functions keep their samples;
    exchanged : functions that are measured for the decomposition of the pairing vertex (plaq.dca.physics.vertex_parts).
    """

    evaluation: Evaluation
    measured: Measured
    window: int
    channels: Sequence[tuple[str, int, int]]
    on_ranks: Callable[..., Iterator]
    distributed: DistributedG4 | None = None
    note: str = ""
    samples: bool = False
    exchanged: Sequence[tuple[str, int, int]] = ()
    results: dict[str, Estimate | DistributedEstimate] = field(default_factory=dict)

    @cached_property
    def functions(self) -> dict[str, PairFunction]:
        """Shapes of the measured functions."""
        model = self.evaluation.model
        orbits = None if self.measured.pairing is None else pair_orbits(model.group)
        return pair_functions(self.window, model.cluster.size, orbits, len(self.measured_kinds))

    @cached_property
    def measured_kinds(self) -> list[tuple[str, int, int]]:
        """The functions in `Measured.channels`, in their order."""
        return measured_functions([*self.channels, *self.exchanged])

    @cached_property
    def sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Sums of the bins from which `Evaluation.sample` makes G."""
        evaluation = self.evaluation
        bath = self.measured.in_bath(evaluation.g0, evaluation.sigma_0, evaluation.equations.algebra).bath
        return bath.ratio, bath.inverse_g0

    def all(self) -> dict[str, Estimate | DistributedEstimate]:
        """Return all estimates by name."""
        if self.measured.pairing is not None:
            self.add_pairing()
        for kind, q, m in self.channels:
            self.add_channel(kind, q, m)
        if self.exchanged:
            self.add_decomposition()
        if self.evaluation.model.momenta is not None:
            self.results |= lattice_estimates(self.evaluation, self.window, self.of_channels, self.resample, self.note)
        return self.results

    @property
    def of_channels(self) -> list[tuple[str, int, int]]:
        """Functions that have a response: those asked for, without parts by spin."""
        asked = [("pp", 0, 0)] * (self.measured.pairing is not None) + list(self.channels)
        return [(part, q, m) for kind, q, m in asked if kind not in ("upup", "updown") for part in measured_as(kind)]

    def rows(self, kind: str, q: int, m: int) -> tuple[PairFunction, Rows]:
        """Return the shape and the rows [bin, row, n'] of a function that is measured, or a sum of such functions."""
        if (kind, q, m) == ("pp", 0, 0) and self.measured.pairing is not None:
            return self.functions["pairing"], self.measured.pairing
        parts = self.measured_parts(kind, q, m)
        return self.functions[f"channel_{parts[0][1]}"], self.combined(parts)

    def measured_parts(self, kind: str, q: int, m: int) -> list[tuple[float, int]]:
        """Return (factor, number among the measured channels) of the parts of a function."""
        known = self.measured_kinds
        return [(factor, known.index((part, q, m))) for part, factor in measured_as(kind).items()]

    def combined(self, parts: list[tuple[float, int]]) -> Rows:
        """Return the sum of `measured_parts` in every bin."""
        if len(parts) == 1:
            return self.measured.channels[parts[0][1]]
        return [sum(factor * rows for (factor, _), rows in zip(parts, bins))
                for bins in zip(*(self.measured.channels[i] for _, i in parts))]

    def jackknife(self, function: Callable, *rows: Rows) -> dict[str, Resampled]:
        """Return the jackknife of function(norm, ratio, 1/G0, *rows)."""
        measured = self.measured
        return statistics.jackknife(function, measured.norm, *self.sums, *rows, weights=measured.weights,
                                    starmap=self.on_ranks, chains=measured.chains)

    def with_all_data(self, function: Callable, rows: Rows):
        """Return function(norm, ratio, 1/G0, rows) of the averages over all bins, on every rank."""
        measured = self.measured
        whole = [statistics.weighted_average(a, measured.weights) for a in (measured.norm, *self.sums, rows)]
        return next(self.on_ranks(function, [whole]))

    def add(self, labels, resampled: dict[str, Resampled]) -> None:
        for name, value in resampled.items():
            if name in labels:
                unsolved = "" if np.all(np.isfinite(value.error)) else UNSOLVED
                self.results[name] = value.estimate(name, note=self.note or unsolved, **labels[name])
                self.results[name].note = self.results[name].note or crossed(resampled.get(f"{NEGATIVE}{name}"))

    def add_function(self, name: str, function: PairFunction, rows: Rows, axes, convention: str) -> None:
        """Add the two-particle function itself, row by row on the ranks that have the rows."""
        measured, distributed = self.measured, self.distributed
        value = statistics.jackknife(lambda w, g4: g4 / w, measured.norm, rows, weights=measured.weights,
                                     keep=self.samples, chains=measured.chains)
        error = statistics.no_error(value.mean) if self.note else value.error
        whole = (value.mean, error) if distributed else (function.whole(value.mean), function.whole(error))
        kept = None if value.values is None else np.array([function.whole(sample) for sample in value.values])
        kind = (partial(DistributedEstimate, comm=distributed.comm, function=function) if distributed else
                partial(Estimate, disagreement=value.disagreement, kurtosis=value.kurtosis, jackknife=kept))
        self.results[name] = kind(name=name, mean=whole[0], error=whole[1], axes=tuple(axes), unit="1/t^2",
                                  convention=convention, note=self.note)

    def add_pairing(self) -> None:
        """Add pairing at q = 0, nu = 0."""
        evaluation, cluster = self.evaluation, self.evaluation.model.cluster
        function, rows = self.functions["pairing"], self.measured.pairing
        projectors, blocks = irrep_projectors(cluster), irrep_blocks(cluster)
        self.add(pairing_labels(evaluation, projectors, self.window), self.jackknife(
            lambda w, g, f, g4: pairing(*evaluation.sample(w, g, f), projectors, blocks, function.whole(g4 / w)), rows))
        self.add_function("G4_pp", function, rows, two_particle_axes(evaluation, self.window, half=True), PAIRING)

    def add_decomposition(self) -> None:
        """Add the parts of the pairing vertex, and what they contribute to the eigenvalues."""
        shapes, rows = zip(*(self.rows(*which) for which in [("pp", 0, 0), *self.exchanged]))
        estimate = PartsEstimate(self.evaluation, self.window, self.exchanged)
        self.add(estimate.labels(), self.jackknife(
            lambda w, g, f, *g4: estimate.values(*self.evaluation.sample(w, g, f), *(
                shape.whole(rows / w) for shape, rows in zip(shapes, g4))), *rows))

    def add_channel(self, kind: str, q: int, m: int) -> None:
        """Add one function, and its eigenvalues where it is that of a channel of the Bethe-Salpeter equation."""
        evaluation, tag = self.evaluation, f"{kind}_q{q}_m{m}"
        function, rows = self.rows(kind, q, m)
        if len(SUMS.get(kind, "1")) == 1:
            blocks = irrep_blocks(evaluation.model.cluster, q)
            terms = lambda w, g, f, g4: channel_terms(*evaluation.sample(w, g, f), kind, q, m, self.window,
                                                      function.whole(g4 / w))
            full = self.with_all_data(lambda *sums: modes_of_all_data(blocks, *terms(*sums)), rows)
            self.add(channel_labels(evaluation, blocks, self.window, tag),
                     self.jackknife(lambda *sums: channel(blocks, full, tag, *terms(*sums)), rows))
        self.add_function(f"G4_{tag}", function, rows, two_particle_axes(evaluation, self.window), CHANNELS[kind])

    def resample(self, which: tuple[str, int, int], prepare: Callable, function: Callable) -> dict[str, Resampled]:
        """Return the jackknife of function(evaluation, m, g4, prepared) as `lattice_estimates` has it."""
        shape, rows = self.rows(*which)
        whole = lambda g4, w: (with_both_signs(shape.whole(g4 / w)) if shape.name == "pairing"
                               else shape.whole(g4 / w))
        sample = self.evaluation.sample
        first = self.with_all_data(lambda w, g, f, g4: prepare(*sample(w, g, f), whole(g4, w)), rows)
        return self.jackknife(lambda w, g, f, g4: function(*sample(w, g, f), whole(g4, w), first), rows)


def crossed(negative: Resampled | None) -> str:
    """Return a note where samples have another number of negative eigenvalues than all data; else an empty text.

    The physical eigenvalue is counted behind them in each sample, so its error stays valid.
    """
    if negative is None or negative.values is None:
        return ""
    changed = int(np.count_nonzero(negative.values != negative.mean))
    return (f"{changed} of {len(negative.values)} jackknife samples have another number of negative eigenvalues of a "
            "two-particle function than all data: the vertex diverges near here" if changed else "")

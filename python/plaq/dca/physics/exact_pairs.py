"""Two-particle functions of an isolated cluster from its eigenstates, with their Bethe-Salpeter eigenvalues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plaq.data.estimate import Axis, Estimate
from plaq.data.statistics import Resampled
from plaq.dca.lattice.symmetry import irrep_blocks, irrep_projectors
from plaq.dca.physics import orbital_channels, two_particle
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.lattice_estimates import lattice_estimates
from plaq.dca.physics.vertex_estimates import PartsEstimate
from plaq.dca.solver import ed
from plaq.dca.solver.choices import SUMS, measured_as

Which = tuple[str, int, int]  # (channel, transfer index, bosonic index)
AT_ZERO: Which = "pp", 0, 0  # pairing, whose names have no tag


def exact_pairs(exact, evaluation: Evaluation, g: np.ndarray, channels: Sequence[Which], window: int,
                exchanged: Sequence[Which]) -> dict[str, Estimate]:
    """Return functions, eigenvalues, responses and parts of the vertex as a run of the solver has them.

    g : G of the cluster on the mesh; channels, exchanged : of `exact_point`.
    """
    model = evaluation.model
    functions = {which: exact_function(exact, model, *which, window) for which in channels}
    model.coarse_graining.prepare(np.pi / evaluation.mesh.beta)
    evaluation, m = with_bath(evaluation, g)
    estimates = {}
    for which, g4 in functions.items():
        of_channel = of_orbitals if model.general else of_one_band
        estimates |= of_channel(evaluation, m, *which, window, g4)
    if model.momenta is not None:
        estimates |= response(evaluation, m, functions, window)
    if exchanged:
        needed = [functions[which] if which in functions else exact_function(exact, model, *which, window)
                  for which in exchanged]
        parts = PartsEstimate(evaluation, window, exchanged)
        found = parts.values(evaluation, m, functions[AT_ZERO][:, window:].real, *needed)
        estimates |= without_errors(found, parts.labels())
    return estimates


def exact_function(exact, model, kind: str, q: int, m: int, window: int) -> np.ndarray:
    """Return the two-particle function [K, n, K', n'], n of both signs; of a general model with a, b behind each K."""
    n = np.arange(-window, window)
    if kind == "transverse" and not model.general:
        return ed.two_particle(exact, kind, q, m, n)
    parts = measured_as(kind) if kind in SUMS else {kind: 1.0}
    g4 = sum(factor * ed.two_particle(exact, part, q, m, n) for part, factor in parts.items())
    if not model.general:
        return g4
    bands = model.lattice.bands
    return g4.reshape(2 * (model.cluster.size, bands, bands, len(n)))


def with_bath(evaluation: Evaluation, g: np.ndarray) -> tuple[Evaluation, np.ndarray]:
    """Return (evaluation, m) of G on the mesh, as `Evaluation.sample` does."""
    model, mesh, equations = evaluation.model, evaluation.mesh, evaluation.equations
    algebra = equations.algebra
    h = model.coarse_graining.h_mean[..., None] if model.general else model.cluster.energies[:, None]
    g = g.reshape(*h.shape[:-1], -1)  # with the axes of spin and orbital that results leave out
    g0 = algebra.inverse(algebra.at_frequencies_of(1j * mesh.omega + evaluation.mu) - equations.shift - h)
    return replace(evaluation, g0=g0), algebra.reduced(g0 - g, g0)


def of_one_band(evaluation: Evaluation, m: np.ndarray, kind: str, q: int, m_index: int, window: int, g4: np.ndarray
                ) -> dict[str, Estimate]:
    """Return a function of one band and its eigenvalues."""
    cluster, tag = evaluation.model.cluster, f"{kind}_q{q}_m{m_index}"
    if (kind, q, m_index) == AT_ZERO:  # as the solver measures it: real, w > 0
        real, projectors = g4[:, window:].real, irrep_projectors(cluster)
        found = two_particle.pairing(evaluation, m, projectors, irrep_blocks(cluster), real)
        labels = two_particle.pairing_labels(evaluation, projectors, window)
        return without_errors(found, labels) | function("G4_pp", real, two_particle.two_particle_axes(
            evaluation, window, half=True), two_particle.PAIRING)
    estimates = function(f"G4_{tag}", g4, two_particle.two_particle_axes(evaluation, window),
                         two_particle.CHANNELS[kind])
    if len(SUMS.get(kind, "1")) == 1:
        blocks = irrep_blocks(cluster, q)
        terms = two_particle.channel_terms(evaluation, m, kind, q, m_index, window, g4)
        found = two_particle.channel(blocks, two_particle.modes_of_all_data(blocks, *terms), tag, *terms)
        estimates |= without_errors(found, two_particle.channel_labels(evaluation, blocks, window, tag))
    return estimates


def of_orbitals(evaluation: Evaluation, m: np.ndarray, kind: str, q: int, m_index: int, window: int, g4: np.ndarray
                ) -> dict[str, Estimate]:
    """Return a function of a general model and its eigenvalues."""
    tag = "" if (kind, q, m_index) == AT_ZERO else f"{kind}_q{q}_m{m_index}"
    axes = orbital_channels.axes(evaluation, window)
    primed = [Axis(f"{axis.name}'" if axis.name in ("K", "omega") else f"{axis.name}''", axis.values, axis.unit)
              for axis in axes]
    shape = tuple(len(axis.values) for axis in axes)
    estimates = function(f"G4_{tag or 'pp'}", g4.reshape(2 * shape), (*axes, *primed), orbital_channels.CHANNELS[kind])
    if len(SUMS.get(kind, "1")) == 1:
        blocks = orbital_channels.symmetry_of(evaluation.model, kind, q).blocks(window, static=m_index == 0)
        terms = orbital_channels.terms(evaluation, m, kind, q, m_index, window, g4)
        modes = terms.modes(blocks)
        full = two_particle.physical_modes(modes, terms.modes(blocks, on_cluster=True))
        sizes = {name: basis.shape[1] for name, basis in blocks.items()}
        estimates |= without_errors(two_particle.leading_values(modes, full, tag),
                                    two_particle.labels_of_modes(sizes, axes, tag))
    return estimates


def response(evaluation: Evaluation, m: np.ndarray, functions: Mapping[Which, np.ndarray], window: int
             ) -> dict[str, Estimate]:
    """Return the response at the momenta asked for, which are those of the cluster, by the vertex in the window."""
    functions = {("magnetic" if kind == "transverse" else kind, q, nu): g4 for (kind, q, nu), g4 in functions.items()}

    def resample(which, prepare, function):
        values = function(evaluation, m, functions[which], prepare(evaluation, m, functions[which]))
        return {name: Resampled(value, np.zeros_like(value), np.zeros_like(value), None)
                for name, value in values.items()}

    return lattice_estimates(evaluation, window, list(functions), resample)


def function(name: str, g4: np.ndarray, axes, convention: str) -> dict[str, Estimate]:
    """Return a two-particle function as an estimate."""
    return {name: Estimate(name, g4, np.zeros_like(g4), axes=tuple(axes), unit="1/t^2", convention=convention)}


def without_errors(values: Mapping[str, Any], labels: Mapping[str, Mapping[str, Any]]) -> dict[str, Estimate]:
    """Return exact numbers that have labels as estimates."""
    return {name: Estimate(name, np.asarray(values[name]), np.zeros_like(values[name]), **label)
            for name, label in labels.items() if name in values}

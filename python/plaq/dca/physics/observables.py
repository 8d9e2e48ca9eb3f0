"""Observables of a temperature from the bins of the solver, with errors by jackknife through the whole chain."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from plaq.data import statistics
from plaq.data.estimate import Axis, Estimate
from plaq.dca.physics.checks import HEAVY, SLOW
from plaq.dca.physics.evaluation import Evaluation
from plaq.dca.physics.orbital_pairs import OrbitalPairs
from plaq.dca.physics.pair_estimates import UNSOLVED, PairEstimates
from plaq.dca.solver import jackknife_groups
from plaq.dca.solver.ctaux import Measured
from plaq.dca.solver.distributed_g4 import DistributedEstimate, DistributedG4
from plaq.trace.session import region

PAIRS = "G4_", "lambda_", "eigenv", "chi_", "leading_", "vertex_"  # first letters of names from two-particle functions
LIGHT = "sign", "order_histogram", "eigenv", "leading_vector"  # samples may order eigenvectors anew
TAILS = "heavy tails: errors of single numbers may be several times too small"
ROUNDING = {"density": 1e-4, "spin_square": 1e-5, "charge_square": 1e-5}  # in the time series


@region("estimates")
def estimates(evaluation: Evaluation, measured: Measured, window=0, channels=(), starmap=itertools.starmap,
              distributed: DistributedG4 | None = None, between: Callable[[], None] = lambda: None, samples=False,
              exchanged=()) -> dict[str, Estimate | DistributedEstimate]:
    """Return all observables of a temperature by name; see docs/conventions.md for each formula.

    channels : two-particle functions (kind, transfer index, bosonic index) asked for; `measured` has those of
    `measured_functions`, of these and of ``exchanged``.
    starmap : evaluates the samples of two-particle functions; ranks that all have `measured` may share them
    (Communicator.starmap). With ``distributed`` they always share them, and return these functions as
    `DistributedEstimate`.
    between : called on all ranks after each sample; an exception from it ends the work.
    samples : whether two-particle functions keep their jackknife samples.
    exchanged : further functions that are measured, for the decomposition of the pairing vertex; none: it is left out.
    """
    taus = autocorrelation(measured, evaluation.equations.series_columns)
    slowest = max((taus[name] for name in SLOW if name in taus), default=None)
    independent = measured.chains >= len(measured.weights)  # each bin has chains of its own, however short
    fewest = jackknife_groups.FEWEST_GROUPS if independent else statistics.MINIMUM_BINS
    note = statistics.unsupported(measured.weights, measured.sign, None if independent else slowest, measured.parts,
                                  measured.chains, fewest)
    on_ranks = with_breaks(distributed.starmap if distributed else starmap, between)
    results = {}

    def add(labels, function, *binned):
        resampled = statistics.jackknife(function, measured.norm, *binned, weights=measured.weights,
                                         chains=measured.chains)
        for name, value in resampled.items():
            if name in labels:
                unsolved = "" if np.all(np.isfinite(value.error)) else UNSOLVED
                results[name] = value.estimate(name, tau_int=taus.get(name), note=note or unsolved, **labels[name])

    names = list(measured.correlations)
    equations = evaluation.equations
    bath = measured.in_bath(evaluation.g0, evaluation.sigma_0, equations.algebra).bath
    bath_sums = bath.ratio, bath.inverse_g0
    add(equations.labels(evaluation), lambda w, g, f, s, order, *sums: equations.single_particle(
        *evaluation.sample(w, g, f), s, order / s, {name: value / w for name, value in zip(names, sums)}),
        *bath_sums, measured.sign, measured.order, *measured.correlations.values())
    for name, least in equations.least_errors(evaluation, measured.weights.sum()).items():
        results[name] = replace(results[name], error=np.maximum(results[name].error, least))
    histogram = statistics.jackknife(lambda h: h, measured.histogram, weights=measured.weights)
    axes = [Axis("k", np.arange(measured.histogram.shape[1]))]
    results["order_histogram"] = histogram.estimate("order_histogram", axes, note=note,
                                                    convention="probability of k vertices, not weighted by the sign")
    if measured.pairing is not None or channels:
        pairs = OrbitalPairs if evaluation.model.general else PairEstimates
        results |= pairs(evaluation, measured, window, channels, on_ranks, distributed, note, samples, exchanged).all()
    return marked(equations.without_noise(results, evaluation))


def autocorrelation(measured, columns):
    """Return integrated autocorrelation times {name: measurements} of all series that are not constant.

    A time is inf where the series is too short. Where most configurations have no vertex, which makes a chain forget
    everything, such a series is left out. With particle-hole symmetry the density may be 1 in every configuration, up
    to rounding: that series counts as constant.
    """
    changing = {name: measured.series[..., i] for i, name in enumerate(columns)
                if np.ptp(measured.series[..., i]) > ROUNDING.get(name, 0)}
    times = {name: statistics.autocorrelation_time(series)[0] for name, series in changing.items()}
    forgets = measured.histogram[:, 0].mean() > 0.5
    return {name: time for name, time in times.items() if np.isfinite(time) or not forgets}


def sweeps_between_independent(measured, columns, sweeps_per_measurement):
    """Return the decay time in sweeps of the slowest of `SLOW`, ⟨k⟩ aside; None where it is not known.

    A correlation exp(-t/tau) sampled every e sweeps has the integrated time 1/2 coth(e / 2 tau), which gives tau.
    """
    times = autocorrelation(measured, columns)
    known = [times[name] for name in SLOW if name != "expansion_order" and np.isfinite(times.get(name, np.inf))]
    if not known:
        return None
    integrated = max(*known, 0.501)  # 1/2 is no correlation at all
    return float(sweeps_per_measurement / (2 * np.arctanh(1 / (2 * integrated))))


def marked(estimates):
    """Return the estimates with a note on those that have heavy tails.

    If a two-particle function or its eigenvalue has them, all of these get the note: the same configurations make all
    large, and chance decides which number shows it.
    """
    heavy = {name for name, e in estimates.items() if (getattr(e, "kurtosis", None) or 0.0) > HEAVY
             and not name.startswith(LIGHT)}
    pairs = {name for name in estimates if name.startswith(PAIRS)}
    heavy |= pairs if heavy & pairs else set()
    return {name: replace(e, note=TAILS) if name in heavy and not e.note else e for name, e in estimates.items()}


def with_breaks(starmap, between):
    """Return ``starmap`` with a call of ``between`` after each of its values."""
    def mapped(function, samples):
        for value in starmap(function, samples):
            between()
            yield value

    return mapped

"""Counters of a trace as curves: one strip for each name, and totals as rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaq.trace.model import Counter, Trace
from plaq.trace.samples import known_samples

Curve = tuple[np.ndarray, np.ndarray]  # times in ns, values


@dataclass(frozen=True)
class Strip:
    """All counters of one name, with a label each."""

    name: str
    unit: str
    curves: list[Curve]
    labels: list[str]


def strips_of(trace: Trace) -> list[Strip]:
    """Return the strips: those that change first; workers before processes and threads."""
    by_name: dict[str, list[Counter]] = {}
    for counter in trace.counters:
        by_name.setdefault(counter.name, []).append(counter)
    places = []
    for name, counters in by_name.items():
        samples = [known_samples(counter) for counter in counters]
        changing = any(len(value) and np.ptp(value) > 0 for _, value in samples)
        strip = Strip(name, *as_rates(counters[0].unit, samples), [label(counter, trace) for counter in counters])
        places.append(((not changing, counters[0].worker < 0, counters[0].thread >= 0), strip))
    return [strip for _, strip in sorted(places, key=lambda place: place[0])]


def as_rates(unit: str, curves: list[Curve]) -> tuple[str, list[Curve]]:
    """Return unit and curves to show, with totals as rates.

    Counters of events or seconds since the beginning are shown as events per s, or seconds per s in %. Such a counter
    never falls, and events are whole numbers.
    """
    grown = [np.diff(value) for _, value in curves]
    never_fall = all((part >= 0).all() for part in grown) and any((part > 0).any() for part in grown)
    whole = all((value == np.rint(value)).all() for _, value in curves)
    if never_fall and unit == "s":
        return "%", [rate(*curve, 100.0) for curve in curves]
    if never_fall and unit == "1" and whole:
        return "1/s", [rate(*curve, 1.0) for curve in curves]
    return unit, curves


def rate(time: np.ndarray, value: np.ndarray, factor: float) -> Curve:
    """Return `factor` times the increment per s since the previous sample, for all samples but the first."""
    later = np.flatnonzero(np.diff(time) > 0)
    return time[1:][later], factor * 1e9 * np.diff(value)[later] / np.diff(time)[later]


def label(counter: Counter, trace: Trace) -> str:
    """Return the owner of a counter."""
    parts = [f"rank {counter.rank}"] if len(trace.ranks) > 1 else []
    if counter.worker >= 0:
        parts.append(f"worker {counter.worker}")
    elif counter.thread >= 0:
        info = next(info for info in trace.ranks if info.rank == counter.rank)
        parts.append(info.threads[counter.thread])
    return ", ".join(parts) or "process"

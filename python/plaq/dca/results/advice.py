"""Advice on the next step, in a sentence each: repairs first, then improvements of the answer."""

from __future__ import annotations

import numpy as np

from plaq.dca.parameters import Parameters
from plaq.dca.physics import checks
from plaq.dca.physics.instabilities import Instability
from plaq.dca.physics.point import Point
from plaq.dca.results.results import Results

PRECISE = 0.02  # relative error of a transition temperature that asks for no more
WEAK_SIGN = 0.2
MOST = 4  # sentences
WHERE = {"<": "below", ">": "above"}


def advice(results: Results, p: Parameters) -> list[str]:
    """Return sentences, the most urgent first; never empty."""
    if not results.points:
        return ["No temperature is finished: give the same command again, it resumes where it stopped."]
    sentences = [*repairs(results, p), *remaining(results, p), *improvements(results)]
    return (sentences[:MOST]
            or ["All checks have passed: another seed shows their scatter, a larger cluster how "
                "they depend on its size."])


def repairs(results: Results, p: Parameters) -> list[str]:
    """Return a remedy for each failed check."""
    sentences = []
    where = lambda wrong: temperatures([point for point in results.points if wrong(point)])  # noqa: E731
    if at := where(checks.violated):
        sentences.append(f"The check of ⟨k⟩ fails at {at}: do not use it; run it again with another solver.seed"
                    + (' and solver.precision = "double".' if p.solver.precision != "double" else "."))
    if at := where(lambda point: checks.converged(point) is False):
        keys = {checks.key_of_convergence(point) for point in results.points if checks.converged(point) is False}
        now = {"dca.iterations": p.dca.iterations, "dca.minimum_iterations": p.dca.minimum_iterations}
        sentences.append(f"The loop has not converged at {at}: raise "
                    + " and ".join(f"{key} (now {now[key]})" for key in sorted(keys)) + ".")
    if at := where(lambda point: not checks.mixes(point)):
        sentences.append(f"The chains do not mix at {at}: raise solver.measurements or solver.measure_every, "
                    f"so that each of the {p.solver.chains} chains is many autocorrelation times long.")
    elif at := where(checks.disagreement):
        sentences.append(f"The chains disagree at {at}, each stays where it is for longer than its bins: raise "
                    "solver.measurements until they agree; error bars are meanwhile those between chains.")
    elif at := where(lambda point: "energy" in point and not point["energy"].supported):
        sentences.append(f"The data do not support error bars at {at}: measure more there.")
    if at := where(checks.heavy_tails):
        sentences.append(f"Single bins decide numbers at {at}: other seeds (solver.seed) show how far off these are, "
                         "more measurements make it rarer.")
    if at := where(lambda point: checks.density_is_off(point, p.dca.density)):
        sentences.append(f"The density is off at {at}: more iterations or measurements bring μ and n together.")
    if at := where(lambda point: "sign" in point and abs(float(point["sign"].mean)) < WEAK_SIGN):
        sentences.append(f"The average sign is below {WEAK_SIGN:g} at {at}, and errors grow as 1/sign: stay at higher "
                    "temperatures, nearer to half filling, or on a smaller cluster.")
    return sentences


def remaining(results: Results, p: Parameters) -> list[str]:
    """Return the part of the input that is not done yet, as a sentence."""
    left = len(p.dca.temperatures) - len(results.points)
    return ([f"{left} of {len(p.dca.temperatures)} temperatures are not done: the same command resumes the run."]
            if left > 0 else [])


def improvements(results: Results) -> list[str]:
    """Return improvements of the answers: for T_c, or else the nearest order, and for all transitions found."""
    orders = results.instabilities()
    chosen = orders[:1] if orders and orders[0].is_pairing else nearest(orders, results)
    chosen += [order for order in orders if order.status == "found" and order not in chosen]
    sentences = [text for order in chosen if (text := improvement(order))]
    coldest = min((p for p in results.points if "lambda_window" in p), key=lambda p: p.T, default=None)
    if coldest is not None and len(coldest["lambda_window"].mean) > 1:
        inner, whole = coldest["lambda_window"].mean[-2:]
        if abs(whole - inner) > max(2 * float(coldest["lambda_d"].error), 1e-3):
            sentences.append(f"At T = {coldest.T:g} λ_d still changes by {abs(whole - inner):.2g} with the "
                        "frequency window: raise two_particle.frequencies.")
    return sentences


def nearest(orders: list[Instability], results: Results) -> list[Instability]:
    """Return the order with the largest eigenvalue of all, as a list; empty without any."""
    top = lambda order: np.nanmax(np.append(results.series(order.observable)[1], -np.inf))  # noqa: E731
    return [max(orders, key=top)] if orders else []


def improvement(order: Instability) -> str:
    """Return an improvement for one order; empty where its temperature is known well enough."""
    if order.transition is None:
        return f"One temperature has {order.label}: measure it at a second one, and {order.symbol} is determined."
    if order.status == "bound":
        side, T = order.outside
        return f"{order.label} {side} 1 at every temperature: add temperatures {WHERE[side]} {T:g}."
    value, error = order.transition.value, order.transition.error
    if not np.isfinite(error):
        return f"{order.symbol} has no error bar: measure more."
    if error > PRECISE * value:
        times = (error / (PRECISE * value)) ** 2
        return (f"{order.symbol} is known to {100 * error / value:.0f} %: {times:.0f} times as many "
                f"measurements near it would give {100 * PRECISE:.0f} %.")
    return ""


def temperatures(points: list[Point]) -> str:
    """Return ``T = 0.1, 0.08``; empty for none."""
    return "T = " + ", ".join(f"{point.T:g}" for point in points) if points else ""

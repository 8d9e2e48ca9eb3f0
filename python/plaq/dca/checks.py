"""What every run checks of itself: <k> = K + beta U N_c (n/2 - D) (docs/conventions.md), and the walker's drift."""

from __future__ import annotations

from plaq.dca.results import Point

LIMIT = 4.0  # standard errors: a correct run exceeds them once in 16 000 temperatures


def deviation(point: Point) -> float | None:
    """`order_identity`, which must be 0, in standard errors; None where it was not measured or has no error."""
    if "order_identity" not in point or not point["order_identity"].supported:
        return None
    found = point["order_identity"]
    if found.mean == 0:
        return 0.0
    return float(found.mean / found.error) if found.error > 0 else float("inf")


def violated(point: Point) -> bool:
    """Whether the identity fails at this temperature."""
    found = deviation(point)
    return found is not None and not abs(found) <= LIMIT


def in_words(point: Point) -> str:
    """``check <k>: 0.14(11), drift 2e-11``; empty where there is nothing to check."""
    if "order_identity" not in point:
        return ""
    text = f"check <k>: {point['order_identity']}"
    drift = point.history[-1].get("drift") if point.history else None
    if drift is not None:
        text += f", drift {drift:.1g}"
    if violated(point):
        text += f" -- FAILED: {abs(deviation(point)):.1f} standard errors from 0, do not trust this temperature"
    return text

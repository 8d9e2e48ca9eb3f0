"""Maps of elements on a trace's page: their ranks, moves and loads."""

from __future__ import annotations

from html import escape

import numpy as np

from plaq.trace.elements import Elements
from plaq.trace.model import Trace
from plaq.trace.palette import FILLS
from plaq.trace.profile import time_text

MOMENTS = 5
MOST = 128 * 128  # points of a map
SIZE = 150  # pixels of the longer side


def maps(collections: list[Elements], trace: Trace) -> str:
    """Return HTML: a heading for each collection on a mesh of one or two dimensions, with its maps."""
    return "".join(maps_of(elements, trace) for elements in collections)


def maps_of(elements: Elements, trace: Trace) -> str:
    wide = elements.index[:, elements.index.any(0)]  # a mesh may have three dimensions and be flat
    index = np.concatenate([wide, np.zeros((len(wide), 2), int)], 1)[:, : max(2, wide.shape[1])]
    width, height = index[:, 0].max() + 1, index[:, 1].max() + 1
    head = f"<h2>Elements of {escape(elements.name)}</h2>"
    if index.shape[1] > 2 or width * height > MOST:
        return f'<div>{head}<p class="note">{len(index)} elements, too many for a map of {MOST} points.</p></div>'
    moved_at, _, moved = elements.moves()
    times = np.linspace(0, trace.duration, MOMENTS + 1)
    figures = []
    for k in range(MOMENTS + 1):
        since = moved[(moved_at > times[k - 1]) & (moved_at <= times[k])] if k else moved[:0]
        words = (f"{time_text(times[k])}: I = {imbalance(elements, times[k - 1], times[k], trace):.2f}" if k
                 else "the beginning")
        figures.append(figure(picture(index, elements.ranks_at(times[k]), since, width, height), words))
    seconds = elements.seconds()
    figures.append(figure(heat(index, seconds / max(seconds.max(), 1e-300), width, height),
                        f"time, at most {time_text(seconds.max())}"))
    note = (f"{len(index)} elements, {len(moved)} moves. Colours are ranks; dots are elements that have moved "
            "since the previous map. I = max/mean − 1 of the ranks' loads between two maps. The last map shows how "
            "long each has run.")
    return f'<div>{head}<div class="maps">{"".join(figures)}</div><p class="note">{note}</p></div>'


def imbalance(elements: Elements, begin: float, end: float, trace: Trace) -> float:
    """Return max/mean - 1 over the ranks of the time that elements ran between two moments."""
    inside = np.clip(elements.end, begin, end) - np.clip(elements.begin, begin, end)
    position = {info.rank: k for k, info in enumerate(trace.ranks)}
    loads = np.bincount([position[rank] for rank in elements.rank.tolist()], inside, len(trace.ranks))
    return float(loads.max() / loads.mean() - 1) if loads.sum() > 0 else 0.0


def picture(index: np.ndarray, rank: np.ndarray, moved: np.ndarray, width: int, height: int) -> str:
    parts = []
    for r in np.unique(rank[rank >= 0]).tolist():
        squares = "".join(f"M{x} {height - 1 - y}h1v1h-1z" for x, y in index[rank == r].tolist())
        opacity = 1 - 0.35 * (r // len(FILLS) % 3)
        parts.append(f'<path fill="{FILLS[r % len(FILLS)]}" fill-opacity="{opacity:.2f}" '
                     f'd="{squares}"><title>rank {r}</title></path>')
    dots = "".join(f"M{x + 0.35:g} {height - 0.65 - y:g}h.3v.3h-.3z" for x, y in index[moved].tolist())
    if dots:
        parts.append(f'<path class="moved" fill="#000" d="{dots}"/>')
    return svg(parts, width, height)


def heat(index: np.ndarray, share: np.ndarray, width: int, height: int) -> str:
    level = np.rint(10 * share).astype(int)
    parts = []
    for k in np.unique(level).tolist():
        squares = "".join(f"M{x} {height - 1 - y}h1v1h-1z" for x, y in index[level == k].tolist())
        parts.append(f'<path fill="{FILLS[1]}" fill-opacity="{0.05 + 0.095 * k:.3f}" d="{squares}"/>')
    return svg(parts, width, height)


def svg(parts: list[str], width: int, height: int) -> str:
    scale = SIZE / max(width, height)
    return (f'<svg role="img" width="{scale * width:.0f}" height="{max(scale * height, 8):.0f}" '
            f'viewBox="0 0 {width} {height}" preserveAspectRatio="none" '
            f'shape-rendering="crispEdges">{"".join(parts)}</svg>')


def figure(drawing: str, words: str) -> str:
    return f"<figure>{drawing}<figcaption>{escape(words)}</figcaption></figure>"

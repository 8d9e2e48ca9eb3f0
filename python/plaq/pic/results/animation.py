"""Animation of a field or density, which the page draws itself (animation.js), without a network.

Values are sent as one byte each, 256 steps between the least and the largest of all times.
"""

from __future__ import annotations

import json
from base64 import b64encode
from html import escape
from pathlib import Path

import numpy as np
from matplotlib import colormaps

from plaq.data.estimate import Axis
from plaq.data.recorded import Recorded
from plaq.pic.results.figures import SCALE, SIGNED

FEWEST = 6  # times of an animation; fewer pictures stand side by side


def is_animated(recorded: Recorded) -> bool:
    return len(recorded.axis("time")) >= FEWEST


def animation(recorded: Recorded, title: str) -> str:
    """Return HTML of a figure with a slider and a button, which opens on the last time.

    ``recorded`` is [time, x] or [time, x, y].
    """
    low, high = float(recorded.values.min()), float(recorded.values.max())
    if low < 0:
        low, high = -max(-low, high), max(-low, high)
    else:
        low = 0.0
    steps = np.rint(255 * (recorded.values - low) / ((high - low) or 1.0)).astype(np.uint8)
    colours = (255 * colormaps[SIGNED if low < 0 else SCALE](np.arange(256))[:, :3]).astype(np.uint8)
    times, axes = recorded.axis("time"), recorded.axes[1:]
    data = {"nx": axes[0].size, "ny": axes[1].size if len(axes) == 2 else 1, "times": [f"{t:.4g}" for t in times],
            "x": [ends(axes[0], i) for i in range(len(times))],
            "names": [f"{axis.name} / ({axis.unit})" for axis in axes],
            "low": low, "high": high or 1.0,
            "values": b64encode(steps.tobytes()).decode(), "colours": b64encode(colours.tobytes()).decode()}
    if len(axes) == 2:
        data["y"] = ends(axes[1], 0)
        data["names"][1] = axes[1].name
        wide, tall = (last - first for first, last in (data["x"][0], data["y"]))
        data["ratio"] = wide / tall
    spans = ", ".join(span(axis, data["times"]) for axis in axes)
    caption = f"{spans}; {low:.4g} to {high:.4g} {recorded.unit}; {recorded.convention}."
    script = Path(__file__).with_name("animation.js").read_text().replace("DATA", json.dumps(data))
    last = len(times) - 1
    return (f'<figure class="wide"><h3>{escape(title)}</h3><div class="drawing"><canvas '
            f'style="width:100%;max-width:44rem"></canvas><div><button type="button">play</button> <input type="range" '
            f'min="0" max="{last}" value="{last}" autocomplete="off" aria-label="time"> <output></output></div>'
            f"<script>{script}</script></div><figcaption>{escape(caption)}</figcaption></figure>")


def ends(axis: Axis, time: int) -> list[float]:
    """Return the bounds of an axis at a time: the low edge of its first cell and the high edge of its last."""
    values = axis.at(time)
    half = (values[-1] - values[0]) / (2 * (len(values) - 1)) if len(values) > 1 else 0.5
    return [float(values[0] - half), float(values[-1] + half)]


def span(axis: Axis, times: list[str]) -> str:
    """Return the range of an axis in words, at the first and the last time."""
    first, last = (axis.at(i) for i in (0, -1))
    words = f"{axis.name} from {first[0]:.4g} to {first[-1]:.4g}"
    if np.array_equal(first, last):
        return words
    return f"{words} at t = {times[0]}, from {last[0]:.4g} to {last[-1]:.4g} at t = {times[-1]}"

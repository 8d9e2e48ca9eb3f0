"""Animation of a field or density, which the page draws itself (animation.js), without a network.

Values are sent as one byte each, 256 steps between the least and the largest of all times.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib import colormaps

from plaq.data.display import NUMBERS, Drawing, block, head
from plaq.data.estimate import Axis
from plaq.data.page import markup
from plaq.data.recorded import Recorded
from plaq.pic.results.figures import SCALE, SIGNED, pictures

FEWEST = 6  # times of an animation; fewer pictures stand side by side


def is_animated(recorded: Recorded) -> bool:
    return len(recorded.axis("time")) >= FEWEST


@dataclass(frozen=True, repr=False)
class Animation(Drawing):
    """Pictures at many times, of which a page and a notebook show one at a time."""

    recorded: Recorded | None = None

    def html(self) -> str:
        return (f'<figure class="wide"><h3>{markup(self.title)}</h3>{player(self.recorded, self.recorded.name)}'
                f"<figcaption>{markup(caption(self.recorded))}</figcaption></figure>")

    def content(self) -> str:
        return f"{player(self.recorded, f'plaq{next(NUMBERS)}')}<p>{markup(caption(self.recorded))}</p>"

    def _repr_html_(self) -> str:
        return block(head(self.title), self.content())


def animate(recorded: Recorded) -> Animation:
    """Return a record at several times as an animation. KeyError if it is no picture."""
    if not recorded.name.startswith("picture_"):
        raise KeyError(f"{recorded.name} is no picture; output.pictures is their number")
    return Animation(pictures(recorded), title_of(recorded.name), wide=True, recorded=recorded)


def title_of(name: str) -> str:
    """Return the title of a picture: ``Density of ions``, ``E_x``."""
    name = name.removeprefix("picture_")
    if name.startswith("density_"):
        return f"Density of {name.removeprefix('density_')}"
    return "Potential φ" if name == "phi" else f"{name[0].upper()}_{name[1]}"


def player(recorded: Recorded, name: str) -> str:
    """Return HTML of a picture with a slider and a button, which opens on the last time.

    ``recorded`` is [time, x] or [time, x, y]; ``name`` is that of its element on the page.
    """
    low, high = limits(recorded)
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
    script = Path(__file__).with_name("animation.js").read_text()
    script = script.replace("DATA", json.dumps(data)).replace("NAME", json.dumps(name))
    last = len(times) - 1
    return (f'<div class="drawing" id="{name}"><canvas style="width:100%;max-width:44rem"></canvas><div>'
            f'<button type="button">play</button> <input type="range" min="0" max="{last}" value="{last}" '
            f'autocomplete="off" aria-label="time"> <output></output></div><script>{script}</script></div>')


def caption(recorded: Recorded) -> str:
    """Return ranges of axes and values, the unit and the formula."""
    times = [f"{t:.4g}" for t in recorded.axis("time")]
    spans = ", ".join(span(axis, times) for axis in recorded.axes[1:])
    low, high = limits(recorded)
    return f"{spans}; {low:.4g} to {high:.4g} {recorded.unit}; {recorded.convention}."


def limits(recorded: Recorded) -> tuple[float, float]:
    """Return the range of colours: symmetric about 0 if some values are negative, else from 0."""
    low, high = float(recorded.values.min()), float(recorded.values.max())
    return (-max(-low, high), max(-low, high)) if low < 0 else (0.0, high)


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

"""Pictures of a field or density that follow each other: drawn by the page itself, without a network.

Values are sent as one byte each, 256 steps between the least and the largest of all times.
"""

from __future__ import annotations

import json
from base64 import b64encode
from html import escape

import matplotlib.pyplot as plt
import numpy as np

from plaq.data.recorded import Recorded
from plaq.pic.figures import SCALE, SIGNED

FEWEST = 6  # times, below which pictures stand side by side

SCRIPT = """{
const box = document.currentScript.parentElement, d = DATA;
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const values = bytes(d.values), colours = bytes(d.colours), \
canvas = box.querySelector("canvas"), pen = canvas.getContext("2d");
const slider = box.querySelector("input"), words = box.querySelector("output"), button = box.querySelector("button");
const size = d.nx * d.ny;
function show() {
  const from = slider.value * size;
  if (d.ny > 1) {
    const image = pen.createImageData(d.nx, d.ny);
    for (let y = 0; y < d.ny; y++) for (let x = 0; x < d.nx; x++) {
      const to = 4 * (x + d.nx * (d.ny - 1 - y)), c = 3 * values[from + x * d.ny + y];
      for (let i = 0; i < 3; i++) image.data[to + i] = colours[c + i];
      image.data[to + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
  } else {
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.strokeStyle = getComputedStyle(canvas).color;
    pen.beginPath();
    for (let x = 0; x < d.nx; x++) pen.lineTo((x + 0.5) * canvas.width / d.nx, \
(1 - values[from + x] / 255) * (canvas.height - 2) + 1);
    pen.stroke();
  }
  words.textContent = "t = " + d.times[slider.value];
}
let timer = null;
function stop() { clearInterval(timer); timer = null; button.textContent = "play"; }
button.onclick = () => {
  if (timer) return stop();
  button.textContent = "stop";
  timer = setInterval(() => { slider.value = (+slider.value + 1) % d.times.length; show(); }, 120);
};
slider.oninput = show;
show();
}"""


def is_animated(one: Recorded) -> bool:
    return len(one.axis("time")) >= FEWEST


def animation(one: Recorded, title: str) -> str:
    """A figure with a slider and a button, HTML. ``one``: [time, x] or [time, x, y]."""
    low, high = float(one.values.min()), float(one.values.max())
    if low < 0:
        low, high = -max(-low, high), max(-low, high)
    else:
        low = 0.0
    steps = np.rint(255 * (one.values - low) / ((high - low) or 1.0)).astype(np.uint8)
    colours = (255 * plt.get_cmap(SIGNED if low < 0 else SCALE)(np.arange(256))[:, :3]).astype(np.uint8)
    nx, ny = one.values.shape[1], one.values.shape[2] if one.values.ndim == 3 else 1
    data = {"nx": nx, "ny": ny, "times": [f"{t:.4g}" for t in one.axis("time")],
            "values": b64encode(steps.tobytes()).decode(), "colours": b64encode(colours.tobytes()).decode()}
    axes = one.axes[1:]
    spans = [f"{axis.name} from {axis.values[0]:.4g} to {axis.values[-1]:.4g}" for axis in axes]
    if ny > 1:
        wide = axes[1].values[-1] - axes[1].values[0]
        shape = f'width="{nx}" height="{ny}"'
        ratio = (axes[0].values[-1] - axes[0].values[0]) / (wide or 1.0)
    else:
        shape, ratio = 'width="640" height="240"', 640 / 240
    look = (f"width:100%;max-width:40rem;aspect-ratio:{ratio:.4g};image-rendering:pixelated;border:1px solid "
            "currentColor;opacity:.95")
    caption = f"{', '.join(spans)}; {low:.4g} to {high:.4g} {one.unit}; {one.convention}."
    return (f'<figure class="wide"><h3>{escape(title)}</h3><div class="drawing"><canvas {shape} '
            f'style="{look}"></canvas><div><button type="button">play</button> <input type="range" min="0" '
            f'max="{len(steps) - 1}" value="0" aria-label="time"> '
            f"<output></output></div><script>{SCRIPT.replace('DATA', json.dumps(data))}</script></div>"
            f"<figcaption>{escape(caption)}</figcaption></figure>")

"""How quick the page of a large trace is in a browser: `python benchmarks/trace/page.py [events] [folder]`.

A made-up trace of about that many events (default 10^6) on 2 ranks of 4 workers is written as a page into the folder
(default: a temporary one) and opened in headless Chromium at 1500 x 1100. A zoom is timed from the event of the wheel
to the second frame after it, which shows the new picture; that holds at least one frame of waiting (16.7 ms at 60 Hz).
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "tests" / "trace"))

from browser import Browser
from synthetic_trace import synthetic

from plaq.trace.report import write_report

REPEATS = 15
HOOK = """addEventListener("wheel", () => {
  const start = performance.now();
  requestAnimationFrame(() => requestAnimationFrame(() => (globalThis.took = performance.now() - start)));
}, { capture: true, passive: true })"""


def zoom(browser, part):
    """Median and worst ms of a zoom by 5 % when `part` of the time axis is shown, and median of the drawing alone."""
    times, drawn = [], []
    for k in range(REPEATS):
        browser.evaluate(f"page.view.fit(); page.view.zoom({part}); took = null")
        browser.frame()
        browser.wheel(700, 400, 20 if k % 2 and part < 1 else -20)
        browser.wait_for("took !== null")
        times.append(browser.evaluate("took"))
        drawn.append(
            browser.evaluate(
                "(() => { const t = performance.now(); page.draw(); return performance.now() - t })()"
            )
        )
    return statistics.median(times), max(times), statistics.median(drawn)


def main():
    events = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(sys.argv[2] if len(sys.argv) > 2 else temporary) / "report.html"
        trace = synthetic(events, 2, 4)
        start = time.perf_counter()
        write_report(trace, path)
        took, size, slices = time.perf_counter() - start, path.stat().st_size, len(trace.slices)
        print(f"{events} events, {slices} slices, {len(trace.regions)} regions, {len(trace.links)} links")
        print(f"written in {took:.1f} s, {size / 1e6:.1f} MB, {size / slices:.1f} bytes per slice")
        with Browser(1500, 1100) as browser:
            start = time.perf_counter()
            browser.open(path)
            print(f"open and drawn after {time.perf_counter() - start:.2f} s")
            browser.evaluate(f"globalThis.took = null; {HOOK}")
            for part in (1, 0.3, 0.1, 0.01, 0.001):
                middle, worst, drawing = zoom(browser, part)
                print(
                    f"zoom at {part:<6g}{middle:6.0f} ms, worst {worst:4.0f} ms, of which drawing {drawing:5.1f} ms"
                )


if __name__ == "__main__":
    main()

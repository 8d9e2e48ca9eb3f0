// Counters as curves, one strip for each name, on the time axis of the timeline.

const STRIP = 74,
  STRIP_PAD = 11;

class Curves {
  constructor(meta, columns, timeline, looks) {
    Object.assign(this, { timeline, looks });
    this.canvas = document.getElementById("curves");
    let at = 0;
    this.strips = meta.strips.map(({ name, unit, series }) => {
      const made = series.map(({ label, length, step }) => {
        const time = columns.counter_time.subarray(at, at + length);
        const value = columns.counter_value.subarray(at, at + length).map((units) => units * step);
        at += length;
        return { label, time, value };
      });
      return { name, unit, series: made, ...bounds(made) };
    });
    this.chosen = new Set(this.strips.slice(0, 3));
  }

  get shown() {
    return this.strips.filter((strip) => this.chosen.has(strip));
  }

  resize(width) {
    sizeCanvas(this.canvas, width, this.shown.length * STRIP);
  }

  colour(strip, index) {
    return strip.series.length <= this.looks.series.length ? this.looks.series[index] : this.looks.theme.accent;
  }

  draw() {
    const { ctx } = pen(this.canvas),
      { theme } = this.looks;
    ctx.clearRect(0, 0, this.timeline.width, this.shown.length * STRIP);
    this.shown.forEach((strip, row) => {
      const top = row * STRIP + STRIP_PAD,
        bottom = (row + 1) * STRIP - 5;
      ctx.fillStyle = theme.line;
      ctx.fillRect(GUTTER, bottom, this.timeline.plotWidth, 1);
      ctx.fillRect(GUTTER, top, this.timeline.plotWidth, 0.5);
      this.label(ctx, strip, top, bottom);
      ctx.save();
      ctx.beginPath();
      ctx.rect(GUTTER, top - 2, this.timeline.plotWidth, bottom - top + 4);
      ctx.clip();
      ctx.globalAlpha = strip.series.length > this.looks.series.length ? 0.45 : 0.95;
      strip.series.forEach((series, index) => {
        ctx.strokeStyle = this.colour(strip, index);
        this.line(
          ctx,
          series,
          (value) => bottom - ((value - strip.low) / (strip.high - strip.low)) * (bottom - top),
        );
      });
      ctx.restore();
    });
  }

  label(ctx, strip, top, bottom) {
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.font = `10px ${FONT}`;
    ctx.fillStyle = this.looks.theme.soft;
    ctx.fillText(valueText(strip.high, strip.unit), GUTTER - 10, top);
    ctx.fillText(valueText(strip.low, strip.unit), GUTTER - 10, bottom - 2);
    ctx.font = `12px ${FONT}`;
    ctx.fillStyle = this.looks.theme.ink;
    const lines = inTwo(ctx, strip.name, GUTTER - 14);
    lines.forEach((text, k) =>
      ctx.fillText(text, GUTTER - 10, (top + bottom) / 2 + 14 * (k - (lines.length - 1) / 2)),
    );
    ctx.textAlign = "left";
  }

  // A line through the samples; where several fall on one pixel, from the lowest to the highest of them.
  line(ctx, { time, value }, y) {
    const { view } = this.timeline;
    let i = Math.max(0, firstAtOrAfter(time, view.begin) - 1);
    const last = Math.min(time.length - 1, firstAtOrAfter(time, view.end));
    ctx.lineWidth = 1.3;
    ctx.lineJoin = "round";
    ctx.beginPath();
    while (i <= last) {
      const x = this.timeline.x(time[i]);
      let low = value[i],
        high = value[i];
      ctx.lineTo(x, y(value[i]));
      for (i++; i <= last && this.timeline.x(time[i]) < x + 0.7; i++) {
        if (value[i] < low) low = value[i];
        if (value[i] > high) high = value[i];
      }
      if (high > low) {
        ctx.lineTo(x, y(low));
        ctx.lineTo(x, y(high));
        ctx.lineTo(x, y(value[i - 1]));
      }
    }
    ctx.stroke();
  }

  // The strip at a height of the canvas and the latest values of its series at a time.
  at(y, time) {
    const strip = this.shown[Math.floor(y / STRIP)];
    if (!strip) return null;
    const values = strip.series.map(({ label, time: times, value }, index) => {
      const place = firstAtOrAfter(times, time + 1e-9) - 1;
      return {
        label,
        colour: this.colour(strip, index),
        text: place < 0 ? "–" : valueText(value[place], strip.unit),
      };
    });
    return { strip, values };
  }
}

// Range of a strip from top to bottom: all values, and 0 unless it is far away.
function bounds(series) {
  let low = Infinity,
    high = -Infinity;
  for (const { value } of series) {
    for (const one of value) {
      if (one < low) low = one;
      if (one > high) high = one;
    }
  }
  if (low > 0 && low < 0.5 * high) low = 0;
  if (high > low) return { low, high };
  const only = Number.isFinite(high) ? high : 0;
  return only ? { low: Math.min(only, 0), high: Math.max(only, 0) } : { low: 0, high: 1 };
}

function firstAtOrAfter(sorted, value) {
  let low = 0,
    high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function inTwo(ctx, text, width) {
  if (ctx.measureText(text).width <= width) return [text];
  const words = text.split(" ");
  let first = words.shift();
  while (words.length && ctx.measureText(`${first} ${words[0]}`).width <= width) first += ` ${words.shift()}`;
  return [first, words.join(" ")].filter(Boolean).map((line) => shortened(ctx, line, width));
}

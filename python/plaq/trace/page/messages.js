// Messages between ranks, as lines from the lane of the sender to that of the receiver.

const MOST_MESSAGES = 3000; // in view; of more, every second, third, ... is drawn
const NEAR = 4; // px

class Messages {
  constructor(model, columns) {
    const sent = columns.message_sent; // ascending
    Object.assign(this, {
      lanes: model.lanes,
      sent,
      received: columns.message_takes.map((time, k) => sent[k] + time), // an error of the clocks may make it earlier
      from: columns.message_from,
      to: columns.message_to,
      bytes: columns.message_bytes,
      shown: true,
    });
    this.longest = columns.message_takes.reduce((most, time) => Math.max(most, Math.abs(time)), 0);
    this.drawn = [];
  }

  // First message that was sent at `time` or later.
  firstFrom(time) {
    let low = 0,
      high = this.sent.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sent[middle] >= time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  inView({ begin, end }) {
    const found = [];
    for (let k = this.firstFrom(begin - this.longest); k < this.sent.length && this.sent[k] - this.longest < end; k++)
      if (Math.max(this.sent[k], this.received[k]) >= begin && Math.min(this.sent[k], this.received[k]) <= end)
        found.push(k);
    return found;
  }

  draw(ctx, timeline) {
    const inView = this.shown ? this.inView(timeline.view) : [];
    this.step = Math.ceil(inView.length / MOST_MESSAGES) || 1;
    this.drawn = inView.filter((_, place) => place % this.step === 0).map((k) => this.line(k, timeline));
    ctx.save();
    ctx.beginPath();
    ctx.rect(GUTTER, 0, timeline.plotWidth, timeline.height);
    ctx.clip();
    ctx.strokeStyle = ctx.fillStyle = timeline.looks.theme.accent;
    ctx.lineWidth = 1;
    ctx.globalAlpha = this.drawn.length > 300 ? 0.45 : 0.85;
    ctx.beginPath();
    for (const { x0, y0, x1, y1 } of this.drawn) {
      ctx.moveTo(x0, y0);
      ctx.lineTo(x1, y1);
    }
    ctx.stroke();
    if (this.drawn.length <= 300) for (const line of this.drawn) this.head(ctx, line);
    ctx.restore();
  }

  head(ctx, { x0, y0, x1, y1 }) {
    const angle = Math.atan2(y1 - y0, x1 - x0);
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    for (const side of [-0.35, 0.35]) ctx.lineTo(x1 - 7 * Math.cos(angle + side), y1 - 7 * Math.sin(angle + side));
    ctx.closePath();
    ctx.fill();
  }

  line(k, timeline) {
    const middle = (lane) => lane.top + Math.min(lane.height, timeline.taskHeight) / 2 - timeline.scroller.scrollTop;
    return {
      k,
      x0: timeline.x(this.sent[k]),
      y0: middle(this.lanes[this.from[k]]),
      x1: timeline.x(this.received[k]),
      y1: middle(this.lanes[this.to[k]]),
    };
  }

  // The drawn message whose line passes a point of the canvas of the lanes, or null.
  at(x, y) {
    let best = null,
      least = NEAR;
    for (const { k, x0, y0, x1, y1 } of this.drawn) {
      const along = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / Math.max((x1 - x0) ** 2 + (y1 - y0) ** 2, 1);
      const t = Math.min(Math.max(along, 0), 1);
      const distance = Math.hypot(x - x0 - t * (x1 - x0), y - y0 - t * (y1 - y0));
      if (distance < least) [best, least] = [k, distance];
    }
    return best;
  }
}

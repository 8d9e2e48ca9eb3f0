// Overlay of the picture: the line under the pointer, the hovered item, the selected task and its arrows.

const MOST_ARROWS = 200;

class Overlay {
  constructor(model, timeline, curves, looks) {
    Object.assign(this, { model, timeline, curves, looks });
    this.canvas = document.getElementById("overlay");
    this.pointer = null; // {x, y} within the stage
    this.hovered = null; // {i, track}
    this.range = null; // [x0, x1] while a part is being marked
    this.chosen = null; // {begin, end} whose statistics are shown
    this.found = null; // {i, track} that the search has come to
    this.select(null);
  }

  // Selects a task: its items, arrows from its creator and the producers of its inputs, and to users of its results.
  select(task) {
    this.task = task;
    this.items = [];
    this.arrows = [];
    this.left = 0;
    if (task === null) return;
    const { link } = this.model,
      parent = this.model.task.parent[task];
    const { into, out } = this.model.linksOf(task);
    const links = [...into, ...out].sort((a, b) => link.time[a] - link.time[b]);
    this.left = Math.max(0, links.length - MOST_ARROWS);
    links.length = Math.min(links.length, MOST_ARROWS);
    const rows = new Set([
      task,
      ...(parent >= 0 ? [parent] : []),
      ...links.flatMap((k) => [link.source[k], link.target[k]]),
    ]);
    const items = this.model.itemsOf(rows, true);
    this.items = items.get(task);
    if (parent >= 0 && this.items.length) {
      const begin = this.model.item.begin[this.items[0].i],
        created = this.created();
      this.arrow("parent", items.get(parent), Number.isNaN(created) ? begin : created, this.items, begin);
    }
    for (const k of links) {
      this.arrow("link", items.get(link.source[k]), link.time[k], items.get(link.target[k]), link.time[k]);
    }
  }

  // When the selected task was created, if its first slice records it; else NaN.
  created() {
    const first = this.items[0]?.i;
    return this.model.item.begin[first] - this.model.item.wait[first];
  }

  arrow(kind, source, left, target, arrived) {
    const { begin, end } = this.model.item;
    const from = source.findLast(({ i }) => begin[i] <= left) ?? source[0];
    const to = target.find(({ i }) => end[i] >= arrived) ?? target.at(-1);
    if (!from || !to) return;
    const clamped = (time, i) => Math.min(Math.max(time, begin[i]), end[i]);
    this.arrows.push({
      kind,
      from: from.track,
      leaves: clamped(left, from.i),
      to: to.track,
      arrives: clamped(arrived, to.i),
    });
  }

  resize(width, height) {
    this.height = height;
    sizeCanvas(this.canvas, width, height);
  }

  draw() {
    const { ctx } = pen(this.canvas),
      { timeline } = this;
    ctx.clearRect(0, 0, timeline.width, this.height);
    const top = timeline.frame.offsetTop;
    ctx.save();
    ctx.beginPath();
    ctx.rect(GUTTER, top, timeline.plotWidth, timeline.height);
    ctx.clip();
    ctx.translate(0, top);
    for (const each of this.items) this.outline(ctx, each, 2.2);
    if (this.hovered) this.outline(ctx, this.hovered, 1.2);
    if (this.found) this.outline(ctx, this.found, 3);
    for (const arrow of this.arrows) this.drawArrow(ctx, arrow);
    ctx.restore();
    if (this.chosen) {
      const { begin, end } = this.chosen;
      this.veil(ctx, timeline.x(begin), timeline.x(end));
    }
    this.drawPointer(ctx);
  }

  // Covers the outside of a range, with a line at each end.
  veil(ctx, from, to) {
    const { theme } = this.looks,
      { timeline } = this,
      top = timeline.axis.offsetTop;
    const [x0, x1] = [from, to].map((x) => Math.min(Math.max(x, GUTTER), timeline.width));
    ctx.fillStyle = theme.veil;
    ctx.fillRect(GUTTER, top, x0 - GUTTER, this.height - top);
    ctx.fillRect(x1, top, timeline.width - x1, this.height - top);
    ctx.fillStyle = theme.accent;
    for (const x of [from, to])
      if (x >= GUTTER && x <= timeline.width) ctx.fillRect(Math.round(x), top, 1, this.height - top);
  }

  outline(ctx, { i, track }, width) {
    const { begin, end } = this.model.item,
      { timeline } = this;
    const x0 = Math.max(GUTTER - 5, timeline.x(begin[i])),
      x1 = Math.min(timeline.width + 5, timeline.x(end[i]));
    if (x1 < GUTTER || x0 > timeline.width) return;
    const y = timeline.middle(track) - track.height / 2;
    for (const [colour, extra] of [
      [this.looks.theme.card, 2],
      [this.looks.theme.ink, 0],
    ]) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = width + extra;
      ctx.strokeRect(x0 - 0.5, y - 0.5, Math.max(x1 - x0, 2), track.height + 1);
    }
  }

  drawArrow(ctx, { kind, from, leaves, to, arrives }) {
    const { timeline } = this;
    const x0 = timeline.x(leaves),
      x1 = timeline.x(arrives);
    if (Math.max(x0, x1) < GUTTER || Math.min(x0, x1) > timeline.width) return;
    const down = timeline.middle(to) > timeline.middle(from) ? 1 : -1,
      same = from === to;
    const y0 = timeline.middle(from) + (same ? -1 : down) * 0.3 * from.height;
    const y1 = timeline.middle(to) - (same ? 1 : down) * (same ? 0.3 : 0.55) * to.height;
    const bend = same ? -26 : 0,
      reach = same ? (x1 - x0) / 4 : Math.min(60, Math.max(14, Math.abs(x1 - x0) / 3));
    const control = [
      x0 + reach,
      same ? y0 + bend : y0,
      x1 - (same ? reach : reach * 0.6),
      same ? y1 + bend : y1 - down * 22,
    ];
    const angle = Math.atan2(y1 - control[3], x1 - control[2]);
    for (const [colour, width] of [
      [this.looks.theme.card, 4.5],
      [this.looks.theme.ink, 1.6],
    ]) {
      ctx.strokeStyle = ctx.fillStyle = colour;
      ctx.lineWidth = width;
      ctx.setLineDash(kind === "link" && width < 2 ? [5, 3] : []);
      ctx.beginPath();
      ctx.moveTo(x0, y0);
      ctx.bezierCurveTo(...control, x1 - 6 * Math.cos(angle), y1 - 6 * Math.sin(angle));
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.beginPath();
      ctx.moveTo(x1, y1);
      for (const side of [-0.42, 0.42])
        ctx.lineTo(x1 - 9 * Math.cos(angle + side), y1 - 9 * Math.sin(angle + side));
      ctx.closePath();
      if (width > 2) ctx.stroke();
      ctx.fill();
    }
  }

  drawPointer(ctx) {
    const { theme } = this.looks,
      { timeline } = this,
      top = timeline.axis.offsetTop;
    if (this.range) {
      const [x0, x1] = [Math.min(...this.range), Math.max(...this.range)];
      this.veil(ctx, x0, x1);
      this.tag(ctx, (x0 + x1) / 2, top, durationText(timeline.time(x1) - timeline.time(x0)));
    } else if (this.pointer?.x >= GUTTER && this.pointer.y >= top) {
      ctx.fillStyle = theme.soft;
      ctx.fillRect(Math.round(this.pointer.x), top + 22, 0.75, this.height - top);
      const time = timeline.time(this.pointer.x);
      this.tag(ctx, this.pointer.x, top, instantText(time, timeline.view.span / timeline.plotWidth));
    }
  }

  tag(ctx, x, top, text) {
    const { theme } = this.looks;
    ctx.font = `600 11.5px ${FONT}`;
    const width = ctx.measureText(text).width + 14;
    const left = Math.min(Math.max(GUTTER, x - width / 2), this.timeline.width - width);
    ctx.fillStyle = theme.ink;
    ctx.beginPath();
    ctx.roundRect(left, top + 2, width, 20, 5);
    ctx.fill();
    ctx.fillStyle = theme.card;
    ctx.textBaseline = "middle";
    ctx.fillText(text, left + 7, top + 12.5);
  }
}

// The rows of workers and threads, the time axis and the overview, each on a canvas of its own.

let GUTTER = 132; // px, left of the plots; less on a narrow screen
const TASK_HEIGHT = 20,
  REGION_HEIGHT = 13,
  LANE_GAP = 5,
  RANK_GAP = 12;
const AMPLE = 170; // px: fewer rows than fill it are drawn taller
const NARROW = 640; // px
const TALLEST = 0.62; // of the window; the rest scrolls

class Timeline {
  constructor(model, messages, view, looks) {
    Object.assign(this, { model, messages, view, looks });
    this.overview = document.getElementById("overview");
    this.axis = document.getElementById("axis");
    this.frame = document.getElementById("lanes");
    this.canvas = this.frame.querySelector("canvas");
    this.scroller = this.frame.querySelector(".scroller");
    this.layOut(1);
    this.layOut(Math.min(Math.max(AMPLE / this.contentHeight, 1), 1.8));
  }

  layOut(scale) {
    this.taskHeight = Math.round(TASK_HEIGHT * scale);
    const regionHeight = Math.round(REGION_HEIGHT * Math.sqrt(scale));
    let y = 4,
      rank = this.model.lanes[0]?.rank;
    for (const lane of this.model.lanes) {
      if (lane.rank !== rank) y += RANK_GAP;
      rank = lane.rank;
      lane.top = y;
      for (const track of lane.tracks) {
        track.top = y;
        track.height = track.isTasks ? this.taskHeight : regionHeight;
        y += track.height + 1;
      }
      lane.height = Math.max(y - lane.top - 1, lane.worker >= 0 ? this.taskHeight : regionHeight);
      y = lane.top + lane.height + LANE_GAP;
    }
    this.contentHeight = y;
    this.scroller.firstElementChild.style.height = `${y}px`;
  }

  resize(width) {
    GUTTER = width < NARROW ? 86 : 132;
    this.width = width;
    this.plotWidth = width - GUTTER;
    this.height = Math.min(this.contentHeight, Math.max(160, Math.round(window.innerHeight * TALLEST)));
    this.frame.style.height = `${this.height}px`;
    sizeCanvas(this.overview, width, 34);
    sizeCanvas(this.axis, width, 26);
    sizeCanvas(this.canvas, width, this.height);
    this.overviewImage = null;
  }

  x(time) {
    return GUTTER + ((time - this.view.begin) / this.view.span) * this.plotWidth;
  }

  time(x) {
    return this.view.begin + ((x - GUTTER) / this.plotWidth) * this.view.span;
  }

  // Where a track's middle is within the canvas of the lanes.
  middle(track) {
    return track.top + track.height / 2 - this.scroller.scrollTop;
  }

  lanesInSight() {
    const top = this.scroller.scrollTop;
    return this.model.lanes.filter((lane) => lane.top + lane.height > top && lane.top < top + this.height);
  }

  draw() {
    this.drawOverview();
    this.drawAxis();
    this.drawLanes();
  }

  drawLanes() {
    const { ctx, ratio } = pen(this.canvas);
    const { model, view, looks } = this;
    const width = Math.round(this.plotWidth * ratio),
      height = this.canvas.height;
    if (this.image?.width !== width || this.image?.height !== height) this.image = new ImageData(width, height);
    const pixels = new Uint32Array(this.image.data.buffer);
    pixels.fill(0);
    const perPixel = view.span / width,
      scroll = this.scroller.scrollTop,
      labels = [];
    for (const lane of this.lanesInSight()) {
      if (lane.worker >= 0)
        fillRow(pixels, width, looks.idle, (lane.top - scroll) * ratio, this.taskHeight * ratio);
      for (const track of lane.tracks) this.paint(pixels, width, track, perPixel, ratio, scroll, labels);
    }
    ctx.clearRect(0, 0, this.width, this.height);
    ctx.putImageData(this.image, Math.round(GUTTER * ratio), 0);
    this.drawLabels(ctx, labels, ratio);
    this.messages.draw(ctx, this);
    this.drawGutter(ctx, scroll);
  }

  paint(pixels, width, track, perPixel, ratio, scroll, labels) {
    const { model, view, looks } = this,
      { item } = model,
      { painter } = looks;
    const top = Math.round((track.top - scroll) * ratio);
    const height = Math.round((track.top - scroll + track.height) * ratio) - top;
    let from = model.firstEndingAfter(track, view.begin),
      to = from;
    for (let high = track.to; to < high;) {
      const middle = (to + high) >> 1;
      if (item.begin[middle] < view.end) to = middle + 1;
      else high = middle;
    }
    const box = (i, a, b) => {
      const x0 = Math.max(0, Math.round(a)),
        x1 = Math.min(width, Math.round(b));
      const seam = x1 - x0 > 3 && b < width ? Math.max(1, Math.round(ratio / 2)) : 0; // tells neighbours apart
      painter.box(pixels, width, looks.of[item.name[i]], x0, x1 - seam, top, height);
      if (x1 - x0 > 26 * ratio) labels.push({ i, track, left: GUTTER + x0 / ratio, width: (x1 - x0) / ratio });
    };
    const touched = painter.collect(item, from, to, looks.of, view.begin, perPixel, width, WIDE, box);
    painter.stack(pixels, width, touched, top, height, 1, track.isTasks);
  }

  drawLabels(ctx, labels) {
    const { model, looks } = this;
    ctx.textBaseline = "middle";
    for (const tasks of [true, false]) {
      ctx.font = tasks ? `500 11.5px ${FONT}` : `10px ${FONT}`;
      for (const { i, track, left, width } of labels) {
        if (track.isTasks !== tasks) continue;
        const name = model.item.name[i];
        const text = shortened(ctx, model.names[name], width - 8);
        ctx.fillStyle = looks.ink[looks.of[name]];
        if (text) ctx.fillText(text, left + 4, this.middle(track) + 0.5);
      }
    }
  }

  drawGutter(ctx, scroll) {
    let rank = this.model.meta.ranks.length > 1 ? null : this.model.lanes[0]?.rank;
    ctx.textBaseline = "middle";
    for (const lane of this.lanesInSight()) {
      const y = lane.top - scroll + Math.min(lane.height, this.taskHeight) / 2 + 0.5;
      if (lane.rank !== rank) {
        ctx.font = `600 12px ${FONT}`;
        ctx.fillStyle = this.looks.theme.ink;
        ctx.fillText(`rank ${lane.rank}`, 0, Math.max(y, 10));
      }
      rank = lane.rank;
      ctx.font = `12px ${FONT}`;
      ctx.fillStyle = this.looks.theme.soft;
      ctx.textAlign = "right";
      ctx.fillText(this.label(ctx, lane), GUTTER - 10, y);
      ctx.textAlign = "left";
    }
  }

  // Beside the name of a rank there is less room.
  label(ctx, lane) {
    const room = GUTTER - 10 - (this.model.meta.ranks.length > 1 ? 44 : 0);
    const short = lane.worker >= 0 && ctx.measureText(lane.label).width > room;
    return short ? `w ${lane.worker}` : shortened(ctx, lane.label, room);
  }

  drawAxis() {
    const { ctx } = pen(this.axis);
    const { theme } = this.looks;
    const { ticks, anchor } = timeTicks(this.view.begin, this.view.end, this.plotWidth / 110);
    ctx.clearRect(0, 0, this.width, 26);
    ctx.font = `11.5px ${FONT}`;
    ctx.textBaseline = "middle";
    ctx.fillStyle = theme.soft;
    ctx.textAlign = "right";
    ctx.fillText(anchor || "time", GUTTER - 10, 12);
    ctx.textAlign = "center";
    for (const [time, text] of ticks) {
      const x = Math.round(this.x(time)) + 0.5,
        half = ctx.measureText(text).width / 2;
      ctx.fillRect(x - 0.5, 21, 1, 5);
      ctx.fillText(text, Math.min(Math.max(x, GUTTER + half), this.width - half), 12);
    }
    ctx.textAlign = "left";
  }

  // All workers in one: how many of them had a task, and with which name; the part in view is framed.
  drawOverview() {
    const { ctx, ratio } = pen(this.overview);
    const width = Math.round(this.plotWidth * ratio),
      height = this.overview.height - 2;
    if (!this.overviewImage) {
      const image = (this.overviewImage = new ImageData(width, height));
      const pixels = new Uint32Array(image.data.buffer),
        { painter, idle } = this.looks;
      pixels.fill(idle);
      const shown = this.model.tracks.filter((track) => track.isTasks);
      let touched = [width, 0];
      for (const { from, to } of shown) {
        const perPixel = this.view.duration / width;
        const [first, last] = painter.collect(
          this.model.item,
          from,
          to,
          this.looks.of,
          0,
          perPixel,
          width,
          Infinity,
        );
        touched = [Math.min(touched[0], first), Math.max(touched[1], last)];
      }
      this.markWaiting(painter, width);
      painter.stack(pixels, width, touched, 0, height, 1 / Math.max(shown.length, 1), true);
    }
    ctx.clearRect(0, 0, this.width, 34);
    ctx.putImageData(this.overviewImage, Math.round(GUTTER * ratio), ratio);
    const { theme } = this.looks,
      { begin, end, duration } = this.view;
    ctx.font = `11.5px ${FONT}`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    ctx.fillStyle = theme.soft;
    ctx.fillText("all workers", GUTTER - 10, 17);
    ctx.textAlign = "left";
    if (end - begin >= duration) return;
    const x0 = GUTTER + (begin / duration) * this.plotWidth,
      x1 = GUTTER + (end / duration) * this.plotWidth;
    ctx.fillStyle = theme.veil;
    ctx.fillRect(GUTTER, 0, x0 - GUTTER, 34);
    ctx.fillRect(x1, 0, this.width - x1, 34);
    ctx.strokeStyle = theme.ink;
    ctx.lineWidth = 1.5;
    ctx.strokeRect(x0, 0.75, Math.max(2, x1 - x0), 32.5);
  }

  // The time in which a task waits on its worker gets the look of waiting, in the columns of the overview.
  markWaiting(painter, width) {
    const { model, looks, view } = this,
      { item, waits } = model;
    for (const lane of model.waitingLanes) {
      eachWithParent(model, lane, 0, Infinity, (i, parent, { isTasks, level }) => {
        const here = waits[item.name[i]],
          around = level > 1 && parent >= 0 ? waits[item.name[parent]] : 0;
        if (isTasks || here === around) return;
        const task = item.name[model.firstEndingAfter(lane.tracks[0], item.begin[i])];
        const [from, to] = here ? [task, item.name[i]] : [item.name[parent], task];
        const perPixel = view.duration / width;
        painter.shift(item.begin[i], item.end[i], looks.of[from], looks.of[to], 0, perPixel, width);
      });
    }
  }

  // Items at a point of the canvas of the lanes: the longest item within one pixel, and how many there are.
  at(x, y) {
    const inside = y + this.scroller.scrollTop;
    const track = this.model.tracks.find(
      (track) => inside >= track.top && inside < track.top + track.height + 1,
    );
    if (!track || x < GUTTER) return null;
    const begin = this.time(x - 0.5),
      end = this.time(x + 0.5),
      { item } = this.model;
    let longest = -1,
      count = 0;
    for (let i = this.model.firstEndingAfter(track, begin); i < track.to && item.begin[i] < end; i++, count++) {
      if (longest < 0 || item.end[i] - item.begin[i] > item.end[longest] - item.begin[longest]) longest = i;
    }
    return count ? { i: longest, track, count } : null;
  }
}

function fillRow(pixels, width, colour, top, height) {
  const clipped = (y) => Math.min(Math.max(Math.round(y), 0), pixels.length / width) * width;
  pixels.fill(colour, clipped(top), clipped(top + height));
}

function shortened(ctx, text, width) {
  if (ctx.measureText(text).width <= width) return text;
  let length = Math.floor((text.length * width) / ctx.measureText(text).width);
  while (length > 2 && ctx.measureText(`${text.slice(0, length)}…`).width > width) length--;
  return length > 2 ? `${text.slice(0, length)}…` : "";
}

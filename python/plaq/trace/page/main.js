// Puts the page together and answers pointer and keys.

class Page {
  constructor(meta, columns) {
    const model = (this.model = new Model(meta, columns));
    this.view = new View(model.duration);
    this.looks = new Looks(meta);
    this.messages = new Messages(model, columns);
    this.timeline = new Timeline(model, this.messages, this.view, this.looks);
    this.curves = new Curves(meta, columns, this.timeline, this.looks);
    this.overlay = new Overlay(model, this.timeline, this.curves, this.looks);
    this.words = new Words(model, this.looks);
    this.stage = document.getElementById("stage");
    this.tip = document.getElementById("tip");
    this.legend = new Legend(this);
    this.search = new Search(this);
    this.statistics = new Statistics(this);
    this.view.addEventListener("change", () => this.redraw());
    this.timeline.scroller.addEventListener("scroll", () => this.redraw());
    window.addEventListener("resize", () => this.resize());
    new ResizeObserver(() => this.stage.clientWidth !== this.timeline.width && this.resize()).observe(this.stage);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.restyle();
      this.legend.fill();
    });
    document.getElementById("fit").onclick = () => this.view.fit();
    document.getElementById("closer").onclick = () => this.view.zoom(0.5);
    document.getElementById("farther").onclick = () => this.view.zoom(2);
    new Pointer(this);
    this.stage.addEventListener("keydown", (event) => this.key(event));
    this.resize();
  }

  resize() {
    const width = this.stage.clientWidth;
    this.timeline.resize(width);
    this.curves.resize(width);
    this.overlay.resize(width, this.stage.clientHeight);
    this.draw();
  }

  restyle() {
    this.looks.read();
    this.timeline.overviewImage = null;
    this.redraw();
  }

  redraw() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      this.draw();
    });
  }

  draw() {
    const { view, timeline } = this;
    timeline.draw();
    this.curves.draw();
    this.overlay.draw();
    const resolution = view.span / timeline.plotWidth;
    const [begin, end] = [view.begin, view.end].map((time) => instantText(time, resolution, view.end));
    const { step } = this.messages;
    const some = step > 1 ? `  ·  one message in ${step} drawn` : "";
    document.getElementById("range").textContent = `${begin} – ${end}  ·  ${durationText(view.span)}${some}`;
  }

  select(task) {
    const { overlay } = this;
    overlay.select(task);
    const panel = document.getElementById("selection");
    panel.replaceChildren(
      ...(task === null ? [] : this.words.selection(overlay, overlay.created(), (other) => this.goTo(other))),
    );
    panel.hidden = task === null;
    overlay.draw();
  }

  // Selects a task and brings its first slice into view.
  goTo(task) {
    this.select(task);
    if (this.overlay.items.length) this.bringIntoView(this.overlay.items[0]);
  }

  // A range whose statistics are shown: {begin, end} in ns, or null.
  choose(range) {
    this.overlay.chosen = range;
    this.statistics.show(range);
    this.overlay.draw();
  }

  bringIntoView({ i, track }) {
    const { scroller, height } = this.timeline;
    this.view.reveal(this.model.item.begin[i], this.model.item.end[i]);
    if (track.top < scroller.scrollTop || track.top + track.height > scroller.scrollTop + height) {
      scroller.scrollTop = track.top - height / 2;
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { view, overlay } = this,
      step = (event.shiftKey ? 0.5 : 0.1) * view.span;
    const actions = {
      ArrowLeft: () => view.pan(-step),
      a: () => view.pan(-step),
      ArrowRight: () => view.pan(step),
      d: () => view.pan(step),
      ArrowUp: () => this.zoomAtPointer(0.7),
      w: () => this.zoomAtPointer(0.7),
      "+": () => this.zoomAtPointer(0.7),
      ArrowDown: () => this.zoomAtPointer(1 / 0.7),
      s: () => this.zoomAtPointer(1 / 0.7),
      "-": () => this.zoomAtPointer(1 / 0.7),
      Home: () => view.fit(),
      f: () => view.fit(),
      0: () => view.fit(),
      Enter: () => {
        if (overlay.items.length) this.zoomTo(overlay.items);
        else if (overlay.found) this.zoomTo([overlay.found]);
        else if (overlay.chosen) view.show(overlay.chosen.begin, overlay.chosen.end);
      },
      Escape: () => {
        this.select(null);
        this.choose(null);
      },
      "/": () => this.search.input.focus(),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  zoomAtPointer(factor) {
    const { pointer } = this.overlay;
    this.view.zoom(factor, pointer ? Math.max(this.view.begin, this.timeline.time(pointer.x)) : undefined);
  }

  zoomTo(items) {
    const { begin, end } = this.model.item;
    const from = begin[items[0].i],
      to = end[items.at(-1).i],
      margin = 0.15 * (to - from);
    this.view.show(from - margin, to + margin);
  }
}

let page = null;

async function main() {
  const meta = JSON.parse(document.getElementById("meta").textContent);
  const data = document.getElementById("data");
  const columns = await unpack(data.textContent, meta.columns);
  data.remove();
  page = new Page(meta, columns);
  document.getElementById("stage").dataset.ready = "";
}

main().catch((error) => {
  document.getElementById("failure").textContent = `The timeline cannot be drawn: ${error.message}`;
  throw error;
});

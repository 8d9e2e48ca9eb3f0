// Wheel, drag and hover over the stage.

class Pointer {
  constructor(page) {
    Object.assign(this, { page, stage: page.stage, drag: null });
    const on = (name, action, options) =>
      this.stage.addEventListener(name, (event) => action.call(this, event), options);
    on("wheel", this.wheel, { passive: false });
    on("pointerdown", this.down);
    on("pointermove", this.move);
    on("pointerup", this.up);
    on("pointerleave", this.leave);
    on("dblclick", this.doubleClick);
  }

  at(event) {
    const box = this.stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  wheel(event) {
    const { view, timeline } = this.page,
      { x } = this.at(event);
    if (x < GUTTER) return; // the labels scroll the rows, or the page
    event.preventDefault();
    const unit = [1, 16, 400][event.deltaMode];
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      view.pan((((event.deltaX || event.deltaY) * unit) / timeline.plotWidth) * view.span);
    } else {
      view.zoom(Math.exp(Math.max(-300, Math.min(300, event.deltaY * unit)) * 0.0025), timeline.time(x));
    }
  }

  // The part of the stage at a height.
  part(y) {
    const { timeline, curves } = this.page;
    const inside = (canvas) => y >= canvas.offsetTop && y < canvas.offsetTop + canvas.offsetHeight;
    if (inside(timeline.overview)) return "overview";
    if (inside(timeline.frame)) return "lanes";
    return inside(curves.canvas) ? "curves" : "axis";
  }

  down(event) {
    const { x, y } = this.at(event);
    if (event.button !== 0 || x < GUTTER || x > this.page.timeline.width) return;
    if (event.target.closest(".scroller") && event.offsetX > event.target.clientWidth) return; // its scroll bar
    const part = this.part(y),
      { view, timeline } = this.page;
    const kind = part === "overview" ? "overview" : event.shiftKey ? "zoom" : part === "axis" ? "range" : "pan";
    this.drag = {
      kind,
      x,
      y,
      begin: view.begin,
      end: view.end,
      scroll: timeline.scroller.scrollTop,
      moved: false,
    };
    if (kind === "overview") this.centre(x);
    this.stage.setPointerCapture(event.pointerId);
  }

  centre(x) {
    const { view, timeline } = this.page;
    const middle = ((x - GUTTER) / timeline.plotWidth) * view.duration;
    view.show(middle - view.span / 2, middle + view.span / 2);
  }

  move(event) {
    const { view, timeline, overlay } = this.page,
      point = this.at(event),
      { drag } = this;
    if (!drag) return this.hover(point);
    drag.moved ||= Math.hypot(point.x - drag.x, point.y - drag.y) > 3;
    if (!drag.moved) return;
    this.page.tip.hidden = true;
    overlay.hovered = null;
    if (drag.kind === "overview") this.centre(point.x);
    else if (drag.kind === "range" || drag.kind === "zoom") {
      const within = (x) => Math.min(Math.max(x, GUTTER), timeline.width);
      overlay.range = [within(drag.x), within(point.x)];
      overlay.draw();
    } else {
      this.stage.classList.add("grabbing");
      const time = ((drag.x - point.x) / timeline.plotWidth) * view.span;
      overlay.pointer = null;
      timeline.scroller.scrollTop = drag.scroll + drag.y - point.y;
      view.show(drag.begin + time, drag.end + time);
    }
  }

  up(event) {
    const { drag } = this,
      { view, timeline, overlay } = this.page;
    if (!drag) return;
    this.drag = null;
    this.stage.classList.remove("grabbing");
    if (overlay.range) {
      const [x0, x1] = overlay.range.toSorted((a, b) => a - b);
      overlay.range = null;
      const [begin, end] = [x0, x1].map((x) => timeline.time(x));
      if (x1 - x0 <= 3) overlay.draw();
      else if (drag.kind === "zoom") view.show(begin, end);
      else this.page.choose({ begin, end });
    } else if (!drag.moved && drag.kind === "pan") this.click(this.at(event));
  }

  click({ x, y }) {
    const { timeline, words } = this.page;
    if (this.part(y) !== "lanes") return;
    const found = timeline.at(x, y - timeline.frame.offsetTop);
    this.page.select(found ? words.taskOf(found) : null);
  }

  doubleClick(event) {
    const { x, y } = this.at(event),
      { timeline } = this.page;
    const found = this.part(y) === "lanes" && timeline.at(x, y - timeline.frame.offsetTop);
    if (found) this.page.zoomTo([found]);
  }

  hover(point) {
    const { timeline, curves, overlay, words, view, tip, messages } = this.page;
    const part = this.part(point.y),
      time = timeline.time(point.x),
      resolution = view.span / timeline.plotWidth;
    overlay.pointer = point;
    overlay.hovered = part === "lanes" ? timeline.at(point.x, point.y - timeline.frame.offsetTop) : null;
    const strip =
      part === "curves" && point.x >= GUTTER ? curves.at(point.y - curves.canvas.offsetTop, time) : null;
    overlay.draw();
    this.stage.classList.toggle("pointing", overlay.hovered !== null);
    const message = part === "lanes" ? messages.at(point.x, point.y - timeline.frame.offsetTop) : null;
    tip.hidden = !overlay.hovered && !strip && message === null;
    if (tip.hidden) return;
    tip.replaceChildren(
      ...(strip
        ? words.counter(strip, time, resolution)
        : message !== null
          ? words.message(messages, message, Math.min(resolution, 1e3))
        : words.hover(overlay.hovered, Math.min(resolution, 1e3))),
    );
    const { width, height } = tip.getBoundingClientRect(),
      room = this.stage.clientWidth;
    const left = point.x + 18 + width > room ? point.x - width - 14 : point.x + 18;
    const below = this.stage.getBoundingClientRect().top + point.y + 16 + height < window.innerHeight;
    tip.style.transform = `translate(${Math.max(0, left)}px,${below ? point.y + 16 : point.y - height - 12}px)`;
  }

  leave() {
    const { overlay, tip } = this.page;
    overlay.pointer = overlay.hovered = null;
    tip.hidden = true;
    overlay.draw();
  }
}

// Finds names: the others turn grey, their items are counted, and one after the other is shown.

class Search {
  constructor(page) {
    this.page = page;
    this.input = document.getElementById("search");
    this.output = document.getElementById("found");
    this.at = null; // {i, track}: the item that is shown
    this.input.addEventListener("input", () => this.find(this.input.value));
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape") this.clear();
      else return;
      event.preventDefault();
    });
    document.getElementById("next").onclick = () => this.step(1);
    document.getElementById("previous").onclick = () => this.step(-1);
  }

  clear() {
    this.input.value = "";
    this.find("");
    this.page.stage.focus();
  }

  find(text) {
    const { model, looks, overlay } = this.page,
      wanted = text.trim().toLowerCase();
    looks.found = wanted ? Uint8Array.from(model.names, (name) => name.toLowerCase().includes(wanted)) : null;
    this.at = overlay.found = null;
    this.total = 0;
    if (wanted) {
      const { found } = looks,
        { name } = model.item;
      for (let i = 0; i < name.length; i++) this.total += found[name[i]];
    }
    this.page.restyle();
    this.report();
  }

  report() {
    const { looks } = this.page,
      plainly = (value) => value.toLocaleString("en");
    if (!looks.found) this.output.textContent = "";
    else if (!this.at) this.output.textContent = `${plainly(this.total)} found`;
    else this.output.textContent = `${plainly(this.place())} of ${plainly(this.total)}`;
  }

  // The order is that of begin, and of the rows where these are equal.
  before(a, b) {
    const { begin } = this.page.model.item;
    return begin[a] < begin[b] || (begin[a] === begin[b] && a < b);
  }

  place() {
    const { model, looks } = this.page,
      { name } = model.item;
    let place = 1;
    for (let i = 0; i < name.length; i++) if (looks.found[name[i]] && this.before(i, this.at.i)) place++;
    return place;
  }

  // The next (1) or previous (-1) item that was found; from the last one on to the first.
  step(direction) {
    const { model, looks } = this.page;
    if (!looks.found || !this.total) return;
    let best = null,
      outermost = null;
    const earlier = (a, b) => (direction > 0 ? this.before(a, b) : this.before(b, a));
    for (const track of model.tracks) {
      for (let i = track.from; i < track.to; i++) {
        if (!looks.found[model.item.name[i]]) continue;
        if (!outermost || earlier(i, outermost.i)) outermost = { i, track };
        if (this.at && !earlier(this.at.i, i)) continue;
        if (!best || earlier(i, best.i)) best = { i, track };
      }
    }
    this.at = best ?? outermost;
    this.page.overlay.found = this.at;
    this.page.bringIntoView(this.at);
    this.page.redraw();
    this.report();
  }
}

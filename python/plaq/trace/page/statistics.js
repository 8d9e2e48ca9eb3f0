// Statistics of a chosen range: a panel with names and workers.

const MOST_ROWS = 12;

class Statistics {
  constructor(page) {
    this.page = page;
    this.panel = document.getElementById("statistics");
  }

  // range: {begin, end} in ns, null: none.
  show(range) {
    this.panel.hidden = !range;
    this.panel.replaceChildren(...(range ? this.content(range) : []));
  }

  content({ begin, end }) {
    const { model } = this.page,
      span = end - begin,
      resolution = span / 1000;
    const found = statisticsOf(model, begin, end);
    const [from, to] = [begin, end].map((time) => instantText(time, resolution, end));
    const title = element("h4", "", `${from} – ${to}  ·  ${durationText(span)}`, ...this.buttons({ begin, end }));
    const total = found.exclusive.reduce((sum, time, name) => sum + (model.waits[name] ? 0 : time), 0);
    const names = [...found.count.keys()].filter((name) => found.count[name]);
    names.sort((a, b) => found.exclusive[b] - found.exclusive[a] || a - b);
    const rows = names.slice(0, MOST_ROWS).map((name) => [
      this.named(name),
      found.count[name].toLocaleString("en"),
      durationText(found.inclusive[name]),
      durationText(found.exclusive[name]),
      model.waits[name] ? "–" : this.share(found.exclusive[name] / total),
    ]);
    const left = names.length - rows.length;
    const workers = found.workers.map(({ lane, work, waiting }) => [
      this.page.words.place(lane),
      durationText(work),
      durationText(waiting),
      this.share(work / span),
    ]);
    const more = left > 0 ? element("p", "more", `${left} more names`) : "";
    return [
      title,
      element("div", "", table(["name", "items", "inclusive", "exclusive", "share"], rows), more),
      table(["worker", "work", "waiting", "utilisation"], workers),
    ];
  }

  buttons(range) {
    const zoom = element("button", "", "Zoom to it"),
      close = element("button", "", "×");
    zoom.onclick = () => this.page.view.show(range.begin, range.end);
    close.onclick = () => this.page.choose(null);
    close.title = "close (escape)";
    return [zoom, close];
  }

  named(name) {
    const swatch = element("i", "swatch");
    swatch.style.background = this.page.looks.background(name);
    return element("span", "", swatch, this.page.model.names[name]);
  }

  share(part) {
    const made = element("span", "share", `${(100 * (part || 0)).toFixed(1)} %`);
    made.style.setProperty("--part", `${100 * (part || 0)}%`);
    return made;
  }
}

function table(head, body) {
  const row = (tag, cells) => element("tr", "", ...cells.map((cell) => element(tag, "", cell)));
  const made = element("table", "");
  made.append(element("thead", "", row("th", head)), element("tbody", "", ...body.map((cells) => row("td", cells))));
  return element("div", "scroll", made);
}

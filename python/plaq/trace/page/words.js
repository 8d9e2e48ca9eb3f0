// Texts of the page about an item or a task, as elements.

function element(tag, className, ...content) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

function rows(pairs) {
  const list = element("dl", "pairs");
  for (const [name, value] of pairs.filter(([, value]) => value))
    list.append(element("dt", "", name), element("dd", "", value));
  return list;
}

class Words {
  constructor(model, looks) {
    Object.assign(this, { model, looks });
  }

  taskName(task) {
    return `${this.model.names[this.model.task.name[task]]} #${this.model.idOf(task)}`;
  }

  place(lane) {
    const rank = this.model.meta.ranks.length > 1 ? `rank ${lane.rank}, ` : "";
    return rank + lane.label;
  }

  heading(name, text) {
    const swatch = element("i", "swatch");
    swatch.style.background = this.looks.background(name);
    return element("h4", "", swatch, text);
  }

  // The tooltip of an item under the pointer.
  hover({ i, track, count }, resolution) {
    const { item, names } = this.model,
      lane = this.model.lanes[track.lane];
    const task = this.taskOf({ i, track });
    const parent = track.isTasks ? this.model.task.parent[task] : -1;
    const more = count > 1 ? element("p", "more", `the longest of ${count} within this pixel`) : "";
    const times = [
      ["on", this.place(lane)],
      ["from", instantText(item.begin[i], resolution)],
      ["duration", durationText(item.end[i] - item.begin[i])],
    ];
    const pairs = track.isTasks
      ? [
          ["parent", parent >= 0 ? this.taskName(parent) : "none"],
          ...times,
          ["waited", Number.isNaN(item.wait[i]) ? "not recorded" : durationText(item.wait[i])],
        ]
      : lane.gpu >= 0
        ? [
            ["launched by", task === null ? "no task" : this.taskName(task)],
            ...times,
            ["bytes", this.model.gpu.bytes[item.row[i]]?.toLocaleString("en").replace(/^0$/, "")],
          ]
        : [["region in", task === null ? "a thread" : this.taskName(task)], ...times];
    const title = track.isTasks ? this.taskName(task) : names[item.name[i]];
    return [this.heading(item.name[i], title), rows(pairs), more];
  }

  message(messages, k, resolution) {
    const { lanes } = this.model;
    return [
      element("h4", "", "message"),
      rows([
        ["from", this.place(lanes[messages.from[k]])],
        ["to", this.place(lanes[messages.to[k]])],
        ["bytes", messages.bytes[k].toLocaleString("en")],
        ["sent", instantText(messages.sent[k], resolution)],
        ["arrived after", durationText(messages.received[k] - messages.sent[k])],
      ]),
    ];
  }

  // The task of an item: its own, the one that launched it on a GPU, or the one in which a region lies.
  taskOf({ i, track }) {
    const { item, gpu, lanes } = this.model;
    if (track.isTasks) return item.row[i];
    if (lanes[track.lane].gpu >= 0) return gpu.task[item.row[i]] < 0 ? null : gpu.task[item.row[i]];
    const tasks = lanes[track.lane].tracks[0];
    return tasks.isTasks ? item.row[this.model.firstEndingAfter(tasks, item.begin[i])] : null;
  }

  counter({ strip, values }, time, resolution) {
    const list = element("dl", "pairs");
    for (const { label, colour, text } of values.slice(0, 12)) {
      const swatch = element("i", "swatch");
      swatch.style.background = colour;
      list.append(element("dt", "", swatch, label), element("dd", "", text));
    }
    const more = values.length > 12 ? element("p", "more", `and ${values.length - 12} more`) : "";
    return [
      element("h4", "", strip.name),
      list,
      element("p", "more", `at ${instantText(time, resolution)}`),
      more,
    ];
  }

  // The panel of the selected task; `go(task)` selects another one.
  selection({ task, items, left }, created, go) {
    const { link } = this.model,
      parent = this.model.task.parent[task];
    const { into, out } = this.model.linksOf(task);
    const button = (other) => {
      const made = element("button", "task", this.taskName(other));
      made.onclick = () => go(other);
      return made;
    };
    const list = (tasks) => {
      const distinct = [...new Set(tasks)],
        some = element("span", "", ...distinct.slice(0, 8).map(button));
      if (distinct.length > 8) some.append(` and ${distinct.length - 8} more`);
      return distinct.length ? some : null;
    };
    return [
      this.heading(this.model.task.name[task], this.taskName(task)),
      rows(items.length ? this.life(task, items, created) : [["ran", "on no worker that was recorded"]]),
      rows([
        ["→ created by", parent >= 0 ? button(parent) : "no task"],
        ["⇢ used results of", list(into.map((k) => link.source[k]))],
        ["⇢ result used by", list(out.map((k) => link.target[k]))],
        ["not drawn", left ? `${left} more arrows` : null],
      ]),
    ];
  }

  life(task, items, created) {
    const { item, lanes, meta } = this.model,
      first = items[0].i,
      last = items.at(-1).i;
    const busy = items.reduce((sum, { i }) => sum + item.end[i] - item.begin[i], 0);
    const waits = items.map(({ i }) => item.wait[i]).filter((wait) => !Number.isNaN(wait));
    const workers = [...new Set(items.map(({ track }) => lanes[track.lane].label))];
    const rank = meta.ranks.length > 1 ? `rank ${this.model.rankOf(task)}, ` : "";
    return [
      ["created", Number.isNaN(created) ? "not recorded" : instantText(created, 1)],
      ["started", instantText(item.begin[first], 1)],
      [this.model.task.finished[task] ? "finished" : "last seen", instantText(item.end[last], 1)],
      ["ran", `${durationText(busy)} in ${items.length} slice${items.length > 1 ? "s" : ""}`],
      ["suspended", durationText(item.end[last] - item.begin[first] - busy)],
      ["waited for a worker", waits.length ? durationText(waits.reduce((a, b) => a + b, 0)) : "not recorded"],
      ["on", rank + workers.slice(0, 8).join(", ")],
    ];
  }
}

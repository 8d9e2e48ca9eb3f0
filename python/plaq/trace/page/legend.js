// The names with their colours, which switch them off and on, and the choice of counters.

const MOST_CHIPS = 100; // those with most time; all others share one

class Legend {
  constructor(page) {
    this.page = page;
    this.names = document.getElementById("names");
    this.counters = document.getElementById("counters");
    const { order } = page.model.meta;
    this.groups = order.slice(0, MOST_CHIPS).map((name) => [name]);
    if (order.length > MOST_CHIPS) this.groups.push(order.slice(MOST_CHIPS));
    this.fill();
  }

  fill() {
    this.names.replaceChildren(...this.groups.map((group) => this.chip(group)));
    if (this.page.messages.sent.length) this.names.append(this.messages());
    this.counters.hidden = this.page.curves.strips.length === 0;
    this.counters
      .querySelector("div")
      .replaceChildren(...this.page.curves.strips.map((strip) => this.choice(strip)));
  }

  chip(group) {
    const { model, looks } = this.page;
    const swatch = element("i", "swatch");
    swatch.style.background = looks.background(group[0]);
    const made = element(
      "button",
      "chip",
      swatch,
      group.length > 1 ? `${group.length} more` : model.names[group[0]],
    );
    this.pressed(made, this.isOn(group));
    made.title = "click: off or on; double click: only this one, or all";
    made.onclick = () => {
      const change = this.isOn(group) ? "add" : "delete";
      for (const name of group) looks.off[change](name);
      this.repaint();
    };
    made.ondblclick = () => {
      const others = this.groups.filter((other) => other !== group);
      const alone = !others.some((other) => this.isOn(other));
      looks.off = new Set(alone ? [] : others.flat());
      this.repaint();
    };
    return made;
  }

  messages() {
    const { messages } = this.page;
    const swatch = element("i", "swatch");
    swatch.style.background = this.page.looks.theme.accent;
    const made = element("button", "chip", swatch, `${messages.sent.length.toLocaleString("en")} messages`);
    made.title = "click: arrows off or on";
    this.pressed(made, messages.shown);
    made.onclick = () => {
      messages.shown = !messages.shown;
      this.pressed(made, messages.shown);
      this.page.redraw();
    };
    return made;
  }

  isOn(group) {
    return !this.page.looks.off.has(group[0]);
  }

  repaint() {
    this.groups.forEach((group, place) => this.pressed(this.names.children[place], this.isOn(group)));
    this.page.restyle();
  }

  pressed(chip, on) {
    chip.setAttribute("aria-pressed", String(on));
  }

  choice(strip) {
    const { curves } = this.page;
    const made = element("button", "chip", strip.name);
    this.pressed(made, curves.chosen.has(strip));
    made.onclick = () => {
      if (!curves.chosen.delete(strip)) curves.chosen.add(strip);
      this.pressed(made, curves.chosen.has(strip));
      this.page.resize();
    };
    return made;
  }
}

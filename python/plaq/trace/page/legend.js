// The names with their colours, which switch them off and on, and the choice of counters.

class Legend {
  constructor(page) {
    this.page = page;
    this.names = document.getElementById("names");
    this.counters = document.getElementById("counters");
    this.fill();
  }

  fill() {
    const { model, looks } = this.page;
    this.names.replaceChildren(...model.meta.order.map((name) => this.chip(name, looks)));
    this.counters.hidden = this.page.curves.strips.length === 0;
    this.counters
      .querySelector("div")
      .replaceChildren(...this.page.curves.strips.map((strip) => this.choice(strip)));
  }

  chip(name, looks) {
    const { model } = this.page;
    const swatch = element("i", "swatch");
    swatch.style.background = looks.background(name);
    const made = element("button", "chip", swatch, model.names[name]);
    this.pressed(made, !looks.off.has(name));
    made.title = "click: off or on; double click: only this one, or all";
    made.onclick = () => {
      if (!looks.off.delete(name)) looks.off.add(name);
      this.repaint();
    };
    made.ondblclick = () => {
      const others = model.meta.order.filter((other) => other !== name);
      const alone = others.every((other) => looks.off.has(other));
      looks.off = new Set(alone ? [] : others);
      this.repaint();
    };
    return made;
  }

  repaint() {
    const { model, looks } = this.page;
    model.meta.order.forEach((name, place) => this.pressed(this.names.children[place], !looks.off.has(name)));
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

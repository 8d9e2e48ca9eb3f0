// How names look: the colours of the page's theme, and which names are switched off.

class Looks {
  constructor(meta) {
    this.meta = meta;
    this.off = new Set();
    this.found = null; // [name] 1: it is searched for
    this.read();
  }

  read() {
    const style = getComputedStyle(document.documentElement);
    const variable = (name) => style.getPropertyValue(name).trim();
    this.theme = Object.fromEntries(
      ["ink", "soft", "line", "paper", "card", "accent", "veil", "idle", "waiting", "off"].map((name) => [
        name,
        variable(`--${name}`),
      ]),
    );
    this.series = [0, 1, 2, 3, 4, 5].map((k) => variable(`--series${k}`));
    const fills = this.meta.fills,
      stripes = fills.map((fill) => mixed(fill, "#ffffff", 0.45));
    const { waiting, off } = this.theme,
      other = variable("--other");
    this.plain = [...fills, ...fills, other, waiting, off]; // the last ones: others, those that wait, switched off
    this.striped = [...fills, ...stripes, other, mixed(waiting, "#ffffff", 0.6), off];
    this.ink = this.plain.map((colour) => (luminance(colour) > 0.22 ? "#14181d" : "#ffffff"));
    this.painter = new Painter(this.plain.map(packed), this.striped.map(packed));
    this.idle = packed(this.theme.idle);
    this.of = Uint8Array.from(this.meta.looks, (look, name) =>
      this.off.has(name) || this.found?.[name] === 0 ? this.plain.length - 1 : look,
    );
  }

  // A CSS background.
  background(name) {
    const look = this.meta.looks[name];
    const [fill, stripe] = [this.plain[look], this.striped[look]];
    return fill === stripe ? fill : `repeating-linear-gradient(135deg,${fill} 0 3px,${stripe} 3px 5px)`;
  }
}

function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

function packed(colour) {
  const [red, green, blue] = channels(colour);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

function mixed(one, two, part) {
  const [a, b] = [channels(one), channels(two)];
  return `#${a
    .map((value, k) =>
      Math.round(value + (b[k] - value) * part)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

function luminance(colour) {
  const [r, g, b] = channels(colour).map((value) => (value / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

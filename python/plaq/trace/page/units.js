// Numbers as text.

const TIME_UNITS = [
  ["s", 1e9],
  ["ms", 1e6],
  ["µs", 1e3],
  ["ns", 1],
];

function durationText(ns) {
  const [unit, size] = unitFor(ns);
  return `${unit === "ns" ? Math.round(ns) : threeDigits(ns / size)} ${unit}`;
}

function threeDigits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

// A time of the trace, to the digit that `resolution` (ns) can tell apart, in the unit of `like`.
function instantText(ns, resolution, like = ns) {
  const [unit, size] = unitFor(like);
  const digits = Math.max(0, Math.ceil(Math.log10(size) - Math.log10(Math.max(resolution, 1))));
  return `${(ns / size).toFixed(digits)} ${unit}`;
}

function unitFor(ns) {
  return TIME_UNITS.find(([, size]) => Math.abs(ns) >= 0.9995 * size) ?? TIME_UNITS[3];
}

function niceStep(atLeast) {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= atLeast * (1 - 1e-9));
}

// Ticks of a time axis: far from 0 they count from a round anchor that is written beside the axis.
function timeTicks(begin, end, count) {
  const step = Math.max(1, niceStep((end - begin) / count));
  const far = end > 1e4 * step;
  const [unit, size] = unitFor(far ? step : end);
  const anchor = far ? Math.floor(begin / (1e3 * size)) * 1e3 * size : 0;
  const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  const ticks = [];
  for (let k = Math.ceil((begin - anchor) / step); anchor + k * step <= end; k++) {
    ticks.push([anchor + k * step, `${((k * step) / size).toFixed(digits)} ${unit}`]);
  }
  const [larger, largerSize] = unitFor(anchor);
  return { ticks, anchor: anchor ? `${+(anchor / largerSize).toPrecision(12)} ${larger} +` : "" };
}

const PREFIXES = [
  ["G", 1e9],
  ["M", 1e6],
  ["k", 1e3],
];
const BINARY = [
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
  ["KiB", 2 ** 10],
];

// A counter's value with its unit.
function valueText(value, unit) {
  if (unit === "0.01 %") return `${plain(value / 100)} %`;
  if (unit === "s") return durationText(value * 1e9);
  const prefixes = unit === "B" ? BINARY : PREFIXES;
  const [prefix, size] = prefixes.find(([, size]) => Math.abs(value) >= size) ?? ["", 1];
  if (unit === "B") return `${plain(value / size)} ${prefix || "B"}`;
  return [plain(value / size), `${prefix}${unit === "1" ? "" : unit.replace(/^1/, "")}`]
    .filter(Boolean)
    .join(" ");
}

function plain(value) {
  return Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value) : String(+value.toPrecision(4));
}

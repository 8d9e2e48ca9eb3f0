{
const box = document.getElementById(NAME), d = DATA;
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const values = bytes(d.values), colours = bytes(d.colours), size = d.nx * d.ny;
const canvas = box.querySelector("canvas"), pen = canvas.getContext("2d");
const slider = box.querySelector("input"), words = box.querySelector("output"), button = box.querySelector("button");
const image = document.createElement("canvas");
image.width = d.nx; image.height = d.ny;

// Multiples of 1, 2 or 5 times a power of ten, about as many as asked for.
function ticks(low, high, count) {
  const least = (high - low) / count, power = 10 ** Math.floor(Math.log10(least)), found = [];
  if (!(least > 0)) return [low];
  const step = power * [1, 2, 5, 10].find(f => f * power >= least * (1 - 1e-9));
  for (let i = Math.ceil(low / step - 1e-6); i * step <= high + 1e-6 * step; i++) found.push(i * step);
  return found;
}
const label = x => String(+x.toPrecision(4)).replace("-", "\u2212");

function plane(from) {
  const data = image.getContext("2d").createImageData(d.nx, d.ny);
  for (let y = 0; y < d.ny; y++) for (let x = 0; x < d.nx; x++) {
    const to = 4 * (x + d.nx * (d.ny - 1 - y)), c = 3 * values[from + x * d.ny + y];
    for (let i = 0; i < 3; i++) data.data[to + i] = colours[c + i];
    data.data[to + 3] = 255;
  }
  image.getContext("2d").putImageData(data, 0, 0);
}

function show() {
  const t = +slider.value, is_plane = d.ny > 1, scale = devicePixelRatio || 1, wide = canvas.clientWidth || 600;
  const left = 50, top = 8, bottom = 34, bar = 12, right = is_plane ? 70 : 12;
  let across = wide - left - right, tall = is_plane ? across / d.ratio : 220;
  if (tall > 460) { across *= 460 / tall; tall = 460; }
  tall = Math.max(tall, 40);
  canvas.style.height = top + tall + bottom + "px";
  canvas.width = wide * scale; canvas.height = (top + tall + bottom) * scale;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  const style = getComputedStyle(canvas);
  pen.fillStyle = pen.strokeStyle = style.color;
  pen.font = "11px " + style.fontFamily;
  pen.imageSmoothingEnabled = false;
  const [low, high] = d.x[t], [bottom_value, top_value] = is_plane ? d.y : [d.low, d.high];
  const to_x = x => left + across * (x - low) / (high - low);
  const to_y = (y, low, high) => top + tall * (high - y) / (high - low);
  const from = t * size;
  if (is_plane) {
    plane(from);
    pen.drawImage(image, left, top, across, tall);
    const at = left + across + 10;
    for (let i = 0; i < tall; i++) {
      const c = 3 * Math.round(255 * (1 - i / Math.max(1, tall - 1)));
      pen.fillStyle = `rgb(${colours[c]},${colours[c + 1]},${colours[c + 2]})`;
      pen.fillRect(at, top + i, bar, 1.5);
    }
    pen.fillStyle = style.color;
    pen.strokeRect(at + 0.5, top + 0.5, bar - 1, tall - 1);
    pen.textAlign = "left"; pen.textBaseline = "middle";
    for (const y of ticks(d.low, d.high, Math.max(1, tall / 40)))
      pen.fillText(label(y), at + bar + 4, to_y(y, d.low, d.high));
  } else {
    pen.beginPath();
    for (let i = 0; i < d.nx; i++)
      pen.lineTo(left + across * (i + 0.5) / d.nx, top + tall * (1 - values[from + i] / 255));
    pen.stroke();
  }
  pen.strokeRect(left + 0.5, top + 0.5, across - 1, tall - 1);
  pen.textAlign = "center"; pen.textBaseline = "top";
  for (const x of ticks(low, high, Math.max(1, across / 70))) {
    pen.fillRect(to_x(x) - 0.5, top + tall, 1, 4);
    pen.fillText(label(x), to_x(x), top + tall + 6);
  }
  pen.fillText(d.names[0], left + across / 2, top + tall + 20);
  pen.textAlign = "right"; pen.textBaseline = "middle";
  for (const y of ticks(bottom_value, top_value, Math.max(1, tall / 40))) {
    const at = to_y(y, bottom_value, top_value);
    pen.fillRect(left - 4, at - 0.5, 4, 1);
    pen.fillText(label(y), left - 7, at);
  }
  if (is_plane) pen.fillText(d.names[1], left - 36, top + tall / 2);
  words.textContent = "t = " + d.times[t];
}

let timer = null;
function stop() { clearInterval(timer); timer = null; button.textContent = "play"; }
button.onclick = () => {
  if (timer) return stop();
  button.textContent = "stop";
  timer = setInterval(() => { slider.value = (+slider.value + 1) % d.times.length; show(); }, 120);
};
slider.oninput = show;
new ResizeObserver(show).observe(canvas);
show();
}

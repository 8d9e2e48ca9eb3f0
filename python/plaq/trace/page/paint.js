// Intervals as pixels. An interval of at least WIDE pixels becomes a box; thinner ones share the columns of
// pixels they lie in: each column is a stack whose heights are the shares of time of the looks in it, so that a
// picture of a million intervals is true and costs one pass over those that are visible.

const WIDE = 3;

class Painter {
  // fills, stripes: colour of each look as 0xAABBGGRR; the look of a name that is switched off is the last one.
  constructor(fills, stripes) {
    this.fills = fills;
    this.stripes = stripes;
    this.stride = fills.length;
    this.shares = new Float32Array(0);
  }

  // Fill `bins` columns with the time per look of the items from..to-1, in columns; returns [first, last) touched.
  // Items of at least `wide` columns are left out and given to `onWide(item, x0, x1)`.
  collect(item, from, to, lookOf, begin, perPixel, bins, wide, onWide) {
    if (this.shares.length < bins * this.stride) this.shares = new Float32Array(bins * this.stride);
    const { shares, stride } = this,
      scale = 1 / perPixel,
      { begin: begins, end: ends, name: names } = item;
    let first = bins,
      last = 0;
    for (let i = from; i < to; i++) {
      const a = (begins[i] - begin) * scale,
        b = (ends[i] - begin) * scale;
      if (b - a >= wide) {
        onWide(i, a, b);
        continue;
      }
      const x0 = a > 0 ? a | 0 : 0,
        x1 = b < bins ? b | 0 : bins - 1;
      if (x0 >= bins) break;
      const look = lookOf[names[i]];
      if (x0 === x1)
        shares[x0 * stride + look] += b - a || 1e-6; // one without length is seen too
      else {
        for (let x = x0; x <= x1; x++) {
          const share = Math.min(b, x + 1) - Math.max(a, x);
          if (share > 0) shares[x * stride + look] += share;
        }
      }
      if (x0 < first) first = x0;
      if (x1 >= last) last = x1 + 1;
    }
    return [first, last];
  }

  // Moves the time of one item from a look to another one, in columns that were collected.
  shift(begin, end, from, to, start, perPixel, bins) {
    const a = (begin - start) / perPixel,
      b = Math.min((end - start) / perPixel, bins);
    for (let x = Math.max(0, Math.floor(a)); x < b; x++) {
      const share = Math.min(b, x + 1) - Math.max(a, x);
      this.shares[x * this.stride + from] -= share;
      this.shares[x * this.stride + to] += share;
    }
  }

  // Draw the collected columns as stacks and forget them: upwards from the bottom of a band, or downwards from its
  // top. A share of 1 fills the part `scale` of its height.
  stack(pixels, width, [first, last], top, height, scale, upwards) {
    const { shares, stride } = this;
    const rows = pixels.length / width;
    for (let x = first; x < last; x++) {
      let filled = 0,
        drawn = 0;
      for (let look = 0, at = x * stride; look < stride; look++, at++) {
        const share = shares[at];
        if (share === 0) continue;
        shares[at] = 0;
        filled += share * scale;
        const upto = Math.min(height, Math.max(drawn + (drawn === 0 ? 1 : 0), Math.round(filled * height)));
        const plain = this.fills[look] === this.stripes[look];
        for (; drawn < upto; drawn++) {
          const y = upwards ? top + height - 1 - drawn : top + drawn;
          if (y >= 0 && y < rows) pixels[y * width + x] = plain ? this.fills[look] : this.colour(look, x, y);
        }
      }
    }
  }

  box(pixels, width, look, x0, x1, top, height) {
    const rows = pixels.length / width;
    for (let y = Math.max(0, top); y < Math.min(rows, top + height); y++) {
      if (this.fills[look] === this.stripes[look])
        pixels.fill(this.fills[look], y * width + x0, y * width + x1);
      else for (let x = x0; x < x1; x++) pixels[y * width + x] = this.colour(look, x, y);
    }
  }

  colour(look, x, y) {
    return (x + y) % 6 < 2 ? this.stripes[look] : this.fills[look];
  }
}

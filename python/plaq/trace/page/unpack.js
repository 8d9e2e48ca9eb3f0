// The data of the page: columns of whole numbers, packed by pack.py.

async function unpack(base64, columns) {
  const text = atob(base64);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < packed.length; i++) packed[i] = text.charCodeAt(i);
  const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(inflated).arrayBuffer());
  const result = {};
  let at = 0;
  for (const [name, length, differences] of columns) {
    const values = new Float64Array(length);
    let sum = 0;
    for (let i = 0; i < length; i++) {
      let byte = bytes[at++];
      const negative = byte & 1;
      let value = byte & 127;
      for (let scale = 128; byte > 127; scale *= 128) {
        byte = bytes[at++];
        value += (byte & 127) * scale;
      }
      value = negative ? -(value + 1) / 2 : value / 2;
      values[i] = differences ? (sum += value) : value;
    }
    result[name] = values;
  }
  return result;
}

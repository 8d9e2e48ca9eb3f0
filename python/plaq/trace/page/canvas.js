// Canvases in CSS pixels, sharp on every screen.

const FONT = 'system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif';

function sizeCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.ratio = ratio;
}

function pen(canvas) {
  const ctx = canvas.getContext("2d");
  ctx.setTransform(canvas.ratio, 0, 0, canvas.ratio, 0, 0);
  return { ctx, ratio: canvas.ratio };
}

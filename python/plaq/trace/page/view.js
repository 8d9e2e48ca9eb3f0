// The part of the time axis that is shown. Its listeners draw.

class View extends EventTarget {
  constructor(duration) {
    super();
    this.duration = Math.max(duration, 1);
    this.begin = 0;
    this.end = this.duration;
  }

  get span() {
    return this.end - this.begin;
  }

  show(begin, end) {
    const span = Math.min(this.duration, Math.max(end - begin, Math.min(20, this.duration)));
    const middle = (begin + end) / 2;
    this.begin = Math.min(Math.max(0, middle - span / 2), this.duration - span);
    this.end = this.begin + span;
    this.dispatchEvent(new Event("change"));
  }

  fit() {
    this.show(0, this.duration);
  }

  // Keeps `time` where it is.
  zoom(factor, time = (this.begin + this.end) / 2) {
    const span = Math.min(this.duration, Math.max(this.span * factor, Math.min(20, this.duration)));
    const begin = time - ((time - this.begin) / this.span) * span;
    this.show(begin, begin + span);
  }

  pan(time) {
    this.show(this.begin + time, this.end + time);
  }

  // Pans only as far as needed to have begin..end in sight.
  reveal(begin, end) {
    if (begin >= this.begin && end <= this.end) return;
    const span = Math.max(this.span, 1.2 * (end - begin));
    const middle = (begin + end) / 2;
    this.show(middle - span / 2, middle + span / 2);
  }
}

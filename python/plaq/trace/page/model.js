// Model of the drawing. All times are in ns since the beginning of the trace.

class Model {
  constructor(meta, columns) {
    this.meta = meta;
    this.names = meta.names;
    this.duration = meta.duration;
    this.lanes = meta.lanes; // {rank, worker, gpu, label, tracks: [number of items, ...]}
    this.task = {
      name: Uint32Array.from(columns.task_name),
      parent: columns.task_parent.map((up, task) => (up ? task - up : -1)), // row, -1: none
      high: columns.task_id_high,
      low: columns.task_id_low,
      finished: columns.task_finished,
      rankStarts: meta.rank_starts,
    };
    this.gpu = { task: columns.gpu_task, bytes: columns.gpu_bytes }; // task -1: none
    const source = columns.link_source;
    this.link = {
      source,
      target: columns.link_ahead.map((rows, k) => source[k] + rows),
      time: columns.link_time,
    };
    this.makeItems(columns);
    this.waits = Uint8Array.from(meta.looks, (look) => look === meta.waiting);
    const waiting = ({ isTasks, from, to }) => !isTasks && this.item.name.subarray(from, to).some((name) => this.waits[name]);
    this.waitingLanes = this.waits.includes(1)
      ? this.lanes.filter(({ worker, tracks }) => worker >= 0 && tracks.some(waiting))
      : [];
  }

  // Items lie track after track, in the order of time: slices of tasks (row: the task), regions (row: the region),
  // and operations of GPU streams (row: of gpu).
  makeItems(columns) {
    const length = columns.gap.length;
    const item = (this.item = {
      begin: new Float64Array(length),
      end: new Float64Array(length),
      name: new Uint32Array(length),
      row: Int32Array.from(columns.row),
      wait: new Float64Array(length).fill(NaN),
    });
    this.tracks = [];
    let at = 0,
      slices = 0,
      pieces = 0;
    this.lanes.forEach((lane, laneIndex) => {
      const tracks = lane.tracks.map((count, level) => {
        const isTasks = lane.worker >= 0 && level === 0;
        const track = { lane: laneIndex, level, isTasks, from: at, to: at + count };
        for (let time = 0; at < track.to; at++) {
          item.begin[at] = time += columns.gap[at];
          item.end[at] = time += columns.length[at];
          item.name[at] = isTasks ? this.task.name[item.row[at]] : columns.region_name[pieces++];
          if (isTasks) {
            const wait = columns.wait[slices++];
            if (wait > 0) item.wait[at] = wait - 1;
          }
        }
        return track;
      });
      lane.tracks = tracks;
      this.tracks.push(...tracks);
    });
  }

  rankOf(task) {
    const starts = this.task.rankStarts; // [rank, row of its first task]
    let place = starts.length - 1;
    while (starts[place][1] > task) place--;
    return starts[place][0];
  }

  idOf(task) {
    return ((BigInt(this.task.high[task]) << 32n) | BigInt(this.task.low[task])).toString();
  }

  // First item of a track that ends after `time`.
  firstEndingAfter(track, time) {
    let low = track.from,
      high = track.to;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.item.end[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // The items of some tasks (or of some regions) in the order of time, each with its track: row -> [{i, track}].
  itemsOf(rows, isTasks) {
    const found = new Map([...rows].map((row) => [row, []]));
    for (const track of this.tracks) {
      if (track.isTasks !== isTasks) continue;
      for (let i = track.from; i < track.to; i++) found.get(this.item.row[i])?.push({ i, track });
    }
    for (const items of found.values()) items.sort((a, b) => this.item.begin[a.i] - this.item.begin[b.i]);
    return found;
  }

  // Rows of links into or out of a task.
  linksOf(task) {
    const into = [],
      out = [];
    for (let k = 0; k < this.link.time.length; k++) {
      if (this.link.target[k] === task) into.push(k);
      else if (this.link.source[k] === task) out.push(k);
    }
    return { into, out };
  }
}

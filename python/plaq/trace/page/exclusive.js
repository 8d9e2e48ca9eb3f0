// Time of items without the items inside them.

// Calls visit(i, parent, track) for every item of a lane that reaches into begin..end, level after level;
// parent: the item directly around it, -1: none. The deepest items share one track.
function eachWithParent(model, lane, begin, end, visit) {
  const { begin: begins, end: ends } = model.item;
  let above = null;
  for (const track of lane.tracks) {
    const open = [];
    let p = above ? model.firstEndingAfter(above, begin) : 0;
    for (let i = model.firstEndingAfter(track, begin); i < track.to && begins[i] < end; i++) {
      while (open.length && ends[open.at(-1)] <= begins[i]) open.pop();
      if (above) while (p + 1 < above.to && begins[p + 1] <= begins[i]) p++;
      const around = above && p < above.to && begins[p] <= begins[i] && ends[p] >= ends[i] ? p : -1;
      visit(i, open.length ? open.at(-1) : around, track);
      open.push(i);
    }
    above = track;
  }
}

// Items in begin..end: by name their number and their time with and without the items inside, ns; for each
// worker the time in which a task worked there and in which it waited.
function statisticsOf(model, begin, end) {
  const { item, lanes, names } = model;
  const count = new Uint32Array(names.length),
    inclusive = new Float64Array(names.length),
    exclusive = new Float64Array(names.length);
  const workers = [];
  for (const lane of lanes) {
    let busy = 0,
      waiting = 0;
    eachWithParent(model, lane, begin, end, (i, parent, track) => {
      const time = Math.min(item.end[i], end) - Math.max(item.begin[i], begin),
        name = item.name[i];
      count[name]++;
      inclusive[name] += time;
      exclusive[name] += time;
      if (parent >= 0) exclusive[item.name[parent]] -= time;
      if (track.isTasks) busy += time;
      else if (lane.worker >= 0) {
        const inWait = parent >= 0 && track.level > 1 && model.waits[item.name[parent]];
        waiting += (model.waits[name] - (inWait ? 1 : 0)) * time;
      }
    });
    if (lane.worker >= 0) workers.push({ lane, work: busy - waiting, waiting });
  }
  return { count, inclusive, exclusive, workers };
}

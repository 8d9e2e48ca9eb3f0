"""A made-up trace, as consistent as a recorded one: a small simulation of workers that take tasks."""

import heapq

import numpy as np

from plaq.trace.model import LINK, READY, REGION, SLICE, TASK, Counter, RankInfo, Trace

NAMES = ["chain", "accumulator", "flush", "sweep", "measure", "g4", "iteration", "coarse graining", "checkpoint"]
TASK_NAMES, REGION_NAMES, LOOP_NAMES = range(0, 3), range(3, 6), range(6, 9)


def synthetic(n_events, ranks=1, workers=2, seed=0):
    """A Trace of about `n_events` events (created, started, suspended, ready, resumed, finished, linked, begin and
    end of regions) on `ranks` ranks of `workers` workers each. About 20 us of work per slice."""
    share = max(n_events // ranks, 20)
    parts = [_Rank(rank, share, workers, np.random.default_rng([seed, rank])) for rank in range(ranks)]
    tables = {name: [] for name in ("tasks", "slices", "regions", "links", "readies")}
    first_task = first_region = 0
    for part in parts:
        part.move(first_task, first_region)
        for name, rows in tables.items():
            rows.append(getattr(part, name))
        first_task += len(part.tasks)
        first_region += len(part.regions)
    joined = {name: np.concatenate(rows) for name, rows in tables.items()}
    joined["slices"].sort(order="begin", kind="stable")
    order = np.argsort(joined["regions"]["begin"], kind="stable")
    regions = joined["regions"][order]
    place = np.empty(len(order) + 1, np.int64)
    place[order], place[-1] = np.arange(len(order)), -1
    regions["parent"] = place[regions["parent"]]
    joined["regions"] = regions
    duration = max(part.end for part in parts)
    counters = [counter for part in parts for counter in _counters(part.rank, workers, duration, part.random)]
    infos = [
        RankInfo(r, f"node{r // 2}", 1000 + r, list(range(workers)), ["main", "sampler"], "synthetic", 0, "closed",
                 duration)
        for r in range(ranks)
    ]
    metadata = {"command": "synthetic", "backend": "fiber", "workers": workers}
    return Trace(NAMES, infos, **joined, counters=counters, notes=[], duration=duration, metadata=metadata)


class _Rank:
    """The tables of one rank, rows counted within it."""

    def __init__(self, rank, events, workers, random):
        self.rank, self.random = rank, random
        self.numbers = iter(())
        self.made, self.pieces, self.spans, self.uses, self.woken = [], [], [], [], []
        free = [(0.0, w) for w in range(workers)]
        waiting, asleep = [], []  # heaps of (time, task)
        self.open = {}
        count = 0
        now = 0.0
        while waiting or asleep or count < events:
            now, worker = heapq.heappop(free)
            if count >= events and not (waiting or asleep):
                break
            draw = self._draw()
            if asleep and asleep[0][0] <= now:
                task = heapq.heappop(asleep)[1]
            elif waiting and waiting[0][0] <= now:
                task = heapq.heappop(waiting)[1]
            elif count < events and draw < 0.3:
                task = self._make(now, -1)
                count += 1
            else:
                soonest = min([heap[0][0] for heap in (waiting, asleep) if heap], default=now)
                heapq.heappush(free, (max(now, soonest) + 1e-6 * (1 + 5 * draw), worker))
                continue
            if np.isnan(self.made[task][3]):
                self.made[task][3] = now
            count += 1
            end = now + 2e-5 * (0.05 - np.log(1 - self._draw()))
            stack = self.open.setdefault(task, [])
            inner = now
            if self._draw() < 0.5:  # a region in the middle of it, perhaps with another inside
                inner = now + 0.1 * (end - now)
                around = stack[-1] if stack else -1
                stack.append(self._begin(3 + int(3 * self._draw()), task, around, worker, 0, inner))
                count += 2
            sleeps = self._draw() < 0.35
            while stack and (not sleeps or self._draw() < 0.7):  # else it goes on in the task's next slice
                self.spans[stack.pop()][7] = end - 0.1 * (end - inner)
            for _ in range(int(2.6 * self._draw()) if count < events else 0):
                child = self._make(now + self._draw() * (end - now), task)
                heapq.heappush(waiting, (self.made[child][2], child))
                count += 1
            self.pieces.append((task, worker, now, end))
            if sleeps:
                wake = end + 4e-5 * self._draw()
                heapq.heappush(asleep, (wake, task))
                self.woken.append((task, wake))
                count += 3
            else:
                self.made[task][4] = end
                count += 1
                if self.made[task][1] >= 0 and self._draw() < 0.5:
                    self.uses.append((task, self.made[task][1], end))
                    count += 1
            heapq.heappush(free, (end + 1e-6 * self._draw(), worker))
        self.end = max(piece[3] for piece in self.pieces)
        self._loop()
        self._tables()

    def _draw(self):
        value = next(self.numbers, None)
        if value is None:
            self.numbers = iter(self.random.random(65536).tolist())
            value = next(self.numbers)
        return value

    def _make(self, time, parent):
        self.made.append([int(3 * self._draw()), parent, time, np.nan, np.nan])
        return len(self.made) - 1

    def _begin(self, name, task, parent, worker, thread, begin):
        self.spans.append([name, task, parent, worker, thread, len(self.spans) + 1, begin, np.nan])
        return len(self.spans) - 1

    def _loop(self):
        """Regions of the main thread: iterations with two parts each."""
        for edge in range(4):
            begin, length = self.end * edge / 4, self.end / 4
            iteration = self._begin(6, -1, -1, -1, 0, begin)
            self.spans[iteration][7] = begin + length
            for part in (0, 1):
                inner = self._begin(7 + part, -1, iteration, -1, 0, begin + length * (0.1 + 0.4 * part))
                self.spans[inner][7] = begin + length * (0.4 + 0.4 * part)

    def _tables(self):
        name, parent, created, started, finished = zip(*self.made)
        self.tasks = np.zeros(len(name), TASK)
        self.tasks["id"] = np.arange(1, len(name) + 1)
        self.tasks["rank"], self.tasks["name"], self.tasks["parent"] = self.rank, name, parent
        self.tasks["created"], self.tasks["started"], self.tasks["finished"] = created, started, finished
        self.slices = np.zeros(len(self.pieces), SLICE)
        self.slices["rank"] = self.rank
        for field, column in zip(("task", "worker", "begin", "end"), zip(*self.pieces)):
            self.slices[field] = column
        self.regions = np.zeros(len(self.spans), REGION)
        self.regions["rank"] = self.rank
        columns = zip(*self.spans)
        for field, column in zip(("name", "task", "parent", "worker", "thread", "id", "begin", "end"), columns):
            self.regions[field] = column
        self.links = np.array(self.uses, LINK) if self.uses else np.zeros(0, LINK)
        self.readies = np.array(self.woken, READY) if self.woken else np.zeros(0, READY)

    def move(self, first_task, first_region):
        """Count rows from here on, as in the joined tables."""
        for table, field, first in (
            (self.tasks, "parent", first_task),
            (self.slices, "task", first_task),
            (self.regions, "task", first_task),
            (self.regions, "parent", first_region),
            (self.links, "source", first_task),
            (self.links, "target", first_task),
            (self.readies, "task", first_task),
        ):
            table[field][table[field] >= 0] += first


def _counters(rank, workers, duration, random):
    time = np.arange(0, duration, max(duration / 200, 1e-4))
    walk = lambda low, high: low + (high - low) * random.random(len(time))
    yield Counter("resident memory", "B", rank, -1, -1, time, 1e8 + np.cumsum(walk(0, 1e5)))
    yield Counter("queue length", "tasks", rank, -1, -1, time, np.floor(walk(0, 20)))
    yield Counter("voluntary context switches", "1", rank, -1, 0, time, np.cumsum(np.floor(walk(0, 5))))
    for worker in range(workers):
        yield Counter("idle rate", "0.01 %", rank, worker, -1, time, np.floor(walk(0, 10000)))

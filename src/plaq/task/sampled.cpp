// Pools as a source of counters for plaq::trace.
#include <algorithm>

#include "plaq/task/counters.hpp"
#include "plaq/task/meter.hpp"
#include "plaq/trace/counters.hpp"

namespace plaq::task::detail {

namespace {

void read_pools(std::vector<trace::sample>& out) {
  double waiting = 0, tasks = 0, stacks = 0;
  std::vector<worker_counters> workers = ended_pools();
  for_each_pool([&](const pool_counters& pool) {
    waiting += static_cast<double>(pool.queued);
    tasks += static_cast<double>(pool.tasks);
    stacks += static_cast<double>(pool.stacks);
    const auto first = static_cast<std::size_t>(pool.first_worker);
    workers.resize(std::max(workers.size(), first + pool.workers.size()));
    for (std::size_t w = 0; w < pool.workers.size(); ++w) {
      waiting += static_cast<double>(pool.workers[w].queued);
      workers[first + w].queued += pool.workers[w].queued;
      workers[first + w].switches += pool.workers[w].switches;
      workers[first + w].steals += pool.workers[w].steals;
    }
  });
  const auto add = [&](const char* name, const char* unit, int worker, double value) {
    out.push_back({name, unit, worker, -1, value});
  };
  add("queue length", "tasks", -1, waiting);
  add("tasks", "tasks", -1, tasks);
  add("stacks", "stacks", -1, stacks);
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const int worker = static_cast<int>(w);
    add("queue length of worker", "tasks", worker, static_cast<double>(workers[w].queued));
    add("task switches", "1", worker, static_cast<double>(workers[w].switches));
    add("steals", "1", worker, static_cast<double>(workers[w].steals));
  }
}

}  // namespace

void offer_to_trace() { static const trace::counter_source source(read_pools); }

}  // namespace plaq::task::detail

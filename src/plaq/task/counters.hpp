// Counters of the pools of this process, to be sampled.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace plaq::task {

/// Counts since the pool began. They are read while tasks run: each is right, but they need not be consistent with each
/// other.
struct worker_counters {
  std::uint64_t switches = 0;  ///< times it started or resumed a task
  std::uint64_t steals = 0;    ///< times it took tasks from another worker's queue
  std::uint64_t queued = 0;    ///< tasks in its own queue that could run now
  std::uint64_t busy_ns = 0;   ///< time inside of tasks, also of one that runs right now; see timed_workers
};

/// State of a pool, and the counts of its workers.
struct pool_counters {
  std::uint64_t pool = 0;    ///< number of the pool, unique in the process
  std::string_view backend;  ///< its back end
  std::uint64_t age_ns = 0;  ///< since the pool began
  std::uint64_t queued = 0;  ///< tasks that could run now and wait in a queue that belongs to all workers
  std::uint64_t tasks = 0;   ///< tasks that were made and have not ended
  std::uint64_t stacks = 0;  ///< stacks (os: threads) that exist, in use or kept for the next task
  int first_worker = 0;      ///< number of workers[0] among those of all pools, as traces know it
  std::vector<worker_counters> workers;
};

/// Calls visit(counters) for every pool that exists.
///
/// @pre visit() must not wait for a task, since no pool ends meanwhile
void for_each_pool(const std::function<void(const pool_counters&)>& visit);

/// Sums over all pools that have ended, by the numbers of their workers.
std::vector<worker_counters> ended_pools();

/// Scope in which workers take the time at each switch (two clock readings); otherwise busy_ns is constant. The current
/// task of a worker is counted from its next switch on.
class timed_workers {
 public:
  timed_workers() noexcept;
  ~timed_workers();
  timed_workers(const timed_workers&) = delete;
};

/// Returns the share of a period that a worker did not spend inside of tasks, in 0.01 %, as HPX's counter idle-rate has
/// it: search for work, switching and sleeping are idle. 0 for an empty period.
int idle_rate(std::uint64_t busy_ns, std::uint64_t period_ns) noexcept;

}  // namespace plaq::task

// What the pools of this process have done so far, for whoever samples them.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace plaq::task {

/// Counts since the pool began. They are read while tasks run: each is right, but they need not fit together.
struct worker_counters {
  std::uint64_t switches = 0;  ///< times it started a task or went on with one
  std::uint64_t steals = 0;    ///< times it took tasks from another worker's queue
  std::uint64_t queued = 0;    ///< tasks in its own queue that could run now
  std::uint64_t busy_ns = 0;   ///< time inside of tasks, also of one that runs right now; see timed_workers
};

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

/// Calls look(counters) for every pool that exists. No pool ends meanwhile, so look() must not wait for a task.
void for_each_pool(const std::function<void(const pool_counters&)>& look);

/// The sums over all pools that have ended, by the numbers of their workers.
std::vector<worker_counters> ended_pools();

/// While one of these lives, workers take the time at each switch (two clock readings); otherwise busy_ns stands
/// still. What a worker does when the first one is made is counted from its next switch on.
class timed_workers {
 public:
  timed_workers() noexcept;
  ~timed_workers();
  timed_workers(const timed_workers&) = delete;
};

/// The share of a period that a worker did not spend inside of tasks, in 0.01 %, as HPX's counter idle-rate has
/// it: looking for work, switching and sleeping are idle. 0 where no time has passed.
int idle_rate(std::uint64_t busy_ns, std::uint64_t period_ns) noexcept;

}  // namespace plaq::task

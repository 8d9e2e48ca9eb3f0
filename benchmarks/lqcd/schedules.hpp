// Loops over groups of sites by os, fiber and OpenMP, with each schedule.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plaq/task/backends.hpp"
#include "plaq/task/parallel_for.hpp"
#ifdef _OPENMP
#include <omp.h>
#endif

namespace plaq::bench {

/// Calls body(begin, end) on parts of [0, n).
using loop = std::function<void(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& body)>;
struct schedule {
  std::string threads, name;
  loop run;
  /// Calls a function that calls `run`, as a task if loops are tasks.
  std::function<void(const std::function<void()>&)> inside = [](const auto& calls) { calls(); };
};

constexpr std::int64_t grain = 16;  // groups in the smallest part

template <class Pool>
void add_schedules(std::vector<schedule>& all, Pool& pool, const std::string& threads) {
  const auto with = [&](const char* name, task::sharing options) {
    all.push_back({threads, name, [&pool, options](std::int64_t n, const auto& body) {
                     const auto pieces = (n + grain - 1) / grain;
                     task::parallel_for(pool, "hop", std::int64_t(0), pieces,
                                        [&](std::int64_t p) { body(n * p / pieces, n * (p + 1) / pieces); },
                                        {.sharing = options});
                   }});
  };
  with("static", task::sharing::static_);
  with("dynamic", task::sharing::dynamic);
  with("guided", task::sharing::guided);
  // One task for each part: idle workers steal tasks.
  all.push_back({threads, "stealing", [&pool](std::int64_t n, const auto& body) {
                   const std::int64_t pieces = std::min<std::int64_t>(n, 8 * pool.workers());
                   std::vector<task::future<void>> parts;
                   for (std::int64_t p = 0; p < pieces; ++p)
                     parts.push_back(pool.async("hop", [&, p] { body(n * p / pieces, n * (p + 1) / pieces); }));
                   for (auto& part : parts) part.get();
                 }});
  for (auto& s : all)
    if (s.threads == threads) s.inside = [&pool](const auto& calls) { pool.async("bench", calls).get(); };
}

#ifdef _OPENMP
inline void add_openmp(std::vector<schedule>& all, int workers) {
  const auto with = [&](const char* name, omp_sched_t options) {
    all.push_back({"openmp", name, [options, workers](std::int64_t n, const auto& body) {
                     const auto pieces = (n + grain - 1) / grain;
                     omp_set_schedule(options, 0);
#pragma omp parallel for schedule(runtime) num_threads(workers)
                     for (std::int64_t p = 0; p < pieces; ++p) body(n * p / pieces, n * (p + 1) / pieces);
                   }});
  };
  with("static", omp_sched_static);
  with("dynamic", omp_sched_dynamic);
  with("guided", omp_sched_guided);
}
#endif

/// All schedules for a number of workers; for one worker the loop itself. Owns the pools.
class schedules {
 public:
  explicit schedules(int workers) {
    if (workers == 1) {
      all_.push_back({"none", "none", [](std::int64_t n, const auto& body) { body(0, n); }});
      return;
    }
    fibers_.emplace(task::options{.workers = workers});
    kernel_.emplace(task::options{.workers = workers});
    add_schedules(all_, *fibers_, "fiber");
    add_schedules(all_, *kernel_, "os");
#ifdef _OPENMP
    add_openmp(all_, workers);
#endif
  }
  const std::vector<schedule>& all() const { return all_; }

 private:
  std::optional<task::fiber::pool> fibers_;
  std::optional<task::os::pool> kernel_;
  std::vector<schedule> all_;
};

}  // namespace plaq::bench

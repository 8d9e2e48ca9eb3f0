#include "plaq/task/placement.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/base/portion.hpp"
#include "plaq/task/cores.hpp"

namespace plaq::task {

namespace {

using cpu_list = std::vector<int>;

cpu_list firsts_first(const std::vector<cpu_list>& cores) {
  cpu_list all;
  for (std::size_t nth = 0, before = 1; all.size() != before; ++nth) {
    before = all.size();
    for (const cpu_list& core : cores)
      if (nth < core.size()) all.push_back(core[nth]);
  }
  return all;
}

std::string written(const cpu_list& cpus) {
  std::string text;
  for (int cpu : cpus) text += (text.empty() ? "" : ",") + std::to_string(cpu);
  return text;
}

/// Returns 0, or the error of the kernel.
int set_affinity(std::thread::native_handle_type thread, const cpu_list& cpus) {
  const int last = *std::max_element(cpus.begin(), cpus.end());
  cpu_set_t* mask = CPU_ALLOC(static_cast<std::size_t>(last) + 1);
  const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(last) + 1);
  CPU_ZERO_S(bytes, mask);
  for (int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, mask);
  const int failed = pthread_setaffinity_np(thread, bytes, mask);
  CPU_FREE(mask);
  return failed;
}

}  // namespace

share fair_share(const std::vector<cpu_list>& masks, int rank, binding bind, const std::filesystem::path& root) {
  const cpu_list& own = masks.at(static_cast<std::size_t>(rank));
  const auto upto = masks.begin() + rank;
  const auto before = static_cast<std::size_t>(std::count(masks.begin(), upto, own));
  const auto ranks = static_cast<std::size_t>(std::count(masks.begin(), masks.end(), own));
  std::vector<cpu_list> cores = detail::by_core(own, root);
  const bool enough = cores.size() >= ranks;
  if (enough) {
    const portion mine{static_cast<int>(before), static_cast<int>(ranks)};
    const auto at = [&](std::size_t core) { return cores.begin() + static_cast<std::ptrdiff_t>(core); };
    cores = std::vector<cpu_list>(at(mine.begin(cores.size())), at(mine.end(cores.size())));
  }
  share found;
  found.cpus = firsts_first(cores);
  if (enough) found.workers = static_cast<int>(bind == binding::threads ? found.cpus.size() : cores.size());
  const double limit = detail::cgroup_limit(root) / static_cast<double>(masks.size());
  if (limit > 0) found.workers = std::min(found.workers, std::max(1, static_cast<int>(std::ceil(limit))));
  return found;
}

detail::placement detail::place_workers(const options& given, const std::filesystem::path& root) {
  if (given.workers < 0)
    throw input_error("workers = " + std::to_string(given.workers) + ": give 1 or more, or 0 for one per core");
  const cpu_list allowed = allowed_cpus();
  for (int cpu : given.cpus)
    if (std::find(allowed.begin(), allowed.end(), cpu) == allowed.end())
      throw input_error("cpus: this process may not use " + std::to_string(cpu) + "; it may use " + written(allowed));
  const share all = fair_share({given.cpus.empty() ? allowed : given.cpus}, 0, given.bind, root);
  const cpu_list& cpus = given.cpus.empty() ? all.cpus : given.cpus;
  placement found{given.workers ? given.workers : all.workers, {}, false};
  std::vector<cpu_list> cores = by_core(cpus, root);
  const bool full = given.bind == binding::automatic && static_cast<std::size_t>(found.workers) == cores.size();
  found.refused = full && !may_bind(cores);
  if (given.bind == binding::cores || (full && !found.refused))
    found.cpus = std::move(cores);
  else if (given.bind == binding::threads)
    for (int cpu : cpus) found.cpus.push_back({cpu});
  found.domains = domains_of(found.cpus, found.workers, root);
  return found;
}

bool detail::may_bind(const std::vector<cpu_list>& places) {
  bool may = true;
  std::thread probe([&] {  // with a binding of its own
    for (const cpu_list& cpus : places) may = may && set_affinity(pthread_self(), cpus) == 0;
  });
  probe.join();
  return may;
}

void detail::bind_thread(std::thread::native_handle_type thread, const cpu_list& cpus) {
  if (const int failed = set_affinity(thread, cpus))
    throw runtime_failure("a worker cannot be bound to " + written(cpus) + ": " + std::strerror(failed));
}

}  // namespace plaq::task

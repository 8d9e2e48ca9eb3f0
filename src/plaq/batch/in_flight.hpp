// Number of pieces of work in progress at once, which a policy changes during the run.
#pragma once
#include <chrono>
#include <cstdint>

#include "plaq/task/counters.hpp"

namespace plaq::batch {

/// Sample of the load of a run.
struct load_sample {
  double idle = 0;          ///< share of the workers' time since the last sample in which they ran no task
  std::uint64_t ready = 0;  ///< tasks that could run and wait for a worker
  int in_progress = 0;      ///< pieces that have begun and not ended
  int waiting = 0;          ///< pieces that have not begun, or were preempted
  double memory = 1;        ///< share of the memory that is left
};

/// Policy that finds the smallest number of slots for pieces that keeps the workers busy. With fewer they idle; with
/// more, tasks wait in queues while their sums fill memory and caches.
class in_flight_rule {
 public:
  explicit in_flight_rule(int slots) : slots_(slots) {}

  /// Returns the number of slots from now on.
  /// - memory is short (less than `scarce` left): one less than in progress, at least one;
  /// - workers idle, all slots are taken and pieces wait: one more, unless that would make memory short;
  /// - all workers busy with tasks queued in `crowded_samples` consecutive samples: one less, not below a number at
  ///   which workers were idle.
  int decide(const load_sample& now);
  int slots() const noexcept { return slots_; }

  static constexpr double much_idle = 0.03;
  static constexpr double scarce = 0.1, enough = 0.2;
  static constexpr int crowded_samples = 10;

 private:
  int slots_;
  int needed_ = 1;   ///< workers were idle with fewer
  int crowded_ = 0;  ///< consecutive samples with queued tasks
};

/// Sampler of the pools of this process: `idle` and `ready` of `load_sample`.
class pool_sampler {
 public:
  pool_sampler();
  void sample(load_sample& into);

 private:
  task::timed_workers timed_;
  std::uint64_t busy_ns_ = 0;
  std::chrono::steady_clock::time_point when_;
};

}  // namespace plaq::batch

// How many pieces of work are under way at once: a number that a policy changes while they run.
#pragma once
#include <chrono>
#include <cstdint>

#include "plaq/task/counters.hpp"

namespace plaq::batch {

/// What there is to see of a run.
struct pressure {
  double idle = 0;          ///< share of the workers' time since the last look in which they ran no task
  std::uint64_t ready = 0;  ///< tasks that could run and wait for a worker
  int under_way = 0;        ///< pieces that have begun and not ended
  int waiting = 0;          ///< pieces that have not begun, or made way for others
  double memory = 1;        ///< share of the memory that is left
};

/// Looks for the smallest number of places for pieces that keeps the workers busy: with fewer they idle, with more
/// tasks wait in queues while their sums fill memory and caches.
class in_flight_rule {
 public:
  explicit in_flight_rule(int places) : places_(places) {}

  /// The number of places from now on.
  /// - memory is short (less than `scarce` left): one less than are under way, at least one;
  /// - workers idle, all places are taken and pieces wait: one more, unless that would make memory short;
  /// - workers are busy and tasks have waited at `patience` looks in a row: one less, unless workers idled then.
  int decide(const pressure& now);
  int places() const noexcept { return places_; }

  static constexpr double much_idle = 0.03;
  static constexpr double scarce = 0.1, enough = 0.2;
  static constexpr int patience = 10;

 private:
  int places_;
  int needed_ = 1;   ///< fewer made workers idle
  int crowded_ = 0;  ///< looks in a row at which tasks waited
};

/// Reads what the pools of this process say: idle and ready of `pressure`.
class pool_watch {
 public:
  pool_watch();
  void look(pressure& into);

 private:
  task::timed_workers timed_;
  std::uint64_t busy_ns_ = 0;
  std::chrono::steady_clock::time_point when_;
};

}  // namespace plaq::batch

// Walk of a chain on a device.
#pragma once
#include <algorithm>
#include <cstdint>

#include "plaq/dca/chain.hpp"
#include "plaq/dca/device/walker.hpp"
#include "plaq/dca/streams.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::dca::device {

/// Walk through the warm-up or one bin, as dca::chain_walk on a device.
class chain_walk {
 public:
  /// @pre All arguments outlive the walk.
  chain_walk(chain_device& where, const chain_rules& rules, std::uint32_t number, control& c, bool measures = false)
      : rules_(rules), number_(number), control_(c), walker_(where, number, measures) {}

  bool warm_up(const configuration& start) {
    begin(start, streams::warm_up_moves, streams::warm_up_worms, 0);
    return run_sweeps("warm up", rules_.warm_up_sweeps);
  }

  /// Calls sink(walker, index) for every measurement of the bin; false if the bin was abandoned.
  template <class Sink>
  bool bin(const configuration& start, std::uint64_t number, Sink&& sink) {
    begin(start, streams::moves, streams::worms, number);
    for (int m = 0; m < rules_.measurements_per_bin; ++m) {
      if (!run_sweeps("walk", rules_.sweeps_per_measurement)) return false;
      sink(walker_, std::uint64_t(m));
    }
    return true;
  }

  /// Walks through a bin and measures it on the device; false if the bin was abandoned.
  bool bin(const configuration& start, std::uint64_t number, accumulator& to) {
    begin(start, streams::moves, streams::worms, number);
    trace::region scope("walk and measure");
    const int sweeps_each = rules_.sweeps_per_measurement, together = std::max(1, at_once / sweeps_each);
    for (int left = rules_.measurements_per_bin, next = 0; left > 0; left -= next) {
      if (control_.stop.load(std::memory_order_relaxed) == control::abandon) return false;
      next = std::min(left, together);
      walker_.measurements(next, to);
      control_.sweeps.fetch_add(std::uint64_t(next) * sweeps_each, std::memory_order_relaxed);
      control_.measurements.fetch_add(next, std::memory_order_relaxed);
    }
    return true;
  }

  const walker& current() const { return walker_; }
  double drift() const { return walker_.state().drift; }
  move_counts moves_of_bin() const { return {walker_.state().proposed, walker_.state().accepted}; }

 private:
  static constexpr int at_once = 64;  ///< sweeps of a launch, few enough that a run can be stopped

  void begin(const configuration& start, std::uint32_t moves, std::uint32_t worms, std::uint64_t bin) {
    walker_.begin(start, streams::of(rules_, moves, number_, bin), streams::of(rules_, worms, number_, bin));
  }
  bool run_sweeps(trace::label name, int count) {
    trace::region scope(name);
    for (int next = 0; count > 0; count -= next) {
      if (control_.stop.load(std::memory_order_relaxed) == control::abandon) return false;
      next = std::min(count, at_once);
      walker_.sweeps(next);
      control_.sweeps.fetch_add(next, std::memory_order_relaxed);
    }
    return true;
  }

  const chain_rules& rules_;
  std::uint32_t number_;
  control& control_;
  walker walker_;
};

}  // namespace plaq::dca::device

// Advance of one chain, bin by bin, for any walk and accumulator.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "plaq/base/stopwatch.hpp"
#include "plaq/batch/run.hpp"
#include "plaq/dca/chain.hpp"

namespace plaq::dca {

/// Advances one chain until another() returns false. `walk_bin(number, seconds)` walks through a bin and measures, adds
/// the seconds of measuring, and returns whether the bin is complete.
template <class Walk, class Accumulator, class Bin>
void walk_and_measure(Walk& walk, Accumulator& measured, const chain_rules& rules, chain_state& state,
                      const batch::another_step& another, Bin&& walk_bin) {
  if (!state.warm) {
    const stopwatch watch;
    if (!walk.warm_up(state.current)) return;
    state.walking_seconds += watch.seconds();
    state.current = walk.current().current();
    state.drift = std::max(state.drift, walk.drift());
    state.warm = true;
  }
  while (!state.complete(rules) && another()) {
    const std::uint64_t bin = state.bins_done;
    measured.begin_bin(bin);
    double measuring = 0, waited = measured.waiting_seconds();
    const stopwatch watch;
    if (!walk_bin(bin, measuring)) return;
    const double total = watch.seconds();
    waited = measured.waiting_seconds() - waited;
    state.bins.push_back(measured.end_bin());
    ++state.bins_done;
    state.current = walk.current().current();
    state.drift = std::max(state.drift, walk.drift());
    const move_counts moves = walk.moves_of_bin();
    state.moves.proposed += moves.proposed;
    state.moves.accepted += moves.accepted;
    state.measuring_seconds += measuring;
    state.walking_seconds += total - measuring - waited;
  }
}

/// Advances a chain that the worker measures: the walker fills a `Sample`, which `measured` accumulates.
template <class Sample, class Walk, class Accumulator>
void measure_on_worker(Walk& walk, Accumulator& measured, const chain_rules& rules, chain_state& state, control& c,
                       const batch::another_step& another) {
  using walker = std::remove_cvref_t<decltype(walk.current())>;
  Sample at;
  walk_and_measure(walk, measured, rules, state, another, [&](std::uint64_t bin, double& seconds) {
    return walk.bin(state.current, bin, [&](const walker& w, std::uint64_t index) {
      const stopwatch watch;
      const double waited = measured.waiting_seconds();
      w.fill(at);
      at.index = index;
      measured.accumulate(at);
      seconds += watch.seconds() - (measured.waiting_seconds() - waited);
      c.measurements.fetch_add(1, std::memory_order_relaxed);
    });
  });
}

}  // namespace plaq::dca

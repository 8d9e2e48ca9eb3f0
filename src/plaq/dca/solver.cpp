#include "plaq/dca/solver.hpp"

#include <algorithm>
#include <type_traits>

#include "plaq/base/error.hpp"
#include "plaq/base/stopwatch.hpp"
#include "plaq/dca/device/chain_devices.hpp"
#include "plaq/dca/device/chain_walk.hpp"

namespace plaq::dca {

namespace {

/// Advances one chain until another() returns false. `walk_bin(number, seconds)` walks through a bin and measures, adds
/// the seconds of measuring, and returns whether the bin is complete.
template <class Walk, class Accumulator, class Bin>
void walk_and_measure(Walk& walk, Accumulator& measured, const problem& p, chain_state& state,
                      const batch::another_step& another, Bin&& walk_bin) {
  if (!state.warm) {
    const stopwatch watch;
    if (!walk.warm_up(state.current)) return;
    state.walking_seconds += watch.seconds();
    state.current = walk.current().current();
    state.drift = std::max(state.drift, walk.drift());
    state.warm = true;
  }
  while (!state.complete(p.rules) && another()) {
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

/// Advances a chain that the workers measure; two-particle functions go to the sink, if there is one.
template <class Walk>
void measure_on_worker(Walk walk, const problem& p, chain_state& state, control& c, two_particle_sink* sink,
                       const batch::another_step& another) {
  using walker = std::remove_cvref_t<decltype(walk.current())>;
  accumulator measured(p.model, p.measured, p.rules, state.number, sink);
  sample at;
  walk_and_measure(walk, measured, p, state, another, [&](std::uint64_t bin, double& seconds) {
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

/// Advances a chain that is measured on the device where it walks.
void measure_on_device(device::chain_device& where, const problem& p, chain_state& state, control& c,
                       const batch::another_step& another) {
  device::chain_walk walk(where, p.rules, state.number, c, true);
  device::accumulator measured(where, p.rules, state.number);
  walk_and_measure(walk, measured, p, state, another,
                   [&](std::uint64_t bin, double&) { return walk.bin(state.current, bin, measured); });
}

/// Advances a chain in its own bath, on a device or on the workers, with the precision that is asked for; returns
/// whether it has all its bins.
bool advance_chain(const problem& all, device::chain_devices& devices, chain_state& state, control& c,
                   two_particle_sink* sink, const batch::another_step& another) {
  const problem p = all.for_chain(state.number);
  const auto with = [&]<class Walk>(auto&&... walk) {
    measure_on_worker(Walk(walk..., state.number, c), p, state, c, sink, another);
  };
  if (!devices.empty()) {
    const device::chain_devices::reservation at(devices);
    if (sink)
      with.template operator()<device::chain_walk>(*at, p.rules);
    else
      measure_on_device(*at, p, state, c, another);
  } else if (p.moves.single_precision) {
    with.template operator()<chain_walk<float>>(p.model, p.moves, p.rules);
  } else {
    with.template operator()<chain_walk<double>>(p.model, p.moves, p.rules);
  }
  return state.complete(p.rules);
}

}  // namespace

void run_chains(const problem& p, chain_queue& queue, const run_options& options, control& c) {
  device::chain_devices devices(p, options.devices, options.ranks_per_device);
  const auto work = [&](auto&, chain_state& state, const batch::another_step& another) {
    return advance_chain(p, devices, state, c, nullptr, another);
  };
  batch::options pieces = options;
  if (!devices.empty() && pieces.in_flight == 0) pieces.in_flight = devices.chains();
  batch::run(queue, pieces, c, "dca chain", work);
}

void run_chains_distributed(const problem& p, chain_queue& queue, const run_options& options, control& c,
                            distributed_g4& shares) {
  device::chain_devices devices(p, options.devices, options.ranks_per_device);
  const auto work = [&](auto&, chain_state& state, const batch::another_step& another) {
    distributed_g4::source source(shares, int(state.number));
    return advance_chain(p, devices, state, c, &source, another);
  };
  batch::run_together(queue, options, c, "dca chain", work, [&](auto& tasks) {
    for (int chain = 0; chain < shares.chains(); ++chain)
      if (!shares.is_local(chain))
        tasks.begin("dca g4 of another rank", [&shares, chain] { shares.sum_remote(chain); });
  });
}

}  // namespace plaq::dca

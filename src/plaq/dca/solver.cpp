#include "plaq/dca/solver.hpp"

#include <algorithm>
#include <type_traits>

#include "plaq/base/error.hpp"
#include "plaq/base/stopwatch.hpp"
#include "plaq/dca/device/chain_walk.hpp"
#include "plaq/dca/device/walk_places.hpp"

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
    double measuring = 0, waited = measured.waited();
    const stopwatch watch;
    if (!walk_bin(bin, measuring)) return;
    const double total = watch.seconds();
    waited = measured.waited() - waited;
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

/// Advances a chain that the workers measure; two-particle functions are summed elsewhere, if that is given.
template <class Walk>
void measure_here(Walk walk, const problem& p, chain_state& state, control& c, two_particle_sink* elsewhere,
                  const batch::another_step& another) {
  using walker = std::remove_cvref_t<decltype(walk.current())>;
  accumulator measured(p.model, p.measured, p.rules, state.number, elsewhere);
  sample at;
  walk_and_measure(walk, measured, p, state, another, [&](std::uint64_t bin, double& seconds) {
    return walk.bin(state.current, bin, [&](const walker& w, std::uint64_t index) {
      const stopwatch watch;
      const double waited = measured.waited();
      w.fill(at);
      at.index = index;
      measured.accumulate(at);
      seconds += watch.seconds() - (measured.waited() - waited);
      c.measurements.fetch_add(1, std::memory_order_relaxed);
    });
  });
}

/// Measured on the device where it walks.
void measure_there(device::walk_place& where, const problem& p, chain_state& state, control& c,
                   const batch::another_step& another) {
  device::chain_walk walk(where, p.rules, state.number, c, true);
  device::accumulator measured(where, p.rules, state.number);
  walk_and_measure(walk, measured, p, state, another,
                   [&](std::uint64_t bin, double&) { return walk.bin(state.current, bin, measured); });
}

/// Advances a chain in its own bath, on a device or on the workers, with the precision that is asked for; returns
/// whether it has all its bins.
bool take_on(const problem& all, device::walk_places& devices, chain_state& state, control& c,
             two_particle_sink* elsewhere, const batch::another_step& another) {
  const problem p = all.of_chain(state.number);
  const auto with = [&]<class Walk>(auto&&... walk) {
    measure_here(Walk(walk..., state.number, c), p, state, c, elsewhere, another);
  };
  if (!devices.empty()) {
    const device::walk_places::visit at(devices);
    if (elsewhere)
      with.template operator()<device::chain_walk>(*at, p.rules);
    else
      measure_there(*at, p, state, c, another);
  } else if (p.moves.single_precision) {
    with.template operator()<chain_walk<float>>(p.model, p.moves, p.rules);
  } else {
    with.template operator()<chain_walk<double>>(p.model, p.moves, p.rules);
  }
  return state.complete(p.rules);
}

}  // namespace

void run_chains(const problem& p, chain_queue& queue, const run_options& how, control& c) {
  device::walk_places devices(p, how.devices, how.ranks_per_device);
  const auto work = [&](auto&, chain_state& state, const batch::another_step& another) {
    return take_on(p, devices, state, c, nullptr, another);
  };
  batch::options options = how;
  if (!devices.empty() && how.in_flight == 0) options.in_flight = devices.chains();
  batch::run(queue, options, c, "dca chain", work);
}

void run_chains_spread(const problem& p, chain_queue& queue, const run_options& how, control& c, g4_spread& spread) {
  device::walk_places devices(p, how.devices, how.ranks_per_device);
  const auto work = [&](auto&, chain_state& state, const batch::another_step& another) {
    g4_spread::source source(spread, int(state.number));
    return take_on(p, devices, state, c, &source, another);
  };
  batch::run_together(queue, how, c, "dca chain", work, [&](auto& tasks) {
    for (int chain = 0; chain < spread.chains(); ++chain)
      if (!spread.runs_here(chain)) tasks.begin("dca g4 of another rank", [&spread, chain] { spread.follow(chain); });
  });
}

}  // namespace plaq::dca

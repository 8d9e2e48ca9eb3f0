#include "plaq/dca/solver.hpp"

#include <algorithm>
#include <exception>
#include <type_traits>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/base/stopwatch.hpp"
#include "plaq/dca/device/chain_walk.hpp"
#include "plaq/dca/device/walk_places.hpp"
#include "plaq/task/channel.hpp"

namespace plaq::dca {

namespace {

// Measures in place, on the task that walks.
template <class Walker, class Pool>
class shared_measuring {
 public:
  shared_measuring(Pool&, accumulator& a, const run_options&) : accumulator_(a) {}

  template <class Walk>
  bool operator()(Walk&& walk, double& measuring_seconds) {
    return walk([&](const Walker& w, std::uint64_t index) {
      const stopwatch watch;
      const double waited = accumulator_.waited();
      w.fill(sample_);
      sample_.index = index;
      accumulator_.accumulate(sample_);
      measuring_seconds += watch.seconds() - (accumulator_.waited() - waited);
    });
  }

 private:
  accumulator& accumulator_;
  sample sample_;
};

// Hands samples to a task of their own through a bounded channel; empty samples come back through another.
template <class Walker, class Pool>
class split_measuring {
 public:
  split_measuring(Pool& pool, accumulator& a, const run_options& how)
      : pool_(pool), accumulator_(a), depth_(std::max(1, how.channel_depth)) {}

  template <class Walk>
  bool operator()(Walk&& walk, double& measuring_seconds) {
    using backend = typename Pool::backend;
    using slot = std::unique_ptr<sample>;
    task::channel<backend, slot> filled(depth_), empty(depth_ + 1);
    for (int i = 0; i <= depth_; ++i) check(empty.push(std::make_unique<sample>()), "the channel of samples is closed");

    auto measuring = pool_.async("dca accumulator", [&] {
      try {
        while (auto next = filled.pop()) {
          const stopwatch watch;
          const double waited = accumulator_.waited();
          accumulator_.accumulate(**next);
          measuring_seconds += watch.seconds() - (accumulator_.waited() - waited);
          if (!empty.push(std::move(*next))) break;
        }
      } catch (...) {
        empty.close(std::current_exception());
        throw;
      }
    });
    bool complete = false;
    std::exception_ptr error;
    try {
      complete = walk([&](const Walker& w, std::uint64_t index) {
        auto next = empty.pop();
        check(next.has_value(), "the channel of empty samples closed early");
        w.fill(**next);
        (*next)->index = index;
        check(filled.push(std::move(*next)), "the channel of samples closed early");
      });
    } catch (...) {
      error = std::current_exception();
    }
    filled.close();
    measuring.get();
    if (error) std::rethrow_exception(error);
    return complete;
  }

 private:
  Pool& pool_;
  accumulator& accumulator_;
  int depth_;
};

/// Takes one chain on until another() says no. `bin(number, seconds)` walks through a bin and measures, which takes so
/// many seconds beside the walk, or in them if that is another task; whether the bin is complete.
template <class Walk, class Accumulator, class Bin>
void walk_and_measure(Walk& walk, Accumulator& measured, const problem& p, chain_state& state, bool split,
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
    state.walking_seconds += split ? total : total - measuring - waited;
  }
}

/// Measured by the workers; two-particle functions are summed elsewhere, if that is given.
template <template <class, class> class Measuring, class Walk, class Pool>
void measure_here(Pool& pool, Walk walk, const problem& p, chain_state& state, const run_options& how, control& c,
                  two_particle_sink* elsewhere, const batch::another_step& another) {
  using walker = std::remove_cvref_t<decltype(walk.current())>;
  accumulator measured(p.model, p.measured, p.rules, state.number, elsewhere);
  Measuring<walker, Pool> measure(pool, measured, how);
  walk_and_measure(walk, measured, p, state, how.split, another, [&](std::uint64_t bin, double& seconds) {
    return measure(
        [&](auto&& sink) {
          return walk.bin(state.current, bin, [&](const walker& w, std::uint64_t index) {
            sink(w, index);
            c.measurements.fetch_add(1, std::memory_order_relaxed);
          });
        },
        seconds);
  });
}

/// Measured on the device where it walks.
void measure_there(device::walk_place& where, const problem& p, chain_state& state, control& c,
                   const batch::another_step& another) {
  device::chain_walk walk(where, p.rules, state.number, c, true);
  device::accumulator measured(where, p.rules, state.number);
  walk_and_measure(walk, measured, p, state, false, another,
                   [&](std::uint64_t bin, double&) { return walk.bin(state.current, bin, measured); });
}

/// In its own bath, at the place, with the precision and the way of measuring that are asked for; whether the chain has
/// all its bins.
bool take_on(auto& pool, const problem& all, device::walk_places& devices, chain_state& state, const run_options& how,
             control& c, two_particle_sink* elsewhere, const batch::another_step& another) {
  const problem p = all.of_chain(state.number);
  const auto with = [&]<class Walk>(auto&&... walk) {
    how.split
        ? measure_here<split_measuring>(pool, Walk(walk..., state.number, c), p, state, how, c, elsewhere, another)
        : measure_here<shared_measuring>(pool, Walk(walk..., state.number, c), p, state, how, c, elsewhere, another);
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
  const auto work = [&](auto& pool, chain_state& state, const batch::another_step& another) {
    return take_on(pool, p, devices, state, how, c, nullptr, another);
  };
  batch::options options = how;
  if (!devices.empty() && how.in_flight == 0) options.in_flight = devices.chains();
  batch::run(queue, options, c, "dca chain", work, how.split ? 2 : 1);
}

void run_chains_spread(const problem& p, chain_queue& queue, const run_options& how, control& c, g4_spread& spread) {
  device::walk_places devices(p, how.devices, how.ranks_per_device);
  const auto work = [&](auto& pool, chain_state& state, const batch::another_step& another) {
    g4_spread::source source(spread, int(state.number));
    return take_on(pool, p, devices, state, how, c, &source, another);
  };
  batch::run_together(queue, how, c, "dca chain", work, [&](auto& crew) {
    for (int chain = 0; chain < spread.chains(); ++chain)
      if (!spread.runs_here(chain)) crew.begin("dca g4 of another rank", [&spread, chain] { spread.follow(chain); });
  });
}

}  // namespace plaq::dca

// Markov chain: warm-up, then bins of measurements. A bin starts from vertices alone.
#pragma once
#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "plaq/batch/control.hpp"
#include "plaq/dca/measure/accumulator.hpp"
#include "plaq/dca/problem.hpp"
#include "plaq/dca/streams.hpp"
#include "plaq/dca/walk/walker.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::dca {

/// Counters and stop flag of the running chains; a step of a chain is a bin.
struct control : batch::control {
  std::atomic<std::uint64_t> measurements{0};
  std::atomic<std::uint64_t> sweeps{0};
};

/// State of a chain: all that it resumes from, and its results. Changes only when the warm-up or a bin is complete, so
/// a run that is stopped at any point resumes to the same bits.
struct chain_state {
  std::uint32_t number = 0;
  bool warm = false;
  configuration current;
  std::uint32_t bins_done = 0;
  std::vector<bin_result> bins;  ///< complete bins that were not collected yet
  double drift = 0;              ///< largest change of an element of N by a rebuild
  move_counts moves;             ///< of the complete bins
  double walking_seconds = 0, measuring_seconds = 0;

  bool complete(const chain_rules& r) const { return int(bins_done) >= r.bins; }
};

/// Walk through the warm-up or one bin of a chain. Both return false if the bin was abandoned.
///
/// `Sweeps` makes the sweeps of a walker from given vertices: begin(start, warm_up, stream) with stream(purpose) of the
/// random numbers, next() that returns the largest change of an element of N by a rebuild, and current(), the walker.
template <class Sweeps>
class walk_of_chain {
 public:
  /// @pre All arguments but the model outlive the walk.
  template <class Model, class Moves>
  walk_of_chain(const Model& model, const Moves& moves, const chain_rules& rules, std::uint32_t number, control& c)
      : rules_(rules), number_(number), control_(c), sweeps_(model, moves) {}

  bool warm_up(const configuration& start) {
    begin(start, true, 0);
    return run_sweeps("warm up", rules_.warm_up_sweeps);
  }

  /// Calls sink(walker, index) for every measurement of the bin.
  template <class Sink>
  bool bin(const configuration& start, std::uint64_t number, Sink&& sink) {
    begin(start, false, number);
    for (int m = 0; m < rules_.measurements_per_bin; ++m) {
      if (!run_sweeps("walk", rules_.sweeps_per_measurement)) return false;
      sink(current(), std::uint64_t(m));
    }
    return true;
  }

  const auto& current() const { return sweeps_.current(); }
  double drift() const { return drift_; }
  move_counts moves_of_bin() const {
    const move_counts& now = current().counts();
    return {now.proposed - at_start_.proposed, now.accepted - at_start_.accepted};
  }

 private:
  void begin(const configuration& start, bool warm_up, std::uint64_t bin) {
    sweeps_.begin(start, warm_up, [&](std::uint32_t purpose) { return streams::of(rules_, purpose, number_, bin); });
    at_start_ = current().counts();
    drift_ = 0;
  }
  bool run_sweeps(trace::label name, int count) {
    trace::region scope(name);
    for (int sweep = 0; sweep < count; ++sweep) {
      if (control_.stop.load(std::memory_order_relaxed) == control::abandon) return false;
      drift_ = std::max(drift_, sweeps_.next());
      control_.sweeps.fetch_add(1, std::memory_order_relaxed);
    }
    return true;
  }

  const chain_rules& rules_;
  std::uint32_t number_;
  control& control_;
  Sweeps sweeps_;
  move_counts at_start_;
  double drift_ = 0;
};

/// Sweeps of the CT-AUX walker: single vertices, and now and then a rebuild, a flip of a site and worms.
template <class Real>
class auxiliary_field_sweeps {
 public:
  /// @pre The moves outlive the sweeps.
  auxiliary_field_sweeps(const cluster_model& model, const move_rules& moves)
      : moves_(moves), walker_(model.parameters, model.g0, moves.block_length) {}

  template <class Stream>
  void begin(const configuration& start, bool warm_up, Stream&& stream) {
    proposals_ = stream(warm_up ? streams::warm_up_moves : streams::moves);
    worms_ = stream(warm_up ? streams::warm_up_worms : streams::worms);
    charge_worms_ = stream(warm_up ? streams::warm_up_charge_worms : streams::charge_worms);
    walker_.reset(start);
    next_ = 0;
    sweeps_ = 0;
  }
  double next() {
    double drift = 0;
    walker_.propose(proposals_, next_, moves_.proposals_per_sweep);
    next_ += moves_.proposals_per_sweep;
    if (++sweeps_ % moves_.sweeps_between_rebuilds == 0) {
      trace::region scope("rebuild N");
      drift = walker_.rebuild();
      walker_.flip_site(proposals_, ~std::uint64_t(sweeps_));  // the last numbers, far from those of the sweeps
    }
    if (sweeps_ % moves_.sweeps_between_worms == 0) {
      trace::region scope("worm");
      walker_.send_worm(worms_, std::uint64_t(sweeps_) * (moves_.longest_worm + 1), moves_.longest_worm);
    }
    if (moves_.sweeps_between_charge_worms > 0 && sweeps_ % moves_.sweeps_between_charge_worms == 0) {
      trace::region scope("charge worm");
      const auto numbers = std::uint64_t(charge_worm::numbers) * (moves_.longest_worm + 1);
      walker_.send_charge_worm(charge_worms_, std::uint64_t(sweeps_) * numbers, moves_.longest_worm);
    }
    return drift;
  }
  const walker<Real>& current() const { return walker_; }

 private:
  const move_rules& moves_;
  walker<Real> walker_;
  stream_id proposals_{}, worms_{}, charge_worms_{};
  std::uint64_t next_ = 0;
  int sweeps_ = 0;
};

template <class Real>
using chain_walk = walk_of_chain<auxiliary_field_sweeps<Real>>;

}  // namespace plaq::dca

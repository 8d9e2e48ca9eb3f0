// Markov chain: warm-up, then bins of measurements. A bin starts from vertices alone.
#pragma once
#include <array>
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
template <class Real>
class chain_walk {
 public:
  /// @pre All arguments but the model outlive the walk.
  chain_walk(const cluster_model& model, const move_rules& moves, const chain_rules& rules, std::uint32_t number,
             control& c)
      : moves_(moves),
        rules_(rules),
        number_(number),
        control_(c),
        walker_(model.parameters, model.g0, moves.block_length) {}

  bool warm_up(const configuration& start) {
    begin(start, {streams::warm_up_moves, streams::warm_up_worms, streams::warm_up_charge_worms}, 0);
    return run_sweeps("warm up", rules_.warm_up_sweeps);
  }

  /// Calls sink(walker, index) for every measurement of the bin.
  template <class Sink>
  bool bin(const configuration& start, std::uint64_t number, Sink&& sink) {
    begin(start, {streams::moves, streams::worms, streams::charge_worms}, number);
    for (int m = 0; m < rules_.measurements_per_bin; ++m) {
      if (!run_sweeps("walk", rules_.sweeps_per_measurement)) return false;
      sink(walker_, std::uint64_t(m));
    }
    return true;
  }

  const walker<Real>& current() const { return walker_; }
  double drift() const { return drift_; }
  move_counts moves_of_bin() const {
    return {walker_.counts().proposed - at_start_.proposed, walker_.counts().accepted - at_start_.accepted};
  }

 private:
  // Begins from these vertices; `purposes` of the numbers of moves, worms and charge worms.
  void begin(const configuration& start, const std::array<std::uint32_t, 3>& purposes, std::uint64_t bin) {
    for (std::size_t i = 0; i < purposes.size(); ++i) streams_[i] = streams::of(rules_, purposes[i], number_, bin);
    walker_.reset(start);
    at_start_ = walker_.counts();
    next_ = 0;
    sweeps_ = 0;
    drift_ = 0;
  }
  bool run_sweeps(trace::label name, int count) {
    trace::region scope(name);
    for (int sweep = 0; sweep < count; ++sweep)
      if (!run_sweep()) return false;
    return true;
  }
  bool run_sweep() {
    if (control_.stop.load(std::memory_order_relaxed) == control::abandon) return false;
    const auto& [proposals, worms, charge_worms] = streams_;
    walker_.propose(proposals, next_, moves_.proposals_per_sweep);
    next_ += moves_.proposals_per_sweep;
    if (++sweeps_ % moves_.sweeps_between_rebuilds == 0) {
      trace::region scope("rebuild N");
      drift_ = std::max(drift_, walker_.rebuild());
      walker_.flip_site(proposals, ~std::uint64_t(sweeps_));  // the last numbers, far from those of the sweeps
    }
    if (sweeps_ % moves_.sweeps_between_worms == 0) {
      trace::region scope("worm");
      walker_.send_worm(worms, std::uint64_t(sweeps_) * (moves_.longest_worm + 1), moves_.longest_worm);
    }
    if (moves_.sweeps_between_charge_worms > 0 && sweeps_ % moves_.sweeps_between_charge_worms == 0) {
      trace::region scope("charge worm");
      const auto numbers = std::uint64_t(charge_worm::numbers) * (moves_.longest_worm + 1);
      walker_.send_charge_worm(charge_worms, std::uint64_t(sweeps_) * numbers, moves_.longest_worm);
    }
    control_.sweeps.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  const move_rules& moves_;
  const chain_rules& rules_;
  std::uint32_t number_;
  control& control_;
  walker<Real> walker_;
  std::array<stream_id, 3> streams_{};
  move_counts at_start_;
  std::uint64_t next_ = 0;
  int sweeps_ = 0;
  double drift_ = 0;
};

}  // namespace plaq::dca

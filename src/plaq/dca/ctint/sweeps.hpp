// Sweeps of the walker of the interaction expansion, for dca::walk_of_chain.
#pragma once
#include <cstdint>

#include "plaq/dca/chain.hpp"
#include "plaq/dca/ctint/walker.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::dca::ctint {

class sweeps {
 public:
  /// @pre Both arguments outlive the sweeps.
  sweeps(const interacting_cluster& model, const move_rules& moves) : moves_(moves), walker_(model) {}

  template <class Stream>
  void begin(const configuration& start, bool warm_up, Stream&& stream) {
    proposals_ = stream(warm_up ? streams::warm_up_moves : streams::moves);
    flips_ = stream(warm_up ? streams::warm_up_worms : streams::worms);
    walker_.reset(start);
    next_ = 0;
    sweeps_ = 0;
  }
  double next() {
    walker_.propose(proposals_, next_, moves_.proposals_per_sweep);
    next_ += std::uint64_t(moves_.proposals_per_sweep);
    if (++sweeps_ % moves_.sweeps_between_rebuilds != 0) return 0;
    trace::region scope("rebuild N");
    const double drift = walker_.rebuild();
    walker_.flip_cell(flips_, std::uint64_t(sweeps_));
    return drift;
  }
  const walker& current() const { return walker_; }

 private:
  const move_rules& moves_;
  walker walker_;
  stream_id proposals_{}, flips_{};
  std::uint64_t next_ = 0;
  int sweeps_ = 0;
};

}  // namespace plaq::dca::ctint

// Runs the Markov chains of one iteration as tasks.
#pragma once
#include <vector>

#include "plaq/batch/queue.hpp"
#include "plaq/batch/run.hpp"
#include "plaq/dca/chain.hpp"
#include "plaq/dca/measure/distributed_g4.hpp"
#include "plaq/dca/problem.hpp"
#include "plaq/gpu/devices.hpp"

namespace plaq::dca {

/// How the chains are run; nothing in here changes a result.
struct run_options : batch::options {
  /// Where chains walk and are measured, each at the one that has most room when it comes; none: on the workers, which
  /// also measure where two-particle functions are spread over ranks. This does change a result: by rounding at first,
  /// within errors in the end. Which of them it is does not.
  std::vector<gpu::device> devices{};
  int ranks_per_device = 1;  ///< that share the memory of each
};

struct chain_queue : batch::queue<chain_state> {
  chain_queue() : queue("chains") {}
};

/// Takes every chain of the queue on from its state until all its bins are complete or `c.stop` is set, as
/// batch::run does with pieces of work.
void run_chains(const problem& p, chain_queue& queue, const run_options& how, control& c);

/// The same with two-particle functions spread over ranks: all ranks call with a closed queue of the chains that
/// `spread` says are theirs and their part of it. All chains are under way at once, whatever `how` says, since those
/// of other ranks are followed meanwhile. Bins have no two-particle functions: their shares are in `spread`.
void run_chains_spread(const problem& p, chain_queue& queue, const run_options& how, control& c, g4_spread& spread);

}  // namespace plaq::dca

// Solver: runs the Markov chains of one iteration as tasks.
#pragma once
#include <vector>

#include "plaq/batch/queue.hpp"
#include "plaq/batch/run.hpp"
#include "plaq/dca/chain.hpp"
#include "plaq/dca/measure/distributed_g4.hpp"
#include "plaq/dca/problem.hpp"
#include "plaq/gpu/devices.hpp"

namespace plaq::dca {

/// Options of a run of chains; only `devices` changes a result.
struct run_options : batch::options {
  /// Devices where chains walk and are measured, each on the one with the largest free share; empty: on the workers.
  /// With distributed two-particle functions the workers measure in any case. Results on a device differ from those of
  /// the workers, by rounding at first and within errors in the end. They do not depend on which device runs a chain.
  std::vector<gpu::device> devices{};
  int ranks_per_device = 1;  ///< ranks that share the memory of each device
};

/// Queue of chains.
struct chain_queue : batch::queue<chain_state> {
  chain_queue() : queue("chains") {}
};

/// Advances every chain of the queue until all its bins are complete or `c.stop` is set, as batch::run does.
///
/// Throws the first error of a chain after all have ended; the chains are then back in the queue.
void run_chains(const problem& p, chain_queue& queue, const run_options& options, control& c);

/// Runs chains with two-particle functions distributed over ranks. Bins have no two-particle functions; `shares` has
/// them.
///
/// Collective: all ranks call with a closed queue of the chains that are local by `shares`. All chains are in progress
/// at once, whatever the options say, since the chains of other ranks are summed concurrently.
void run_chains_distributed(const problem& p, chain_queue& queue, const run_options& options, control& c,
                            distributed_g4& shares);

}  // namespace plaq::dca

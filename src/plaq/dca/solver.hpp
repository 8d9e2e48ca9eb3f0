// Runs the Markov chains of one iteration as tasks.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "plaq/dca/chain_queue.hpp"
#include "plaq/dca/g4_spread.hpp"
#include "plaq/dca/in_flight.hpp"
#include "plaq/dca/problem.hpp"
#include "plaq/task/options.hpp"

namespace plaq::dca {

/// How the chains are run; nothing in here changes a result.
struct run_options {
  std::string backend = "fiber";  ///< see task::backends()
  task::options pool{};           ///< workers and where they run
  bool split = false;             ///< a task of its own for the accumulator of every chain
  int in_flight = 0;              ///< chains under way at once; 0: a policy looks for the number while they run
  std::function<int(const pressure&)> decide{};  ///< that policy, called every `look_every`; empty: in_flight_rule
  std::chrono::milliseconds look_every{100};
  int channel_depth = 4;          ///< samples that wait for an accumulator, when split
};

/// Takes every chain of the queue on from its state until all its bins are complete or `c.stop` is set. Blocks the
/// caller until the queue is closed and empty, or the run is stopped. Errors of a chain are thrown after all chains
/// have ended; states of all, that one too, stay valid.
/// With `spread`, all ranks call with the chains that it says are theirs and their part of it, and bins have no
/// two-particle slices: their shares are in there.
void run_chains(std::shared_ptr<const problem> p, chain_queue& queue, const run_options& how, control& c,
                g4_spread* spread = nullptr);

}  // namespace plaq::dca

// Solver by the interaction expansion: runs the Markov chains of one iteration as tasks.
#pragma once
#include "plaq/batch/run.hpp"
#include "plaq/dca/ctint/problem.hpp"
#include "plaq/dca/solver.hpp"

namespace plaq::dca::ctint {

/// Advances every chain of the queue until all its bins are complete or `c.stop` is set, as dca::run_chains does.
void run_chains(const problem& p, chain_queue& queue, const batch::options& options, control& c);

}  // namespace plaq::dca::ctint

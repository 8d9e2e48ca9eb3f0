#include "plaq/dca/ctint/solver.hpp"

#include "plaq/dca/advance.hpp"
#include "plaq/dca/ctint/accumulator.hpp"
#include "plaq/dca/ctint/sweeps.hpp"

namespace plaq::dca::ctint {

void run_chains(const problem& p, chain_queue& queue, const batch::options& options, control& c) {
  batch::run(queue, options, c, "dca chain", [&](auto&, chain_state& state, const batch::another_step& another) {
    const interacting_cluster model = p.model_of_chain(state.number);
    walk_of_chain<sweeps> walk(model, p.moves, p.rules, state.number, c);
    accumulator measured(model, p.measured, p.rules, state.number);
    measure_on_worker<sample>(walk, measured, p.rules, state, c, another);
    return state.complete(p.rules);
  });
}

}  // namespace plaq::dca::ctint

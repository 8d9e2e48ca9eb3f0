#include "plaq/dca/ctint/solver.hpp"

#include "plaq/dca/advance.hpp"
#include "plaq/dca/ctint/accumulator.hpp"
#include "plaq/dca/ctint/sweeps.hpp"

namespace plaq::dca::ctint {

void run_chains(const problem& p, chain_queue& queue, const batch::options& options, control& c) {
  batch::run(queue, options, c, "dca chain", [&](auto&, chain_state& state, const batch::another_step& another) {
    const problem own = p.for_chain(state.number);
    walk_of_chain<sweeps> walk(own.model, own.moves, own.rules, state.number, c);
    accumulator measured(own.model, own.measured, own.rules, state.number);
    measure_on_worker<sample>(walk, measured, own.rules, state, c, another);
    return state.complete(own.rules);
  });
}

}  // namespace plaq::dca::ctint

// Coarse matrices V^+ M V.
#pragma once
#include "plaq/lqcd/dirac/wilson.hpp"
#include "plaq/lqcd/solver/coarse.hpp"
#include "plaq/lqcd/solver/spinor_slots.hpp"
#include "plaq/lqcd/solver/transfer.hpp"

namespace plaq::lqcd {

/// Returns the couplings of V^+ M V. Zero columns of V get one on the diagonal. Collective.
coarse_links galerkin(context& ctx, const wilson<float>& M, const spinor_slots& slots, const transfer& V);
/// Returns the same for a coarse matrix with these couplings, whose sites are the aggregates of `sites`. Its rows have
/// the length of those of the result.
coarse_links galerkin(context& ctx, const coarse_links& M, const aggregation& sites, const transfer& V);

}  // namespace plaq::lqcd

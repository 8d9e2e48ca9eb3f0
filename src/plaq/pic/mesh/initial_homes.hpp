// First distribution of the patches of a plan to ranks.
#pragma once
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/collection/balancing.hpp"
#include "plaq/collection/collection.hpp"
#include "plaq/pic/mesh/neighbours.hpp"

namespace plaq::pic {

/// Returns the first homes: the Hilbert curve is cut into parts of equal estimated load.
inline homes<index3> initial_homes(const plan& p, const std::vector<double>& estimate, int ranks) {
  const box<index3> all(index_of(p.patches));
  if (estimate.empty()) return hilbert_homes(all);
  if (estimate.size() != all.size())
    throw input_error("estimate: " + std::to_string(estimate.size()) + " loads for " + std::to_string(all.size()) +
                      " patches");
  balance::load_distribution s{.ranks = ranks, .loads = estimate, .rank_of = std::vector<int>(estimate.size())};
  for (int n = 0; n < int(all.size()); ++n)
    s.positions.push_back(elements::hilbert_position(point_of(patch_of(p, n)), p.patches));
  balance::validate(s);
  auto out = homes_by_rule(all, [p, where = balance::hilbert_cut(s)](const index3& at, int) {
    return where[std::size_t(patch_number(p, at))];
  });
  out.position = [extent = p.patches](const index3& at) { return elements::hilbert_position(point_of(at), extent); };
  return out;
}

}  // namespace plaq::pic

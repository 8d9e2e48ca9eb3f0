#include "plaq/lqcd/solver/aggregation.hpp"

#include <cstdlib>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

coordinates choose_aggregates(const coordinates& extents) {
  coordinates box;
  for (int mu = 0; mu < 4; ++mu) {
    box[mu] = 1;
    for (int n = 1; n <= extents[mu] / 2; ++n)
      if (extents[mu] % (2 * n) == 0 && std::abs(n - 4) <= std::abs(box[mu] - 4)) box[mu] = n;
  }
  return box;
}

aggregation::aggregation(const lattice& on, const coordinates& extents, const coordinates& box) : on_(on), box_(box) {
  coordinates start, rank = on.rank_in_grid(), origin;
  for (int mu = 0; mu < 4; ++mu) {
    local_[mu] = extents[mu] / on.grid[mu], origin[mu] = rank[mu] * local_[mu];
    if (box[mu] < 1 || local_[mu] % box[mu] || extents[mu] / box[mu] % 2)
      throw input_error("aggregates of " + to_string(box) + " sites do not fit: every direction of the lattice, " +
                        to_string(extents) + ", has an even number of them, and of a rank's box, " + to_string(local_) +
                        ", a whole number");
    aggregates_[mu] = extents[mu] / box[mu], coarse_[mu] = local_[mu] / box[mu], start[mu] = origin[mu] / box[mu];
  }
  const auto parity_of = [&](const coordinates& c) { return parity(c + start); };
  // Aggregates by parity, in the order of their coordinates.
  std::vector<coordinates> order;
  number_.resize(product(coarse_));
  for (const int p : {0, 1}) {
    for (std::int64_t i = 0; i < product(coarse_); ++i) {
      const auto c = coordinates_in(i, coarse_);
      if (parity_of(c) == p) number_[i] = std::int64_t(order.size()), order.push_back(c);
    }
    if (p == 0) even_ = std::int64_t(order.size());
  }
  slots_.resize(product(local_));
  for (const auto& c : order) {
    coordinates first;
    for (int mu = 0; mu < 4; ++mu) first[mu] = c[mu] * box[mu];
    for (const int p : {0, 1}) {
      if (p == 1) even_sites_.push_back(std::int64_t(sites_.size()) - slots(std::int64_t(even_sites_.size())));
      for (std::int64_t i = 0; i < sites(); ++i) {
        const auto x = first + coordinates_in(i, box_);
        if (parity(x + origin) != p) continue;
        slots_[index_in(x, local_)] = std::int64_t(sites_.size());
        sites_.push_back(x);
      }
    }
    auto& next = neighbour_.emplace_back();
    for (int d = 0; d < neighbours; ++d) {
      const int mu = d / 2, step = d % 2 ? -1 : 1, q = 1 - parity_of(c);
      const bool at_edge = c[mu] + step < 0 || c[mu] + step == coarse_[mu];
      if (at_edge && is_cut(mu))
        next[d] = -1 - std::int64_t(received_counts_[d][q]++);
      else
        next[d] = aggregate(neighbour_of(c, mu, step, coarse_));
    }
  }
  // The rank behind edge d needs our aggregates at the opposite edge.
  for (int d = 0; d < neighbours; ++d)
    for (std::size_t a = 0; is_cut(d / 2) && a < order.size(); ++a)
      if (order[a][d / 2] == (d % 2 ? coarse_[d / 2] - 1 : 0))
        boundary_aggregates_[d][parity_of(order[a])].push_back(std::int64_t(a));
}

}  // namespace plaq::lqcd

#include "plaq/lqcd/solver/aggregation.hpp"

#include <cstdlib>
#include <utility>

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

aggregation::aggregation(std::shared_ptr<const site_layout> layout, const coordinates& box)
    : layout_(std::move(layout)), box_(box) {
  const lattice& on = layout_->lattice();
  const auto local = on.local(), origin = on.origin();
  coordinates coarse, start;
  for (int mu = 0; mu < 4; ++mu) {
    if (box[mu] < 1 || local[mu] % box[mu] || on.extents[mu] / box[mu] % 2)
      throw input_error("aggregates of " + to_string(box) + " sites do not fit: every direction of the lattice, " +
                        to_string(on.extents) + ", has an even number of them, and of a rank's box, " +
                        to_string(local) + ", a whole number");
    coarse[mu] = local[mu] / box[mu], start[mu] = origin[mu] / box[mu];
  }
  const auto parity_of = [&](const coordinates& c) { return parity(c + start); };
  // Aggregates by parity, in the order of their coordinates.
  std::vector<coordinates> order;
  std::vector<std::int64_t> number(product(coarse));
  for (const int p : {0, 1}) {
    for (std::int64_t i = 0; i < product(coarse); ++i) {
      const auto c = coordinates_in(i, coarse);
      if (parity_of(c) == p) number[i] = std::int64_t(order.size()), order.push_back(c);
    }
    if (p == 0) even_ = std::int64_t(order.size());
  }
  slots_.resize(product(local));
  slot_in_group_.resize(layout_->groups() * layout_->lanes());
  for (const auto& c : order) {
    coordinates first;
    for (int mu = 0; mu < 4; ++mu) first[mu] = c[mu] * box[mu];
    for (const int p : {0, 1}) {
      if (p == 1) even_sites_.push_back(std::int64_t(sites_.size()) - slots(std::int64_t(even_sites_.size())));
      for (std::int64_t i = 0; i < sites(); ++i) {
        const auto x = first + coordinates_in(i, box_);
        if (parity(x) != p) continue;  // boxes of ranks begin at even sites
        const auto at = layout_->locate(x);
        slots_[index_in(x, local)] = slot_in_group_[at.group * layout_->lanes() + at.lane] =
            std::int64_t(sites_.size());
        sites_.push_back(x), locations_.push_back(at);
      }
    }
    auto& next = neighbour_.emplace_back();
    for (int d = 0; d < neighbours; ++d) {
      const int mu = d / 2, step = d % 2 ? -1 : 1, q = 1 - parity_of(c);
      const bool at_edge = c[mu] + step < 0 || c[mu] + step == coarse[mu];
      if (at_edge && layout_->is_cut(mu))
        next[d] = -1 - std::int64_t(received_counts_[d][q]++);
      else
        next[d] = number[index_in(neighbour_of(c, mu, step, coarse), coarse)];
    }
  }
  // The rank behind edge d needs our aggregates at the opposite edge.
  for (int d = 0; d < neighbours; ++d)
    for (std::size_t a = 0; layout_->is_cut(d / 2) && a < order.size(); ++a)
      if (order[a][d / 2] == (d % 2 ? coarse[d / 2] - 1 : 0))
        boundary_aggregates_[d][parity_of(order[a])].push_back(std::int64_t(a));
}

void aggregation::gather(context& ctx, const spinors<float>& f, std::vector<float>& numbers) const {
  const int n = f.lanes();
  ctx.workers.parallel_for("gather", std::size_t(f.groups()), [&](std::size_t begin, std::size_t end) {
    std::array<float*, site_layout::max_lanes> to;
    for (std::size_t b = begin; b < end; ++b) {
      const float* from = f.data() + b * 24 * n;
      for (int l = 0; l < n; ++l) to[l] = numbers.data() + slot_in_group_[(f.first_group() + b) * n + l] * 24;
      for (int i = 0; i < 24; ++i)
        for (int l = 0; l < n; ++l) to[l][i] = from[i * n + l];
    }
  });
}

void aggregation::scatter(context& ctx, const std::vector<float>& numbers, spinors<float>& f) const {
  const int n = f.lanes();
  ctx.workers.parallel_for("scatter", std::size_t(f.groups()), [&](std::size_t begin, std::size_t end) {
    std::array<const float*, site_layout::max_lanes> from;
    for (std::size_t b = begin; b < end; ++b) {
      float* to = f.data() + b * 24 * n;
      for (int l = 0; l < n; ++l) from[l] = numbers.data() + slot_in_group_[(f.first_group() + b) * n + l] * 24;
      for (int i = 0; i < 24; ++i)
        for (int l = 0; l < n; ++l) to[i * n + l] = from[l][i];
    }
  });
}

}  // namespace plaq::lqcd

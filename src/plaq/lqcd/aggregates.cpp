#include "plaq/lqcd/aggregates.hpp"

#include <cstdlib>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

coordinates aggregates_for(const coordinates& extents) {
  coordinates box;
  for (int mu = 0; mu < 4; ++mu) {
    box[mu] = 1;
    for (int n = 1; n <= extents[mu] / 2; ++n)
      if (extents[mu] % (2 * n) == 0 && std::abs(n - 4) <= std::abs(box[mu] - 4)) box[mu] = n;
  }
  return box;
}

aggregates::aggregates(std::shared_ptr<const layout> where, const coordinates& box)
    : where_(std::move(where)), box_(box) {
  const lattice& on = where_->on();
  const auto local = on.local(), origin = on.origin();
  coordinates coarse, start;
  for (int mu = 0; mu < 4; ++mu) {
    if (box[mu] < 1 || local[mu] % box[mu] || on.extents[mu] / box[mu] % 2)
      throw input_error("aggregates of " + in_words(box) + " sites do not fit: every direction of the lattice, " +
                        in_words(on.extents) + ", has an even number of them, and of a rank's box, " + in_words(local) +
                        ", a whole number");
    coarse[mu] = local[mu] / box[mu], start[mu] = origin[mu] / box[mu];
  }
  const auto parity_of = [&](const coordinates& c) { return parity(c + start); };
  // Aggregates by parity, in the order of their places.
  std::vector<coordinates> order;
  std::vector<std::int64_t> number(product(coarse));
  for (const int p : {0, 1}) {
    for (std::int64_t i = 0; i < product(coarse); ++i) {
      const auto c = place_in(i, coarse);
      if (parity_of(c) == p) number[i] = std::int64_t(order.size()), order.push_back(c);
    }
    if (p == 0) even_ = std::int64_t(order.size());
  }
  slots_.resize(product(local));
  slot_in_block_.resize(where_->blocks() * where_->lanes());
  for (const auto& c : order) {
    coordinates first;
    for (int mu = 0; mu < 4; ++mu) first[mu] = c[mu] * box[mu];
    for (const int p : {0, 1}) {
      if (p == 1) even_sites_.push_back(std::int64_t(sites_.size()) - slots(std::int64_t(even_sites_.size())));
      for (std::int64_t i = 0; i < sites(); ++i) {
        const auto x = first + place_in(i, box_);
        if (parity(x) != p) continue;  // ranks begin at even sites
        const auto at = where_->where(x);
        slots_[number_in(x, local)] = slot_in_block_[at.block * where_->lanes() + at.lane] =
            std::int64_t(sites_.size());
        sites_.push_back(x), places_.push_back(at);
      }
    }
    auto& next = neighbour_.emplace_back();
    for (int d = 0; d < neighbours; ++d) {
      const int mu = d / 2, step = d % 2 ? -1 : 1, q = 1 - parity_of(c);
      const bool leaves = c[mu] + step < 0 || c[mu] + step == coarse[mu];
      if (leaves && where_->is_cut(mu))
        next[d] = -1 - std::int64_t(wants_[d][q]++);
      else
        next[d] = number[number_in(moved(c, mu, step, coarse), coarse)];
    }
  }
  // What we want over edge d of the rank there, the one behind it wants of us: our aggregates at the other edge.
  for (int d = 0; d < neighbours; ++d)
    for (std::size_t a = 0; where_->is_cut(d / 2) && a < order.size(); ++a)
      if (order[a][d / 2] == (d % 2 ? coarse[d / 2] - 1 : 0))
        wanted_[d][parity_of(order[a])].push_back(std::int64_t(a));
}

void aggregates::gather(engine& by, const spinors<float>& f, std::vector<float>& numbers) const {
  const int n = f.lanes();
  by.hands.each("gather", std::size_t(f.blocks()), [&](std::size_t begin, std::size_t end) {
    std::array<float*, layout::most_lanes> to;
    for (std::size_t b = begin; b < end; ++b) {
      const float* from = f.data() + b * 24 * n;
      for (int l = 0; l < n; ++l) to[l] = numbers.data() + slot_in_block_[(f.first_block() + b) * n + l] * 24;
      for (int i = 0; i < 24; ++i)
        for (int l = 0; l < n; ++l) to[l][i] = from[i * n + l];
    }
  });
}

void aggregates::scatter(engine& by, const std::vector<float>& numbers, spinors<float>& f) const {
  const int n = f.lanes();
  by.hands.each("scatter", std::size_t(f.blocks()), [&](std::size_t begin, std::size_t end) {
    std::array<const float*, layout::most_lanes> from;
    for (std::size_t b = begin; b < end; ++b) {
      float* to = f.data() + b * 24 * n;
      for (int l = 0; l < n; ++l) from[l] = numbers.data() + slot_in_block_[(f.first_block() + b) * n + l] * 24;
      for (int i = 0; i < 24; ++i)
        for (int l = 0; l < n; ++l) to[i * n + l] = from[l][i];
    }
  });
}

}  // namespace plaq::lqcd

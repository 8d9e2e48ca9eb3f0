#include "plaq/lqcd/layout.hpp"

#include <limits>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

sub_boxes cut_for(const lattice& of, int lanes) {
  check(lanes >= 1 && lanes <= layout::most_lanes && (lanes & (lanes - 1)) == 0, "a layout has 1, 2, 4, 8 or 16 lanes");
  sub_boxes cut{.extents = of.local()};
  // Space is cut before time, the longest extent first, of equal ones that with the shortest stride, as long as halves
  // are even: blocks are in the order of time, so the slices that a site's neighbours ahead and behind are in lie close
  // together, and those who work on parts of the blocks share few of them.
  while (cut.lanes < lanes) {
    int longest = -1;
    for (const int mu : {3, 2, 1, 0})
      if (cut.extents[mu] % 4 == 0 && (longest < 0 || (mu > 0 && cut.extents[mu] > cut.extents[longest]))) longest = mu;
    if (longest < 0) break;
    cut.extents[longest] /= 2, cut.split[longest] *= 2, cut.lanes *= 2;
  }
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (product(cut.extents) > most)
    throw input_error("boxes of " + in_words(of.local()) + " sites are too large: a rank has at most " +
                      std::to_string(most * cut.lanes) + " of them");
  return cut;
}

layout::layout(const lattice& of, int lanes) : lattice_(of), cut_(cut_for(of, lanes)) {
  const auto& [count, split, sub] = cut_;
  half_ = product(sub) / 2;
  for (int d = 0; d < neighbours; ++d) {
    const int mu = d / 2, step = d % 2 ? -1 : 1;
    for (int l = 0; l < count; ++l) {
      const auto v = place_in(l, split);
      lane_from_[d][l] = int(number_in(moved(v, mu, step, split), split));
      if (v[mu] == (step > 0 ? split[mu] - 1 : 0)) edge_lanes_[d].push_back(l);
    }
    for (int p = 0; p < 2; ++p)
      if (is_cut(mu)) faces_[p][d].resize(face_size(mu));
  }
  next_.resize(blocks());
  edges_.resize(blocks());
  for (std::int64_t b = 0; b < blocks(); ++b) {
    const auto x = in_sub_box(b);
    const int p = b >= half_;
    for (int d = 0; d < neighbours; ++d) {
      const int mu = d / 2, step = d % 2 ? -1 : 1;
      next_[b][d] = std::int32_t((1 - p) * half_ + number_in(moved(x, mu, step, sub), sub) / 2);
      if (x[mu] != (step > 0 ? sub[mu] - 1 : 0)) continue;
      if (split[mu] > 1) edges_[b] |= std::uint16_t(1 << d);
      if (!is_cut(mu)) continue;
      edges_[b] |= std::uint16_t(1 << (8 + d));
      const auto number = face_number(x, mu);
      faces_[p][d][number] = std::exchange(next_[b][d], std::int32_t(number));
    }
    (edges_[b] >> 8 ? outside_ : inside_)[p].push_back(std::int32_t(b));
  }
}

coordinates layout::in_sub_box(std::int64_t block) const {
  const int p = block >= half_;
  auto x = place_in(2 * (block - p * half_), sub());  // or the next one, which has the other parity
  if (parity(x) != p) ++x[3];
  return x;
}

layout::place layout::where(const coordinates& local) const {
  coordinates x, v;
  for (int mu = 0; mu < 4; ++mu) x[mu] = local[mu] % sub()[mu], v[mu] = local[mu] / sub()[mu];
  return {parity(x) * half_ + number_in(x, sub()) / 2, int(number_in(v, split()))};
}

coordinates layout::site(std::int64_t block, int lane) const {
  auto x = in_sub_box(block);
  const auto v = place_in(lane, split());
  for (int mu = 0; mu < 4; ++mu) x[mu] += v[mu] * sub()[mu];
  return x;
}

std::int64_t layout::face_number(coordinates x, int mu) const {
  // Numbers go in pairs of the two parities along the last direction that remains.
  auto box = sub();
  x[mu] = 0, box[mu] = 1;
  return number_in(x, box) / 2;
}

}  // namespace plaq::lqcd

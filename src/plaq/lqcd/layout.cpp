#include "plaq/lqcd/layout.hpp"

#include <limits>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

layout::layout(const lattice& of, int lanes) : lattice_(of), sub_(of.local()) {
  check(lanes >= 1 && lanes <= most_lanes && (lanes & (lanes - 1)) == 0, "a layout has 1, 2, 4, 8 or 16 lanes");
  // Space is cut before time, the longest extent first, of equal ones that with the shortest stride, as long as halves
  // are even: blocks are in the order of time, so the slices that a site's neighbours ahead and behind are in lie close
  // together, and those who work on parts of the blocks share few of them.
  while (lanes_ < lanes) {
    int longest = -1;
    for (const int mu : {3, 2, 1, 0})
      if (sub_[mu] % 4 == 0 && (longest < 0 || (mu > 0 && sub_[mu] > sub_[longest]))) longest = mu;
    if (longest < 0) break;
    sub_[longest] /= 2, split_[longest] *= 2, lanes_ *= 2;
  }
  half_ = product(sub_) / 2;
  check(2 * half_ <= std::numeric_limits<std::int32_t>::max(), "a rank has too many sites");

  for (int d = 0; d < neighbours; ++d) {
    const int mu = d / 2, step = d % 2 ? -1 : 1;
    for (int l = 0; l < lanes_; ++l) {
      const auto v = place_in(l, split_);
      lane_from_[d][l] = int(number_in(moved(v, mu, step, split_), split_));
      if (v[mu] == (step > 0 ? split_[mu] - 1 : 0)) edge_lanes_[d].push_back(l);
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
      next_[b][d] = std::int32_t((1 - p) * half_ + number_in(moved(x, mu, step, sub_), sub_) / 2);
      if (x[mu] != (step > 0 ? sub_[mu] - 1 : 0)) continue;
      if (split_[mu] > 1) edges_[b] |= std::uint16_t(1 << d);
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
  auto x = place_in(2 * (block - p * half_), sub_);  // or the next one, which has the other parity
  if (parity(x) != p) ++x[3];
  return x;
}

layout::place layout::where(const coordinates& local) const {
  coordinates x, v;
  for (int mu = 0; mu < 4; ++mu) x[mu] = local[mu] % sub_[mu], v[mu] = local[mu] / sub_[mu];
  return {parity(x) * half_ + number_in(x, sub_) / 2, int(number_in(v, split_))};
}

coordinates layout::site(std::int64_t block, int lane) const {
  auto x = in_sub_box(block);
  const auto v = place_in(lane, split_);
  for (int mu = 0; mu < 4; ++mu) x[mu] += v[mu] * sub_[mu];
  return x;
}

std::int64_t layout::face_number(coordinates x, int mu) const {
  // Numbers go in pairs of the two parities along the last direction that remains.
  auto box = sub_;
  x[mu] = 0, box[mu] = 1;
  return number_in(x, box) / 2;
}

}  // namespace plaq::lqcd

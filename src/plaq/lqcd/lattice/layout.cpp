#include "plaq/lqcd/lattice/layout.hpp"

#include <limits>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

sub_boxes choose_sub_boxes(const lattice& lat, int lanes) {
  check(lanes >= 1 && lanes <= site_layout::max_lanes && (lanes & (lanes - 1)) == 0,
        "a layout has 1, 2, 4, 8 or 16 lanes");
  sub_boxes cut{.extents = lat.local()};
  // Space is cut before time, the longest extent first, among equal ones that with the shortest stride, as long as
  // halves are even. Groups are in the order of time. So the time slices of a site's neighbours are close in memory,
  // and workers on different ranges of groups share few slices.
  while (cut.lanes < lanes) {
    int longest = -1;
    for (const int mu : {3, 2, 1, 0})
      if (cut.extents[mu] % 4 == 0 && (longest < 0 || (mu > 0 && cut.extents[mu] > cut.extents[longest]))) longest = mu;
    if (longest < 0) break;
    cut.extents[longest] /= 2, cut.split[longest] *= 2, cut.lanes *= 2;
  }
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (product(cut.extents) > most)
    throw input_error("boxes of " + to_string(lat.local()) + " sites are too large: a rank has at most " +
                      std::to_string(most * cut.lanes) + " of them");
  return cut;
}

site_layout::site_layout(const lqcd::lattice& lat, int lanes) : lattice_(lat), cut_(choose_sub_boxes(lat, lanes)) {
  const auto& [count, split, sub] = cut_;
  half_ = product(sub) / 2;
  for (int d = 0; d < neighbours; ++d) {
    const int mu = d / 2, step = d % 2 ? -1 : 1;
    for (int l = 0; l < count; ++l) {
      const auto v = coordinates_in(l, split);
      lane_from_[d][l] = int(index_in(neighbour_of(v, mu, step, split), split));
      if (v[mu] == (step > 0 ? split[mu] - 1 : 0)) edge_lanes_[d].push_back(l);
    }
    for (int p = 0; p < 2; ++p)
      if (is_cut(mu)) faces_[p][d].resize(face_size(mu));
  }
  neighbours_.resize(groups());
  edges_.resize(groups());
  for (std::int64_t b = 0; b < groups(); ++b) {
    const auto x = in_sub_box(b);
    const int p = b >= half_;
    for (int d = 0; d < neighbours; ++d) {
      const int mu = d / 2, step = d % 2 ? -1 : 1;
      neighbours_[b][d] = std::int32_t((1 - p) * half_ + index_in(neighbour_of(x, mu, step, sub), sub) / 2);
      if (x[mu] != (step > 0 ? sub[mu] - 1 : 0)) continue;
      if (split[mu] > 1) edges_[b] |= std::uint16_t(1 << d);
      if (!is_cut(mu)) continue;
      edges_[b] |= std::uint16_t(1 << (8 + d));
      const auto index = face_index(x, mu);
      faces_[p][d][index] = std::exchange(neighbours_[b][d], std::int32_t(index));
    }
    (edges_[b] >> 8 ? boundary_ : interior_)[p].push_back(std::int32_t(b));
  }
}

coordinates site_layout::in_sub_box(std::int64_t group) const {
  const int p = group >= half_;
  auto x = coordinates_in(2 * (group - p * half_), sub());  // or the next site, which has the other parity
  if (parity(x) != p) ++x[3];
  return x;
}

site_layout::location site_layout::locate(const coordinates& local) const {
  coordinates x, v;
  for (int mu = 0; mu < 4; ++mu) x[mu] = local[mu] % sub()[mu], v[mu] = local[mu] / sub()[mu];
  return {parity(x) * half_ + index_in(x, sub()) / 2, int(index_in(v, split()))};
}

coordinates site_layout::coordinates_of(std::int64_t group, int lane) const {
  auto x = in_sub_box(group);
  const auto v = coordinates_in(lane, split());
  for (int mu = 0; mu < 4; ++mu) x[mu] += v[mu] * sub()[mu];
  return x;
}

std::int64_t site_layout::face_index(coordinates x, int mu) const {
  // Sites of the two parities alternate along the last remaining direction.
  auto box = sub();
  x[mu] = 0, box[mu] = 1;
  return index_in(x, box) / 2;
}

}  // namespace plaq::lqcd

#include "plaq/lqcd/lattice/copy.hpp"

namespace plaq::lqcd {

places_in::places_in(const site_layout& layout, const site_layout& groups_of) : layout_(layout), groups_of_(groups_of) {
  std::int64_t site_stride = 1;
  int lane_stride = 1;
  for (int mu = 3; mu >= 0; --mu) {
    const int extent = layout.sub()[mu];
    for (int x = 0; x < layout.split()[mu] * extent; ++x)
      parts_[mu].push_back({x % extent * site_stride, x / extent * lane_stride});
    site_stride *= extent, lane_stride *= layout.split()[mu];
  }
  for (int l = 0; l < groups_of.lanes(); ++l) {
    origins_[l] = coordinates_in(l, groups_of.split());
    for (int mu = 0; mu < 4; ++mu) origins_[l][mu] *= groups_of.sub()[mu];
  }
  std::array<site_layout::location, site_layout::max_lanes> first;
  of(0, first);
  const auto in_runs = [&](int run) {
    for (int l = 0; l < groups_of.lanes(); ++l)
      if (first[l].group != first[l / run * run].group || first[l].lane != first[l / run * run].lane + l % run)
        return false;
    return true;
  };
  while (2 * run_ <= std::min(layout.lanes(), groups_of.lanes()) && in_runs(2 * run_)) run_ *= 2;
}

void places_in::of(std::int64_t group, std::array<site_layout::location, site_layout::max_lanes>& places) const {
  const auto x = groups_of_.coordinates_of(group, 0);  // lane 0 has the first sub-box
  const std::int64_t first = group >= groups_of_.half() ? layout_.half() : 0;
  for (int l = 0; l < groups_of_.lanes(); ++l) {
    site_layout::location at{0, 0};
    for (int mu = 0; mu < 4; ++mu) {
      const auto& part = parts_[mu][std::size_t(x[mu] + origins_[l][mu])];
      at.group += part.site, at.lane += part.lane;
    }
    places[l] = {first + at.group / 2, at.lane};
  }
}

void check_copy(const site_layout& from, sites from_subset, const site_layout& to, sites to_subset) {
  check(from.lattice() == to.lattice() && from_subset == to_subset, "fields of different lattices");
}

}  // namespace plaq::lqcd

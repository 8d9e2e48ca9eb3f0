#include "plaq/lqcd/device/half_field.hpp"

#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/device/sites.hpp"

namespace plaq::lqcd::device {

namespace {

using block = spinor_block<double>;

/// Calls f(location, numbers of the host's copy, lane) for all sites of a parity.
template <class F>
void for_each_site_of(workers& by, const site_layout& layout, int parity, std::vector<block>& blocks, F&& f) {
  const std::int64_t sites = layout.lattice().volume() / 2;
  by.parallel_for("copy", blocks.size(), [&](std::size_t first, std::size_t end) {
    for (auto b = std::int64_t(first); b < std::int64_t(end); ++b)
      for (int lane = 0; lane < together && b * together + lane < sites; ++lane)
        f(layout.locate(site_at(layout.lattice().extents, parity, b * together + lane)), blocks[std::size_t(b)], lane);
  });
}

void check_sites(const site_layout& layout, int sites) {
  check(layout.lattice().volume() == 2 * std::int64_t(sites), "a field of another lattice");
}

}  // namespace

void copy_to_device(workers& by, const spinors<double>& from, int parity, half_field<double>& to) {
  check_sites(from.layout(), to.sites());
  std::vector<block> blocks(std::size_t(blocks_for(to.sites())));
  for_each_site_of(by, from.layout(), parity, blocks, [&](site_layout::location at, block& b, int lane) {
    for (int i = 0; i < 12; ++i) {
      const auto z = from.get(at, i);
      b.at[i][lane] = {z.real(), z.imag()};
    }
  });
  to.memory().put(0, blocks.data(), blocks.size() * sizeof(block));
}

void copy_from_device(workers& by, const half_field<double>& from, int parity, spinors<double>& to) {
  check_sites(to.layout(), from.sites());
  std::vector<block> blocks(std::size_t(blocks_for(from.sites())));
  from.memory().get(0, blocks.data(), blocks.size() * sizeof(block));
  for_each_site_of(by, to.layout(), parity, blocks, [&](site_layout::location at, const block& b, int lane) {
    for (int i = 0; i < 12; ++i) to.set(at, i, {b.at[i][lane].at[0], b.at[i][lane].at[1]});
  });
}

}  // namespace plaq::lqcd::device

// Runs on any number of ranks.
#include <gtest/gtest.h>

#include <array>

#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/gauge/gauge.hpp"
#include "plaq/lqcd/gauge/gauge_fixing.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

TEST(gauge_fixing, has_the_same_bits_on_any_grid_with_any_lanes_and_workers) {
  const coordinates box{8, 4, 4, 4};
  const auto measured = [](rank_context& ranks, const lattice& on, int lanes, int lowest) {
    links<double> u(std::make_shared<site_layout>(on, lanes));
    hot_start(u, 11);
    for (std::uint32_t i = 0; i < 3; ++i) heat_bath(ranks.ctx, u, {6.5}, {.seed = 1, .chain = 0, .sweep = i});
    const auto q = fix_gauge(ranks.ctx, u, {lowest, 1.7, 1e-30, 25});
    EXPECT_EQ(q.sweeps, 25);
    return std::array{q.functional, q.theta, plaquette(ranks.ctx, u).temporal};
  };
  rank_context single(single_rank());
  for (const int lowest : {0, 1}) {
    const auto expected = measured(single, lattice(box), 1, lowest);
    for (const auto& [lanes, workers] : {std::pair(1, 1), std::pair(max_lanes<double>(), 2)}) {
      rank_context ranks(world(), "fiber", workers);
      for (const auto& grid : grids(box))
        EXPECT_EQ(measured(ranks, lattice(box, grid, world().rank()), lanes, lowest), expected) << to_string(grid);
    }
  }
}

}  // namespace
}  // namespace plaq::lqcd

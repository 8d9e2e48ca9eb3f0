// Runs on any number of ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/gauge/gauge.hpp"
#include "plaq/lqcd/gauge/loops.hpp"
#include "plaq/lqcd/gauge/site_matrix.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{4, 4, 6, 2};

links<double> random_links(const lattice& on, int lanes) {
  links<double> u(std::make_shared<site_layout>(on, std::min(lanes, max_lanes<double>())));
  hot_start(u, 5);
  return u;
}

TEST(loops, of_polyakov_are_products_of_links_around_the_lattice) {
  rank_context ranks(single_rank());
  const auto u = random_links(lattice(extents), 16);
  for (const int mu : {0, 2}) {
    std::complex<double> sum = 0;
    for_each_site(u.layout(), [&](const coordinates& start, site_layout::location) {
      if (start[mu]) return;
      su3_matrix line{1, 0, 0, 0, 1, 0, 0, 0, 1};
      auto x = start;
      for (; x[mu] < extents[mu]; ++x[mu]) {
        const auto at = u.layout().locate(x);
        line = times(line, get(view(u, mu), at.group, at.lane));
      }
      sum += line[0] + line[4] + line[8];
    });
    const auto actual = polyakov_loop(ranks.ctx, u, mu),
               expected = sum / (3.0 * double(product(extents) / extents[mu]));
    EXPECT_LT(std::abs(actual - expected), 1e-15);
    EXPECT_GT(std::abs(actual.imag()), 1e-4);
  }
}

TEST(loops, of_polyakov_turn_with_the_centre) {
  // All links in direction 0 of one slice times exp(2 pi i / 3): so does the loop.
  rank_context ranks(single_rank());
  auto u = random_links(lattice(extents), 16);
  const auto before = polyakov_loop(ranks.ctx, u);
  const auto z = std::polar(1.0, 2 * std::numbers::pi / 3);
  for_each_site(u.layout(), [&](const coordinates& x, site_layout::location p) {
    for (int i = 0; x[0] == 1 && i < 9; ++i) u.set(p, i, z * u.get(p, i));
  });
  EXPECT_LT(std::abs(polyakov_loop(ranks.ctx, u) - z * before), 1e-15);
}

TEST(loops, of_wilson_with_sides_of_one_are_plaquettes_with_direction_t) {
  rank_context ranks(single_rank());
  const auto u = random_links(lattice(extents), 16);
  const auto loops = wilson_loops(ranks.ctx, u, u, 2, 2);
  EXPECT_NEAR(loops[0], plaquette(ranks.ctx, u).temporal, 1e-15);
  EXPECT_LT(std::abs(loops[3]), 0.1);
  EXPECT_ANY_THROW(wilson_loops(ranks.ctx, u, u, 0, 2));
}

TEST(loops, of_wilson_in_a_constant_abelian_field_have_its_flux) {
  // Links diag(exp(i phi x_0), exp(-i phi x_0), 1) in direction 1, phi = 2 pi / L_0: tr W = 2 cos(r t phi) + 1 in
  // that plane, 3 in the two others.
  rank_context ranks(single_rank());
  links<double> u(std::make_shared<site_layout>(lattice({8, 6, 2, 4}), max_lanes<double>()));
  cold_start(u);
  const double phi = 2 * std::numbers::pi / 8;
  for_each_site(u.layout(), [&](const coordinates& x, site_layout::location p) {
    u.set(p, 9, std::polar(1.0, phi * x[0]));
    u.set(p, 13, std::polar(1.0, -phi * x[0]));
  });
  const auto loops = wilson_loops(ranks.ctx, u, u, 3, 2);
  for (int r = 1; r <= 3; ++r)
    for (int t = 1; t <= 2; ++t)
      EXPECT_NEAR(loops[std::size_t((r - 1) * 2 + t - 1)], (2 * std::cos(r * t * phi) + 1 + 6) / 9, 1e-14) << r << t;
}

TEST(loops, have_the_same_bits_on_any_grid_with_any_lanes_and_workers) {
  const coordinates box{8, 4, 12, 4};
  const auto measured = [](rank_context& ranks, const links<double>& u) {
    auto all = wilson_loops(ranks.ctx, u, u, 2, 3);
    const auto loop = polyakov_loop(ranks.ctx, u);
    all.insert(all.end(), {loop.real(), loop.imag()});
    return all;
  };
  rank_context single(single_rank());
  const auto expected = measured(single, random_links(lattice(box), 1));
  for (const auto& [lanes, workers] : {std::pair(1, 1), std::pair(16, 2)}) {
    rank_context ranks(world(), "fiber", workers);
    for (const auto& grid : grids(box))
      EXPECT_EQ(measured(ranks, random_links(lattice(box, grid, world().rank()), lanes)), expected) << to_string(grid);
  }
}

}  // namespace
}  // namespace plaq::lqcd

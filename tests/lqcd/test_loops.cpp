// Runs on any number of ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "job.hpp"
#include "plaq/lqcd/gauge.hpp"
#include "plaq/lqcd/hopping_kernel.hpp"
#include "plaq/lqcd/loops.hpp"
#include "plaq/lqcd/random_fields.hpp"
#include "plaq/lqcd/site_matrix.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{4, 4, 6, 2};

links<double> random_links(const lattice& on, int lanes) {
  links<double> u(std::make_shared<layout>(on, std::min(lanes, widest<double>())));
  hot_start(u, 5);
  return u;
}

TEST(loops, of_polyakov_are_products_of_links_around_the_lattice) {
  job with(alone());
  const auto u = random_links(lattice(extents), 16);
  for (const int mu : {0, 2}) {
    std::complex<double> sum = 0;
    each_site(u.where(), [&](const coordinates& start, layout::place) {
      if (start[mu]) return;
      su3_matrix line{1, 0, 0, 0, 1, 0, 0, 0, 1};
      auto x = start;
      for (; x[mu] < extents[mu]; ++x[mu]) {
        const auto at = u.where().where(x);
        line = times(line, get(view(u, mu), at.block, at.lane));
      }
      sum += line[0] + line[4] + line[8];
    });
    const auto found = polyakov_loop(with.by, u, mu), expected = sum / (3.0 * double(product(extents) / extents[mu]));
    EXPECT_LT(std::abs(found - expected), 1e-15);
    EXPECT_GT(std::abs(found.imag()), 1e-4);
  }
}

TEST(loops, of_polyakov_turn_with_the_centre) {
  // All links in direction 0 of one slice times exp(2 pi i / 3): so does the loop.
  job with(alone());
  auto u = random_links(lattice(extents), 16);
  const auto before = polyakov_loop(with.by, u);
  const auto z = std::polar(1.0, 2 * std::numbers::pi / 3);
  each_site(u.where(), [&](const coordinates& x, layout::place p) {
    for (int i = 0; x[0] == 1 && i < 9; ++i) u.set(p, i, z * u.get(p, i));
  });
  EXPECT_LT(std::abs(polyakov_loop(with.by, u) - z * before), 1e-15);
}

TEST(loops, of_wilson_with_sides_of_one_are_plaquettes_with_direction_t) {
  job with(alone());
  const auto u = random_links(lattice(extents), 16);
  const auto loops = wilson_loops(with.by, u, u, 2, 2);
  EXPECT_NEAR(loops[0], plaquette(with.by, u).temporal, 1e-15);
  EXPECT_LT(std::abs(loops[3]), 0.1);
  EXPECT_ANY_THROW(wilson_loops(with.by, u, u, 0, 2));
}

TEST(loops, of_wilson_in_a_constant_abelian_field_have_its_flux) {
  // Links diag(exp(i phi x_0), exp(-i phi x_0), 1) in direction 1, phi = 2 pi / L_0: tr W = 2 cos(r t phi) + 1 in
  // that plane, 3 in the two others.
  job with(alone());
  links<double> u(std::make_shared<layout>(lattice({8, 6, 2, 4}), widest<double>()));
  cold_start(u);
  const double phi = 2 * std::numbers::pi / 8;
  each_site(u.where(), [&](const coordinates& x, layout::place p) {
    u.set(p, 9, std::polar(1.0, phi * x[0]));
    u.set(p, 13, std::polar(1.0, -phi * x[0]));
  });
  const auto loops = wilson_loops(with.by, u, u, 3, 2);
  for (int r = 1; r <= 3; ++r)
    for (int t = 1; t <= 2; ++t)
      EXPECT_NEAR(loops[std::size_t((r - 1) * 2 + t - 1)], (2 * std::cos(r * t * phi) + 1 + 6) / 9, 1e-14) << r << t;
}

TEST(loops, have_the_same_bits_on_any_grid_with_any_lanes_and_workers) {
  const coordinates box{8, 4, 12, 4};
  const auto measured = [](job& with, const links<double>& u) {
    auto all = wilson_loops(with.by, u, u, 2, 3);
    const auto loop = polyakov_loop(with.by, u);
    all.insert(all.end(), {loop.real(), loop.imag()});
    return all;
  };
  job own(alone());
  const auto expected = measured(own, random_links(lattice(box), 1));
  for (const auto& [lanes, workers] : {std::pair(1, 1), std::pair(16, 2)}) {
    job with(world(), "fiber", workers);
    for (const auto& grid : grids(box))
      EXPECT_EQ(measured(with, random_links(lattice(box, grid, world().rank()), lanes)), expected) << in_words(grid);
  }
}

}  // namespace
}  // namespace plaq::lqcd

// Runs on any number of ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/gauge/site_matrix.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{8, 4, 12, 4};

su3_matrix dagger(const su3_matrix& m) {
  su3_matrix out;
  for (int i = 0; i < 9; ++i) out[i] = std::conj(m[i % 3 * 3 + i / 3]);
  return out;
}

double distance(const su3_matrix& a, const su3_matrix& b) {
  double most = 0;
  for (int i = 0; i < 9; ++i) most = std::fmax(most, std::abs(a[i] - b[i]));
  return most;
}

links<double> random_links(const lattice& on, int lanes) {
  links<double> u(std::make_shared<site_layout>(on, std::min(lanes, max_lanes<double>())));
  hot_start(u, 9);
  return u;
}

TEST(matrices, products_are_those_of_each_site_with_and_without_adjoints) {
  rank_context ranks(single_rank());
  for (const int lanes : {1, 16}) {
    const auto u = random_links(lattice(extents), lanes);
    matrices out(u.shared_layout());
    for (const bool a : {false, true})
      for (const bool b : {false, true}) {
        for (const int p : {0, 1}) {
          multiply(ranks.ctx, p, view(out), {view(u, 0), a}, {view(u, 1), b});
          multiply(ranks.ctx, p, view(out), {view(u, 2)}, {view(u, 3)}, true);
        }
        double worst = 0;
        for_each_site(u.layout(), [&](const coordinates&, site_layout::location p) {
          const auto x = get(view(u, 0), p.group, p.lane), y = get(view(u, 1), p.group, p.lane);
          auto expected = times(a ? dagger(x) : x, b ? dagger(y) : y);
          const auto more = times(get(view(u, 2), p.group, p.lane), get(view(u, 3), p.group, p.lane));
          for (int i = 0; i < 9; ++i) expected[i] += more[i];
          worst = std::fmax(worst, distance(get(view(out), p.group, p.lane), expected));
        });
        EXPECT_LT(worst, 1e-15) << a << b << lanes;
      }
  }
}

TEST(matrices, of_one_parity_do_not_change_the_other) {
  rank_context ranks(single_rank());
  const auto u = random_links(lattice(extents), 16);
  matrices out(u.shared_layout());
  add(ranks.ctx, 1, view(out), view(u, 2));
  EXPECT_EQ(std::count(out.of(0), out.of(0) + out.size() / 2, 0.0), std::ptrdiff_t(out.size() / 2));
  add(ranks.ctx, 0, view(out), view(u, 2));
  const double volume = double(product(extents));
  EXPECT_NEAR(real_trace(ranks.ctx, view(out), view(u, 2)), 3 * volume, 1e-9);  // tr U U^+
  EXPECT_LT(std::abs(real_trace(ranks.ctx, view(out), view(u, 1))), 4 * std::sqrt(volume));
}

TEST(matrices, are_moved_to_their_neighbours_on_any_grid_with_any_lanes) {
  // Each matrix contains the index of its site.
  rank_context ranks(world(), "fiber", 2);
  for (const int lanes : {1, 16})
    for (const auto& grid : grids(extents)) {
      const lattice on(extents, grid, world().rank());
      auto layout = std::make_shared<site_layout>(on, std::min(lanes, max_lanes<double>()));
      matrices in(layout), out(layout);
      for_each_site(*layout, [&](const coordinates& x, site_layout::location p) {
        for (int i = 0; i < 9; ++i) in.set(p, i, {double(global_index(*layout, x)), double(i)});
      });
      for (int mu = 0; mu < 4; ++mu)
        for (const int step : {1, -1}) {
          for (const int p : {0, 1}) shift(ranks.ctx, p, view(out), view(in), mu, step);
          int wrong = 0;
          for_each_site(*layout, [&](const coordinates& x, site_layout::location p) {
            const auto from = double(index_in(neighbour_of(x + on.origin(), mu, step, extents), extents));
            for (int i = 0; i < 9; ++i) wrong += out.get(p, i) != std::complex<double>(from, i);
          });
          EXPECT_EQ(wrong, 0) << to_string(grid) << ", " << lanes << " lanes, direction " << mu << ", " << step;
        }
    }
}

}  // namespace
}  // namespace plaq::lqcd

// Runs on any number of ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "dense_operators.hpp"
#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/gauge/gauge.hpp"
#include "plaq/lqcd/gauge/staples.hpp"
#include "plaq/lqcd/gauge/subgroups.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/reference/reference.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

using reference::number;

links<double> started(const lattice& on, int lanes) {
  links<double> u(std::make_shared<site_layout>(on, lanes));
  hot_start(u, 11);
  return u;
}

/// Sum over sites of Re tr P_mu,nu, link after link.
double trace_of_plane(const coordinates& box, const std::vector<number>& u, int mu, int nu) {
  double sum = 0;
  for (std::int64_t at = 0; at < product(box); ++at) {
    const auto x = coordinates_in(at, box);
    const number* all[4] = {&u[(4 * at + mu) * 9], &u[(4 * index_in(neighbour_of(x, mu, 1, box), box) + nu) * 9],
                            &u[(4 * index_in(neighbour_of(x, nu, 1, box), box) + mu) * 9], &u[(4 * at + nu) * 9]};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int k = 0; k < 3; ++k)
          for (int l = 0; l < 3; ++l)
            sum += std::real(all[0][3 * i + j] * all[1][3 * j + k] * std::conj(all[2][3 * l + k] * all[3][3 * i + l]));
  }
  return sum;
}

TEST(gauge, plaquettes_are_products_of_their_links) {
  rank_context ranks(single_rank());
  const coordinates box{4, 2, 6, 4};
  auto u = started(lattice(box), max_lanes<double>());
  const auto whole = reference::whole(u);
  double temporal = 0, spatial = 0;
  const auto actual = plaquette(ranks.ctx, u);
  auto of_plane = actual.planes.begin();
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = mu + 1; nu < 4; ++nu) {
      const double plane = trace_of_plane(box, whole, mu, nu) / 3 / product(box);
      EXPECT_NEAR(*of_plane++, plane, 1e-14);
      (mu ? spatial : temporal) += plane / 3;
    }
  EXPECT_NEAR(actual.temporal, temporal, 1e-14);
  EXPECT_NEAR(actual.spatial, spatial, 1e-14);
  cold_start(u);
  EXPECT_EQ(plaquette(ranks.ctx, u).mean(), 1);
}

TEST(gauge, every_plaquette_is_in_the_staples_of_its_four_links) {
  rank_context ranks(single_rank());
  auto u = started(lattice({4, 4, 6, 8}), max_lanes<double>());
  matrices s(u.shared_layout());
  double sum = 0;
  for (int mu = 0; mu < 4; ++mu) {
    for (const int p : {0, 1}) {
      matrices one(u.shared_layout());
      staples(ranks.ctx, one, u, p, mu);
      std::copy_n(one.of(p), one.size() / 2, s.of(p));
    }
    sum += real_trace(ranks.ctx, view(u, mu), view(s));
  }
  EXPECT_NEAR(sum, 4 * 3 * 6 * double(u.layout().lattice().volume()) * plaquette(ranks.ctx, u).mean(), 1e-9);
}

TEST(gauge, rectangles_are_products_of_their_links) {
  rank_context ranks(single_rank());
  const coordinates box{4, 4, 6, 4};
  auto u = started(lattice(box), max_lanes<double>());
  const auto whole = reference::whole(u);
  double sum = 0;
  for (std::int64_t at = 0; at < product(box); ++at)
    for (int a = 1; a <= 4; ++a)
      for (int b = 1; b <= 4; ++b) {
        if (a == b) continue;
        const auto loop = dense::path(box, whole, coordinates_in(at, box), {a, a, b, -a, -a, -b});
        sum += std::real(loop[0] + loop[4] + loop[8]);
      }
  EXPECT_NEAR(rectangle(ranks.ctx, u), sum / 36 / double(product(box)), 1e-15);
  cold_start(u);
  EXPECT_NEAR(rectangle(ranks.ctx, u), 1, 1e-15);
}

TEST(gauge, rectangle_staples_are_the_sum_of_eighteen_paths) {
  rank_context ranks(single_rank());
  const coordinates box{4, 4, 6, 4};
  const auto u = started(lattice(box), max_lanes<double>());
  const auto whole = reference::whole(u);
  matrices staple(u.shared_layout());
  for (const int m : {1, 3}) {
    for (const int p : {0, 1}) rectangle_staples(ranks.ctx, staple, u, p, m - 1);
    for (const coordinates x : {coordinates{0, 0, 0, 0}, coordinates{3, 2, 5, 1}}) {
      std::array<number, 9> expected{};
      for (int n = 1; n <= 4; ++n)
        for (const int side : {n, -n}) {
          if (n == m) continue;
          for (const std::vector<int>& path :
               {std::vector{side, side, m, -side, -side}, {side, m, m, -side, -m}, {-m, side, m, m, -side}}) {
            const auto one = dense::path(box, whole, x, path);
            for (int i = 0; i < 9; ++i) expected[i] += one[i];
          }
        }
      for (int i = 0; i < 9; ++i)
        EXPECT_LT(std::abs(staple.get(u.layout().locate(x), i) - expected[i]), 1e-13) << m << to_string(x);
    }
  }
}

TEST(gauge, over_relaxation_keeps_the_action_and_moves_the_links) {
  // With rectangles on extents that are and are not multiples of four: colours that touch one another would not.
  rank_context ranks(single_rank());
  for (const coordinates& box : {coordinates{4, 4, 4, 8}, coordinates{4, 6, 6, 4}})
    for (const double c1 : {0.0, -0.331}) {
      auto u = started(lattice(box), max_lanes<double>());
      const auto before = u;
      const auto action = [&] {
        return (1 - 8 * c1) * plaquette(ranks.ctx, u).mean() + 2 * c1 * rectangle(ranks.ctx, u);
      };
      const double old = action();
      for (int i = 0; i < 2; ++i) over_relax(ranks.ctx, u, c1);
      EXPECT_NEAR(action(), old, 1e-14) << to_string(box) << c1;
      EXPECT_LT(unitarity_violation(ranks.ctx, u), 1e-14);
      EXPECT_LT(real_trace(ranks.ctx, view(u, 1), view(before, 1)) / 3 / double(product(box)), 0.5);
    }
  auto small = started(lattice({4, 4, 2, 4}), 1);
  EXPECT_ANY_THROW(over_relax(ranks.ctx, small, -0.331));
}

TEST(gauge, the_heat_bath_of_su2_has_the_right_density) {
  // <b_0> = I_2(alpha) / I_1(alpha) on SU(2), for both ways of drawing it; four standard errors, which are below
  // 0.7 / sqrt(n).
  for (const double alpha : {0.0, 0.3, 1.4, 1.6, 5.0, 30.0}) {
    const int n = 20000;
    double sum = 0, square = 0, across = 0;
    for (int i = 0; i < n; ++i) {
      const auto b = heat_bath_quaternion(alpha, {.seed = 1, .l = std::uint64_t(i)}, 0);
      sum += b[0], across += b[2];
      square = std::fmax(square, std::abs(b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3] - 1));
    }
    const double expected = alpha > 0 ? std::cyl_bessel_i(2, alpha) / std::cyl_bessel_i(1, alpha) : 0;
    EXPECT_NEAR(sum / n, expected, 4 * 0.7 / std::sqrt(n)) << alpha;
    EXPECT_NEAR(across / n, 0, 4 * 0.7 / std::sqrt(n)) << alpha;
    EXPECT_LT(square, 1e-14);
  }
}

TEST(gauge, at_strong_coupling_plaquettes_are_those_of_the_expansion) {
  // <P> = beta/18 + beta^2/216 - 5 beta^4/93312 + O(beta^5) (one plaquette's integral); cubes come with 4
  // (beta/18)^5 = 2e-6.
  rank_context ranks(single_rank());
  auto u = started(lattice({4, 4, 4, 4}), max_lanes<double>());
  const double beta = 1;
  const int sweeps = 600;
  double sum = 0, squares = 0;
  for (int i = 0; i < sweeps; ++i) {
    heat_bath(ranks.ctx, u, {beta}, {.seed = 2, .chain = 0, .sweep = std::uint32_t(i)});
    const double p = plaquette(ranks.ctx, u).mean();
    if (i < 20) continue;
    sum += p, squares += p * p;
  }
  const int n = sweeps - 20;
  const double mean = sum / n,
               error = std::sqrt((squares / n - mean * mean) / n);  // sweeps hardly remember the last
  const double expected = beta / 18 + beta * beta / 216 - 5 * std::pow(beta, 4) / 93312;
  EXPECT_LT(error, 4e-4);
  EXPECT_NEAR(mean, expected, 4 * error);
}

TEST(gauge, updates_have_the_same_bits_on_any_grid_with_any_lanes_and_workers) {
  const coordinates box{8, 4, 12, 4};
  const auto updated = [](rank_context& ranks, links<double> u) {
    heat_bath(ranks.ctx, u, {5.7}, {.seed = 1, .chain = 0, .sweep = 0});
    over_relax(ranks.ctx, u);
    heat_bath(ranks.ctx, u, {2.6, -0.331}, {.seed = 1, .chain = 0, .sweep = 1});
    return u;
  };
  rank_context single(single_rank());
  const auto expected = updated(single, started(lattice(box), 1));
  const auto p = plaquette(single.ctx, expected);
  for (const auto& [lanes, workers] : {std::pair(1, 1), std::pair(max_lanes<double>(), 2)}) {
    rank_context ranks(world(), "fiber", workers);
    for (const auto& grid : grids(box)) {
      const auto u = updated(ranks, started(lattice(box, grid, world().rank()), lanes));
      const auto actual = plaquette(ranks.ctx, u);
      EXPECT_EQ(actual.temporal, p.temporal);
      EXPECT_EQ(actual.spatial, p.spatial);
      int different = 0;
      for_each_site(u.layout(), [&](const coordinates& x, site_layout::location at) {
        const auto location = expected.layout().locate(x + u.layout().lattice().origin());
        for (int i = 0; i < 36; ++i) {
          const auto a = u.get(at, i), b = expected.get(location, i);
          different += std::memcmp(&a, &b, sizeof a) != 0;
        }
      });
      EXPECT_EQ(different, 0) << to_string(grid) << ", " << lanes << " lanes, " << workers << " workers";
    }
  }
}

TEST(gauge, without_coupling_has_links_of_the_haar_measure) {
  // At beta = 0 a sweep draws each link anew: plaquettes vanish within four standard errors, 1 / sqrt(18) each.
  rank_context ranks(single_rank());
  links<double> u(std::make_shared<site_layout>(lattice({8, 8, 4, 4}), max_lanes<double>()));
  cold_start(u);
  heat_bath(ranks.ctx, u, {0}, {.seed = 3, .chain = 0, .sweep = 0});
  EXPECT_LT(unitarity_violation(ranks.ctx, u), 1e-14);
  EXPECT_NEAR(plaquette(ranks.ctx, u).mean(), 0, 4 / std::sqrt(18.0 * 6 * 1024));
}

TEST(gauge, updates_with_other_seeds_chains_and_sweeps_differ) {
  rank_context ranks(single_rank());
  const auto start = started(lattice({4, 4, 4, 4}), 1);
  std::vector<double> results;
  for (const auto& stream :
       {sweep_stream{1, 0, 0}, sweep_stream{2, 0, 0}, sweep_stream{1, 1, 0}, sweep_stream{1, 0, 1}}) {
    auto u = start;
    heat_bath(ranks.ctx, u, {5.7}, stream);
    results.push_back(plaquette(ranks.ctx, u).mean());
    auto again = start;
    heat_bath(ranks.ctx, again, {5.7}, stream);
    EXPECT_EQ(plaquette(ranks.ctx, again).mean(), results.back());
  }
  std::ranges::sort(results);
  EXPECT_EQ(std::ranges::adjacent_find(results), results.end());
}

TEST(gauge, updates_with_rectangles_on_extents_below_four_are_refused) {
  rank_context ranks(single_rank());
  auto small = started(lattice({4, 2, 4, 4}), 1);
  EXPECT_ANY_THROW(heat_bath(ranks.ctx, small, {5.7, -0.331}, {.seed = 1, .chain = 0, .sweep = 0}));
  EXPECT_NO_THROW(heat_bath(ranks.ctx, small, {5.7}, {.seed = 1, .chain = 0, .sweep = 0}));
}

}  // namespace
}  // namespace plaq::lqcd

// Staples of plaquettes and rectangles against sums over paths, with all lanes.
#include <gtest/gtest.h>

#include "dense_operators.hpp"
#include "plaq/lqcd/gauge/gauge.hpp"
#include "plaq/lqcd/gauge/staples.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{4, 4, 8, 4};

/// Sum over paths of the products of their links from x.
std::array<dense::number, 9> sum_of_paths(const dense::links& u, const coordinates& x,
                                          const std::vector<std::vector<int>>& paths) {
  std::array<dense::number, 9> sum{};
  for (const auto& steps : paths) {
    const auto product = dense::path(extents, u, x, steps);
    for (std::size_t i = 0; i < 9; ++i) sum[i] += product[i];
  }
  return sum;
}

class staples_of_links : public testing::TestWithParam<int> {
 protected:
  rank_context ranks{single_rank()};
  const links<double> gauge = random_links_on(layout_of(extents, std::min(GetParam(), max_lanes<double>())));
  const dense::links u = reference::whole(gauge);

  /// Expects the matrices `actual` to be sums over paths(mu) on the sites of a parity.
  template <class Paths>
  void expect_paths(const matrices& actual, int p, Paths&& paths) {
    for_each_site(gauge.layout(), [&](const coordinates& x, site_layout::location at) {
      if (parity(x) != p) return;
      const auto expected = sum_of_paths(u, x, paths());
      for (int i = 0; i < 9; ++i) EXPECT_LT(std::abs(actual.get(at, i) - expected[std::size_t(i)]), 1e-13);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(lanes, staples_of_links, testing::Values(1, 2, 4, 16));

TEST_P(staples_of_links, are_six_paths_around_plaquettes) {
  for (int mu = 0; mu < 4; ++mu)
    for (const int p : {0, 1}) {
      matrices sum(gauge.shared_layout());
      staples(ranks.ctx, sum, gauge, p, mu);
      expect_paths(sum, p, [&] {
        std::vector<std::vector<int>> paths;
        for (int nu = 0; nu < 4; ++nu)
          if (nu != mu)
            for (const int side : {nu + 1, -nu - 1}) paths.push_back({side, mu + 1, -side});
        return paths;
      });
    }
}

TEST_P(staples_of_links, in_space_are_four_paths) {
  for (int mu = 1; mu < 4; ++mu) {
    matrices sum(gauge.shared_layout());
    staples(ranks.ctx, sum, gauge, 1, mu, 1);
    expect_paths(sum, 1, [&] {
      std::vector<std::vector<int>> paths;
      for (int nu = 1; nu < 4; ++nu)
        if (nu != mu)
          for (const int side : {nu + 1, -nu - 1}) paths.push_back({side, mu + 1, -side});
      return paths;
    });
  }
}

TEST_P(staples_of_links, replace_what_was_there_on_their_parity_alone) {
  matrices sum(gauge.shared_layout()), fresh(gauge.shared_layout());
  std::fill_n(sum.data(), sum.size(), 7.0);
  staples(ranks.ctx, sum, gauge, 0, 2);
  staples(ranks.ctx, fresh, gauge, 0, 2);
  EXPECT_TRUE(std::equal(sum.of(0), sum.of(0) + sum.size() / 2, fresh.of(0)));
  EXPECT_EQ(std::count(sum.of(1), sum.of(1) + sum.size() / 2, 7.0), std::ptrdiff_t(sum.size() / 2));
}

TEST_P(staples_of_links, of_rectangles_are_eighteen_paths) {
  for (const int mu : {0, 2})
    for (const int p : {0, 1}) {
      matrices sum(gauge.shared_layout());
      rectangle_staples(ranks.ctx, sum, gauge, p, mu);
      expect_paths(sum, p, [&] {
        std::vector<std::vector<int>> paths;
        const int m = mu + 1;
        for (int n = 1; n <= 4; ++n)
          if (n != m)
            for (const int side : {n, -n}) {
              paths.push_back({side, side, m, -side, -side});
              paths.push_back({side, m, m, -side, -m});
              paths.push_back({-m, side, m, m, -side});
            }
        return paths;
      });
    }
}

TEST_P(staples_of_links, add_single_paths_above_and_below) {
  for (const int p : {0, 1}) {
    matrices above(gauge.shared_layout()), below(gauge.shared_layout());
    three_sides sides(ranks.ctx, gauge.shared_layout());
    sides.add_above(p, above, view(gauge, 3), view(gauge, 1), view(gauge, 3), 1, 3);
    sides.add_below(p, below, view(gauge, 3), view(gauge, 1), view(gauge, 3), 1, 3);
    expect_paths(above, p, [] { return std::vector<std::vector<int>>{{4, 2, -4}}; });
    expect_paths(below, p, [] { return std::vector<std::vector<int>>{{-4, 2, 4}}; });
  }
}

TEST_P(staples_of_links, make_the_derivative_of_the_action) {
  // m = U (c0 staple + c1 rectangle staple)^+
  const double c1 = -0.331;
  links<double> m(gauge.shared_layout());
  action_derivative(ranks.ctx, m, gauge, c1);
  const auto actual = reference::whole(m);
  for (int mu = 0; mu < 4; ++mu) {
    matrices sum(gauge.shared_layout()), rectangles(gauge.shared_layout());
    for (const int p : {0, 1}) {
      staples(ranks.ctx, sum, gauge, p, mu);
      rectangle_staples(ranks.ctx, rectangles, gauge, p, mu);
    }
    for_each_site(gauge.layout(), [&](const coordinates& x, site_layout::location at) {
      const auto first = std::size_t((4 * index_in(x, extents) + mu) * 9);
      for (std::size_t i = 0; i < 9; ++i) {
        dense::number expected = 0;
        for (std::size_t k = 0; k < 3; ++k) {
          const int column = int(i % 3 * 3 + k);
          expected += u[first + i / 3 * 3 + k] *
                      std::conj((1 - 8 * c1) * sum.get(at, column) + c1 * rectangles.get(at, column));
        }
        EXPECT_LT(std::abs(actual[first + i] - expected), 1e-12);
      }
    });
  }
}

TEST(unitarity_violation, is_the_largest_deviation_of_a_link) {
  rank_context ranks(single_rank());
  auto u = random_links_on(layout_of(extents, 4));
  EXPECT_LT(unitarity_violation(ranks.ctx, u), 1e-14);
  const auto at = u.layout().locate({3, 2, 5, 1});
  const auto z = u.get(at, 9);
  u.set(at, 9, z + 1e-3);
  EXPECT_GT(unitarity_violation(ranks.ctx, u), 1e-4);
  u.set(at, 9, std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(unitarity_violation(ranks.ctx, u) < 1e300);
}

TEST(unitarity_violation, sees_links_whose_determinant_is_not_one) {
  rank_context ranks(single_rank());
  links<double> u(layout_of(extents, 1));
  cold_start(u);
  EXPECT_EQ(unitarity_violation(ranks.ctx, u), 0);
  for (const int i : {0, 4, 8}) u.set(u.layout().locate({0, 0, 0, 0}), 27 + i, std::polar(1.0, 0.1));
  EXPECT_NEAR(unitarity_violation(ranks.ctx, u), std::abs(std::polar(1.0, 0.3) - 1.0), 1e-14);
}

}  // namespace
}  // namespace plaq::lqcd

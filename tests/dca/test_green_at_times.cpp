// The Green's function at random times against the sum over pairs of vertices.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/dca/measure/green_at_times.hpp"
#include "plaq/dca/reference.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

constexpr int times = green_at_times::times;

/// <n n> of two points without the product of the densities.
double exchange(const green_at_times& g, int row, int column) {
  const auto density = [&](int point) { return g.occupation(0, point) + g.occupation(1, point); };
  return g.product(measures::two_point::charge, row, column) - density(row) * density(column);
}

struct green_function : testing::TestWithParam<std::vector<int>> {
  green_function() { g.evaluate(s, words); }
  int site(int point) const { return point % sites; }
  double time(int point) const { return beta * unit_interval(words[std::size_t(point / sites)]); }

  const torus cluster{3, 2};
  const int sites = cluster.size();
  const double beta = 3;
  const std::shared_ptr<const g0_table> g0 = two_level_bath(cluster, beta, 0.5, 0.4).table();
  const std::array<std::uint64_t, 4> words = random_words({5, 3, 0, 0, 0, 0}, 2);
  const sample s = random_sample(GetParam(), beta, 4);
  green_at_times g{g0};
};
INSTANTIATE_TEST_SUITE_P(samples, green_function,
                         testing::Values(std::vector{2, 0, 1, 3, 1, 2}, std::vector{0, 0, 0, 0, 0, 0},
                                         std::vector{0, 11, 0, 0, 0, 0}));

TEST_P(green_function, is_the_bath_and_the_sum_over_pairs_of_vertices) {
  ASSERT_EQ(g.points(), times * sites);
  for (int side = 0; side < 2; ++side)
    for (int row = 0; row < g.points(); ++row)
      for (int column = 0; column < g.points(); ++column)
        EXPECT_NEAR(g(side, row, column),
                    reference::green(*g0, s, side, site(row), time(row), site(column), time(column)), 1e-5);
}

TEST_P(green_function, gives_occupations_on_its_diagonal) {
  for (int side = 0; side < 2; ++side)
    for (int point = 0; point < g.points(); ++point)
      EXPECT_DOUBLE_EQ(g.occupation(side, point), 1 - g(side, point, point));
}

TEST_P(green_function, gives_the_exchange_term_of_points_at_one_time) {
  for (int row = 0; row < g.points(); ++row)
    for (int column = 0; column < g.points(); ++column) {
      if (row / sites != column / sites) continue;
      double expected = 0;
      for (int side = 0; side < 2; ++side)
        expected += g(side, row, column) * ((row == column ? 1 : 0) - g(side, column, row));
      EXPECT_NEAR(exchange(g, row, column), expected, 1e-12);
    }
}

TEST_P(green_function, gives_the_exchange_term_of_points_at_two_times) {
  for (int row = 0; row < g.points(); ++row)
    for (int column = 0; column < g.points(); ++column) {
      if (row / sites == column / sites) continue;
      double expected = 0;
      for (int side = 0; side < 2; ++side) expected -= g(side, row, column) * g(side, column, row);
      EXPECT_NEAR(exchange(g, row, column), expected, 1e-12);
      EXPECT_DOUBLE_EQ(exchange(g, row, column), exchange(g, column, row));
    }
}

TEST_P(green_function, at_one_point_has_the_fluctuation_of_a_fermion) {
  // <n n> - <n> <n> = n (1 - n) for each spin
  for (int point = 0; point < g.points(); ++point) {
    double expected = 0;
    for (int side = 0; side < 2; ++side) expected += g.occupation(side, point) * (1 - g.occupation(side, point));
    EXPECT_NEAR(exchange(g, point, point), expected, 1e-12);
  }
}

TEST_P(green_function, gives_products_of_spins_with_the_same_exchange_term) {
  const auto spin = [&](int point) { return (g.occupation(0, point) - g.occupation(1, point)) / 2; };
  for (int row = 0; row < g.points(); ++row)
    for (int column = 0; column < g.points(); ++column)
      EXPECT_NEAR(g.product(measures::two_point::spin, row, column),
                  spin(row) * spin(column) + exchange(g, row, column) / 4, 1e-12);
}

TEST_P(green_function, visits_every_pair_of_points_once) {
  std::map<std::pair<int, int>, int> visits;
  for (const bool same_time : {true, false})
    g.for_each_pair(same_time, [&](int row, int column, int R) {
      ++visits[{row, column}];
      EXPECT_EQ(row / sites == column / sites, same_time);
      EXPECT_EQ(R, cluster.difference()[std::size_t(site(row) * sites + site(column))]);
    });
  EXPECT_EQ(visits.size(), std::size_t(g.points() * g.points()));
  for (const auto& [pair, count] : visits) EXPECT_EQ(count, 1);
}

TEST_P(green_function, forgets_the_sample_before) {
  green_at_times used(g0);
  used.evaluate(random_sample({4, 4, 4, 4, 4, 4}, beta, 9), words);
  used.evaluate(s, words);
  for (int row = 0; row < g.points(); ++row)
    for (int column = 0; column < g.points(); ++column) {
      EXPECT_EQ(used(0, row, column), g(0, row, column));
      EXPECT_EQ(exchange(used, row, column), exchange(g, row, column));
    }
}

TEST_P(green_function, depends_on_the_drawn_times) {
  green_at_times other(g0);
  other.evaluate(s, random_words({5, 3, 0, 0, 0, 0}, 3));
  EXPECT_NE(other(0, 0, sites), g(0, 0, sites)) << "between two times";
}

}  // namespace
}  // namespace plaq::dca

#include <gtest/gtest.h>

#include <random>

#include "plaq/base/error.hpp"
#include "plaq/dca/walk/g0_table.hpp"
#include "small_problem.hpp"

using namespace plaq::dca;

namespace {
const torus cluster{3, 2};
const double beta = 7;
const two_level_bath bath(cluster, beta, 0.7, 0.5);
}  // namespace

TEST(g0_table, interpolates_the_bath) {
  const auto g0 = bath.table();
  for (int i = 0; i < cluster.size(); ++i)
    for (double tau : {0., 1e-7, 0.123, 3.4, 5.999, beta})
      EXPECT_NEAR((*g0)(i, tau, 0, 0.), bath.at_time(cluster.difference()[i * cluster.size()], tau), 1e-9);
}

TEST(g0_table, is_antiperiodic_and_counts_equal_times_as_later) {
  const auto g0 = bath.table();
  for (int i = 0; i < cluster.size(); ++i)
    for (int j = 0; j < cluster.size(); ++j) {
      for (double t : {0.1, 2.5, 6.9}) EXPECT_NEAR((*g0)(i, 0., j, t), -(*g0)(i, beta - t, j, 0.), 1e-12);
      EXPECT_EQ((*g0)(i, 2., j, 2.), (*g0)(i, 0., j, 0.));
      // The anticommutator: g(0+) - g(0-) = delta_ij.
      EXPECT_NEAR((*g0)(i, 2., j, 2.) - (*g0)(i, 2., j, std::nextafter(2., 3.)), i == j, 1e-9);
    }
}

TEST(g0_table, both_directions_agree_with_single_evaluations) {
  const auto g0 = bath.table();
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> time(0, beta);
  const int count = 203;
  std::vector<int> sites(count);
  std::vector<double> taus(count), forward(count), backward(count);
  std::vector<float> forward_f(count), backward_f(count);
  for (int i = 0; i < count; ++i) sites[i] = int(random() % cluster.size()), taus[i] = time(random);
  for (int site = 0; site < cluster.size(); ++site)
    for (double tau : {0., time(random), 3., std::nextafter(beta, 0)}) {
      g0->both_directions(count, sites.data(), taus.data(), site, tau, forward.data(), backward.data());
      g0->both_directions(count, sites.data(), taus.data(), site, tau, forward_f.data(), backward_f.data());
      for (int i = 0; i < count; ++i) {
        ASSERT_NEAR(forward[i], (*g0)(sites[i], taus[i], site, tau), 1e-12);
        ASSERT_NEAR(backward[i], (*g0)(site, tau, sites[i], taus[i]), 1e-12);
        ASSERT_NEAR(forward_f[i], forward[i], 1e-7);
        ASSERT_NEAR(backward_f[i], backward[i], 1e-7);
      }
    }
}

TEST(g0_table, both_directions_take_equal_times_as_just_after) {
  const auto g0 = bath.table();
  const int sites[] = {0, 1};
  const double taus[] = {3, 3};
  double forward[2], backward[2];
  g0->both_directions(2, sites, taus, 0, 3., forward, backward);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(forward[i], (*g0)(i, 0., 0, 0.), 1e-12);
    EXPECT_NEAR(backward[i], -(*g0)(i, beta, 0, 0.), 1e-12);
  }
}

TEST(g0_table, refuses_tables_that_do_not_fit) {
  const int terms = g0_table::terms;
  EXPECT_NO_THROW(g0_table(1, 2, 1, std::vector<double>(2 * terms), {0, 1, 1, 0}));
  EXPECT_THROW(g0_table(1, 2, 1, std::vector<double>(2 * terms), {0, 1, 1}), plaq::runtime_failure);
  EXPECT_THROW(g0_table(1, 2, 1, std::vector<double>(2 * terms - 1), {0, 1, 1, 0}), plaq::runtime_failure);
  EXPECT_THROW(g0_table(0, 1, 1, std::vector<double>(terms), {0}), plaq::runtime_failure);
}

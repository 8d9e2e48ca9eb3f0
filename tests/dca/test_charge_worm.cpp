#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "exact_weights.hpp"
#include "plaq/dca/walk/charge_worm.hpp"

using namespace plaq::dca;
using point = charge_worm::point;
using plaq::linalg::exchanged_inverse;

namespace {

// Of these vertices and the ends of a worm.
long double weight(const exact_model& s, const std::vector<vertex>& v, const charge_worm::ends& e) {
  return reference::charge_worm_weight(s.parameters, *s.g0, v, e.side == 0 ? 1 : -1, {e.a.site, e.a.tau},
                                       {e.b.site, e.b.tau});
}

}  // namespace

class each_spin : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(charge_worm, each_spin, testing::Values(0, 1));

TEST_P(each_spin, every_ratio_is_that_of_determinants_from_scratch) {
  const exact_model s = plaquette(4, 6);
  auto v = s.warm();
  ASSERT_GT(v.size(), 20u);
  const auto n = s.n(v);
  charge_worm worm(s.parameters, s.g0);
  worm.load<double>(v, {&n[0], &n[1]});
  const point a{1, 1.3};
  long double before = s.weight(v);
  const auto changed_to = [&](std::optional<charge_worm::ends> next, const std::vector<int>& out,
                              const std::vector<vertex>& in) {
    const double found = worm.try_change(next, out, in);
    exchanged_inverse::exchange_in(v, out, in);
    const long double after = next ? weight(s, v, *next) : s.weight(v);
    EXPECT_NEAR(found / double(after / before), 1, 1e-4) << "of " << double(after / before);  // some are 1e-8
    worm.apply();
    before = after;
    ASSERT_EQ(worm.vertices().size(), v.size());
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(worm.vertices()[i].tau, v[i].tau);
  };
  const auto at = [&](point b) { return charge_worm::ends{GetParam(), a, b}; };
  changed_to(at({1, 1.9}), {3, 7}, {{1, 1, 1.4}, {1, 1, 1.7}, {1, -1, 1.8}});
  changed_to(at({2, 1.9}), {}, {});
  changed_to(at({2, 2.4}), {}, {{2, -1, 2.2}});
  changed_to(at({2, 3.4}), {0, 5, 9}, {});
  changed_to(at({2, 0.4}), {1}, {{2, 1, 3.9}});
  changed_to(at({1, 0.4}), {}, {});
  changed_to({}, {2, 4}, {{1, 1, 0.7}, {1, 1, 0.9}});
}

TEST_P(each_spin, a_change_that_is_tried_changes_nothing) {
  const exact_model s = plaquette(4, 6);
  const auto v = s.warm();
  const auto n = s.n(v);
  charge_worm worm(s.parameters, s.g0);
  worm.load<double>(v, {&n[0], &n[1]});
  const charge_worm::ends first{GetParam(), {3, 2.}, {3, 2.5}}, second{GetParam(), {3, 2.}, {0, 2.5}};
  worm.try_change(first, {}, {{3, 1, 2.1}});
  worm.apply();
  const double there = worm.try_change(second, {}, {});
  worm.try_change({}, {1}, {});
  worm.try_change(first, {0, 2}, {{0, 1, 3.}});
  EXPECT_DOUBLE_EQ(worm.try_change(second, {}, {}), there);
  EXPECT_EQ(worm.vertices().size(), v.size() + 1);
}

TEST_P(each_spin, ratios_stay_exact_along_a_walk) {
  const exact_model s = plaquette(5, 8);
  auto v = s.warm();
  const auto n = s.n(v);
  charge_worm worm(s.parameters, s.g0);
  worm.load<double>(v, {&n[0], &n[1]});
  charge_worm::ends e{GetParam(), {0, 1.}, {0, 1.2}};
  worm.try_change(e, {}, {});
  worm.apply();
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> u(0, 1);
  int steps = 0;
  for (int i = 0; i < 3000 && steps < 150; ++i) {
    auto next = e;
    std::vector<int> out;
    std::vector<vertex> in;
    if (i % 3 == 0) {
      next.b = {int(random() % 4), 5 * u(random)};
    } else if (i % 3 == 1) {
      out = {int(random() % v.size())};
    } else {
      in = {{int(random() % 4), u(random) < 0.5 ? 1 : -1, 5 * u(random)}};
    }
    if (const double ratio = std::abs(worm.try_change(next, out, in)); ratio < 0.3 || ratio > 300) continue;
    ++steps;
    worm.apply();
    exchanged_inverse::exchange_in(v, out, in);
    e = next;
  }
  EXPECT_EQ(steps, 150);
  const auto last = worm.try_change({}, {2}, {});
  auto after = v;
  exchanged_inverse::exchange_in(after, {2}, {});
  EXPECT_NEAR(last / double(s.weight(after) / weight(s, v, e)), 1, 1e-6);
}

// An atom by charge worms alone: the order k is Poisson distributed, of mean K + beta U/2 while there is one
// electron, of mean K otherwise. Local moves get from one to the other once in e^{beta U/2} tries.
TEST(charge_worm, finds_how_often_an_atom_is_empty_or_occupied) {
  const double beta = 6, U = 4, K = 2, mu = 0.1, xi = U / 2 - mu;
  const exact_model s{{beta, U, 1, K}, two_level_bath({1, 1}, beta, xi, 0.).table()};
  const double single = 2 * std::exp(-beta * (xi - U / 2)), pair = std::exp(-beta * 2 * xi), Z = 1 + single + pair;
  const auto poisson = [](int k, double mean) { return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1)); };
  walker<double> w(s.parameters, s.g0, 32);
  w.reset({});
  const int sent = 16'000, top = 40;
  std::vector<double> found(top);
  int closed = 0;
  for (int i = 0; i < sent; ++i) {
    closed += w.send_charge_worm({3, 7, 0, 0, 0, 0}, std::uint64_t(i) * 4000, 200);
    if (w.order() < top) found[w.order()] += 1. / sent;
  }
  EXPECT_GT(closed, sent / 10);
  double even = 0, exact_even = 0;
  for (int k = 0; k < top; ++k) {
    const double p = (single * poisson(k, K + beta * U / 2) + (1 + pair) * poisson(k, K)) / Z;
    EXPECT_NEAR(found[k], p, 4 * std::sqrt(p * 2 * 20 / sent) + 1e-4) << "order " << k;  // they correlate over some 20
    if (k <= 6) even += found[k], exact_even += p;
  }
  EXPECT_NEAR(even, exact_even, 4 * std::sqrt(exact_even * (1 - exact_even) * 2 * 60 / sent));
}

class charge_worm_each_K : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(K, charge_worm_each_K, testing::Values(1., -5.),
                         [](const auto& K) { return K.param > 0 ? "positive" : "negative"; });

TEST_P(charge_worm_each_K, leaves_the_walker_with_its_n_and_sign) {
  const exact_model s = plaquette(5, 8, GetParam());
  walker<double> w(s.parameters, s.g0, 32);
  w.reset({s.warm(), 1});
  int changed = 0;
  for (int i = 0; i < 60; ++i) {
    const auto before = w.current().vertices;
    if (!w.send_charge_worm({17, 7, 0, 0, 0, 0}, std::uint64_t(i) * 4000, 200)) {
      ASSERT_EQ(w.current().vertices.size(), before.size());
      for (std::size_t p = 0; p < before.size(); ++p) ASSERT_EQ(w.current().vertices[p].tau, before[p].tau);
      continue;
    }
    ++changed;
    const auto& after = w.current().vertices;
    EXPECT_EQ(w.current().sign, s.sign(after));
    const auto n = s.n(after);
    for (int side = 0; side < 2; ++side)
      for (int p = 0; p < w.order(); ++p)
        for (int q = 0; q < w.order(); ++q)
          ASSERT_NEAR(w.n_matrix(side)(p, q), n[side](p, q), 1e-8 * (1 + std::abs(n[side](p, q))));
    w.propose({17, 1, 0, 0, 0, 0}, 20 * i, 20);
  }
  EXPECT_GT(changed, 5);
}

TEST(charge_worm, gives_up_and_leaves_everything_as_it_was) {
  const exact_model s = plaquette(5, 8);
  walker<double> w(s.parameters, s.g0, 32);
  w.reset({s.warm(), 1});
  const auto before = w.current().vertices;
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(w.send_charge_worm({17, 7, 0, 0, 0, 0}, std::uint64_t(i) * 4000, 0));
  ASSERT_EQ(w.current().vertices.size(), before.size());
  for (std::size_t p = 0; p < before.size(); ++p) EXPECT_EQ(w.current().vertices[p].tau, before[p].tau);
}

TEST(charge_worm, begins_without_vertices) {
  const exact_model s = plaquette(3, 6);
  walker<double> w(s.parameters, s.g0, 32);
  int most = 0;
  for (int i = 0; i < 50; ++i) {
    w.reset({});
    w.send_charge_worm({17, 7, 0, 0, 0, 0}, std::uint64_t(i) * 4000, 200);
    most = std::max(most, w.order());
  }
  EXPECT_GT(most, 2);
}

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "exact_weights.hpp"
#include "plaq/dca/walk/spin_worm.hpp"

using namespace plaq::dca;
using plaq::stream_id;
using point = std::pair<int, double>;

namespace {

// Of these vertices and a worm between the points.
long double weight(const exact_model& s, const std::vector<vertex>& v, point a, point b) {
  return reference::worm_weight(s.parameters, *s.g0, v, a, b);
}

// The ratio of weights, or rather its distance from 1.
void expect_ratio(double found, long double after, long double before) {
  EXPECT_NEAR(found / double(after / before), 1, 1e-9) << "of " << double(after / before);
}

}  // namespace

class spin_worm_each_K : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(K, spin_worm_each_K, testing::Values(1., -5.),
                         [](const auto& K) { return K.param > 0 ? "positive" : "negative"; });

TEST_P(spin_worm_each_K, every_ratio_is_that_of_determinants_from_scratch) {
  const exact_model s = plaquette(4, 6, GetParam());
  auto v = s.warm();
  ASSERT_GT(v.size(), 20u);
  const auto n = s.n(v);
  spin_worm worm(s.parameters, s.g0);
  worm.load<double>(v, {&n[0], &n[1]});
  const point a{1, 1.3};
  point b = a;
  long double before = s.weight(v);
  const auto moved_to = [&](point next, const std::vector<int>& flipped) {
    expect_ratio(
        worm.try_step(next.first, next.second, flipped),
        [&] {
          for (int i : flipped) v[i].spin = -v[i].spin;
          return weight(s, v, a, next);
        }(),
        before);
    worm.step();
    b = next;
    before = weight(s, v, a, b);
  };
  expect_ratio(worm.open(a.first, a.second), weight(s, v, a, a), before);
  before = weight(s, v, a, a);
  moved_to({1, 1.9}, worm.vertices_between(1, 1.3, 0.6));
  moved_to({2, 1.9}, {});
  moved_to({2, 3.4}, worm.vertices_between(2, 1.9, 1.5));
  moved_to({0, 3.4}, {});
  const auto around = worm.vertices_between(0, 3.4, 0.9);  // beyond beta
  EXPECT_TRUE(std::ranges::any_of(around, [&](int i) { return v[i].tau < 0.3; }));
  moved_to({0, 0.3}, around);
  moved_to({0, 0.1}, worm.vertices_between(0, 0.3, -0.2));
  moved_to({1, 0.1}, {});
  const auto last = worm.vertices_between(1, 0.1, 1.2);
  const double closed = worm.try_close(last);
  for (int i : last) v[i].spin = -v[i].spin;
  expect_ratio(closed, s.weight(v), before);
}

TEST(spin_worm, a_step_that_is_tried_changes_nothing) {
  const exact_model s = plaquette(4, 6);
  const auto v = s.warm();
  const auto n = s.n(v);
  spin_worm worm(s.parameters, s.g0);
  worm.load<double>(v, {&n[0], &n[1]});
  worm.open(3, 2.);
  const double there = worm.try_step(3, 2.5, worm.vertices_between(3, 2., 0.5));
  worm.try_step(0, 2., {});
  worm.try_close({1, 5});
  EXPECT_DOUBLE_EQ(worm.try_step(3, 2.5, worm.vertices_between(3, 2., 0.5)), there);
  EXPECT_TRUE(worm.flipped_vertices().empty());
}

// With its vertices fixed, a walk by worms alone visits every choice of their spins as often as its weight says.
TEST(spin_worm, visits_spins_by_their_weight) {
  const exact_model s{{2., 4., 2, 1.}, two_level_bath({2, 1}, 2., 0.5, 0.4).table()};
  const std::vector<vertex> places = {{0, 1, 0.3}, {1, 1, 0.5}, {0, 1, 1.1}, {1, 1, 1.7}};
  const int choices = 1 << places.size(), walks = 40'000;
  const auto spins = [&](int choice) {
    auto v = places;
    for (std::size_t i = 0; i < v.size(); ++i) v[i].spin = choice >> i & 1 ? 1 : -1;
    return v;
  };
  std::vector<double> wanted(choices), found(choices);
  std::vector<std::array<plaq::linalg::matrix<double>, 2>> n;
  double total = 0;
  for (int c = 0; c < choices; ++c) {
    total += wanted[c] = double(std::abs(s.weight(spins(c))));
    n.push_back(s.n(spins(c)));
  }
  spin_worm worm(s.parameters, s.g0);
  int choice = 0, closed = 0;
  for (int i = 0; i < walks; ++i) {
    if (worm.walk<double>(spins(choice), {&n[choice][0], &n[choice][1]}, {5, 1, 0, 0, 0, 0}, i * 64u, 40)) {
      ++closed;
      for (int p : worm.flipped_vertices()) choice ^= 1 << p;
    }
    found[choice] += 1. / walks;
  }
  EXPECT_GT(closed, walks / 20);
  for (int c = 0; c < choices; ++c) {
    const double p = wanted[c] / total;
    const double error = std::sqrt(p * 2 * 8 / walks);  // visits correlate over some 8 walks
    EXPECT_NEAR(found[c], p, 4 * error) << "spins " << c;
  }
}

TEST_P(spin_worm_each_K, leaves_the_walker_with_its_n_and_sign) {
  const exact_model s = plaquette(5, 8, GetParam());
  walker<double> w(s.parameters, s.g0, 32);
  w.reset({s.warm(), 1});
  int changed = 0;
  for (int i = 0; i < 60; ++i) {
    const auto before = w.current().vertices;
    const bool other = w.send_worm({17, 5, 0, 0, 0, 0}, i * 1000u, 500);
    changed += other;
    const auto& after = w.current().vertices;
    ASSERT_EQ(after.size(), before.size());
    bool differs = false;
    for (std::size_t p = 0; p < after.size(); ++p) {
      EXPECT_EQ(after[p].tau, before[p].tau);
      differs |= after[p].spin != before[p].spin;
    }
    EXPECT_EQ(differs, other);
    if (!other) continue;
    EXPECT_EQ(w.current().sign, s.sign(after));
    const auto n = s.n(after);
    for (int side = 0; side < 2; ++side)
      for (int p = 0; p < w.order(); ++p)
        for (int q = 0; q < w.order(); ++q)
          EXPECT_NEAR(w.n_matrix(side)(p, q), n[side](p, q), 1e-9 * (1 + std::abs(n[side](p, q))));
    w.propose({17, 1, 0, 0, 0, 0}, 20 * i, 20);
  }
  EXPECT_GT(changed, 2);
}

TEST(spin_worm, gives_up_and_leaves_everything_as_it_was) {
  const exact_model s = plaquette(5, 8);
  walker<double> w(s.parameters, s.g0, 32);
  w.reset({s.warm(), 1});
  const auto before = w.current().vertices;
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(w.send_worm({17, 5, 0, 0, 0, 0}, i * 1000u, 0));
  for (std::size_t p = 0; p < before.size(); ++p) EXPECT_EQ(w.current().vertices[p].spin, before[p].spin);
}

TEST(spin_worm, there_is_nothing_to_turn_without_vertices) {
  const exact_model s = plaquette(1, 1);
  walker<double> w(s.parameters, s.g0, 32);
  w.reset({});
  EXPECT_FALSE(w.send_worm({17, 5, 0, 0, 0, 0}, 0, 100));
}

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/reference.hpp"
#include "plaq/dca/walk/walker.hpp"
#include "small_problem.hpp"

using namespace plaq::dca;
using plaq::stream_id;

namespace {

const torus plaquette{2, 2};
const stream_id moves{17, 1, 0, 0, 0, 0}, warm_up{17, 2, 0, 0, 0, 0};

struct exact_model {
  expansion parameters;
  std::shared_ptr<const g0_table> g0;
};

// 2x2, beta = 5, U = 8, doped: about 75 vertices and weights of both signs.
exact_model strong_coupling(double K = 1) {
  const double beta = 5, U = 8;
  return {{beta, U, 4, K}, two_level_bath(plaquette, beta, 1.6, 0.4).table()};
}
// One site, half filled: the order is so low that removals meet an empty configuration.
exact_model one_site() {
  const double beta = 1, U = 1;
  return {{beta, U, 1, 1.}, two_level_bath({1, 1}, beta, 0., 0.4).table()};
}

auto in_order(std::vector<vertex> v) {
  std::vector<std::tuple<double, int, int>> out;
  for (const vertex& x : v) out.emplace_back(x.tau, x.site, x.spin);
  std::sort(out.begin(), out.end());
  return out;
}

// Of an element of N from the exact one, in units of 1 + the largest element.
template <class Real>
double largest_deviation(const walker<Real>& w, const exact_model& s) {
  double worst = 0, largest = 0;
  for (int side = 0; side < 2; ++side) {
    const auto exact =
        reference::inverse(reference::inverse_n(s.parameters, *s.g0, w.current().vertices, side == 0 ? 1 : -1));
    const auto& n = w.n_matrix(side);
    EXPECT_EQ(n.rows(), w.order());
    EXPECT_EQ(n.columns(), w.order());
    for (int i = 0; i < w.order(); ++i)
      for (int j = 0; j < w.order(); ++j) {
        worst = std::max(worst, std::abs(double(n(i, j) - exact[i][j])));
        largest = std::max(largest, std::abs(double(exact[i][j])));
      }
  }
  return worst / (1 + largest);
}

// Vertices as a walk of some length leaves them.
configuration warm(const exact_model& s) {
  walker<double> w(s.parameters, s.g0, 32);
  w.reset({});
  w.propose(warm_up, 0, 2000);
  w.rebuild();
  return w.current();
}

struct walk_totals {
  int negative = 0, taken_back = 0, longest = 0, shortest = 1 << 30;
};

// Every proposal of the walker against one made with determinants from scratch: the same decisions, hence the same
// vertices, the same sign and the same N.
walk_totals compare(const exact_model& s, int block_length, int blocks) {
  walker<double> fast(s.parameters, s.g0, block_length);
  reference::walker slow(s.parameters, *s.g0);
  fast.reset({});
  walk_totals totals;
  std::uint64_t next = 0;
  for (int b = 0; b < blocks; ++b) {
    // The vertices as the walker numbers them: that order is its own business, which block ends may change.
    slow.block(moves, next, block_length, fast.current().vertices);
    fast.propose(moves, next, block_length);
    next += block_length;
    EXPECT_EQ(in_order(fast.current().vertices), in_order(slow.vertices)) << "block " << b;
    EXPECT_EQ(fast.current().sign, slow.sign) << "block " << b;
    EXPECT_EQ(fast.counts().accepted, std::uint64_t(slow.accepted)) << "block " << b;
    EXPECT_LT(largest_deviation(fast, s), 1e-9) << "block " << b;
    if (testing::Test::HasFailure()) break;
    totals.negative += slow.sign < 0;
    totals.longest = std::max(totals.longest, fast.order());
    totals.shortest = std::min(totals.shortest, fast.order());
  }
  EXPECT_EQ(fast.counts().proposed, next);
  totals.taken_back = slow.taken_back;
  return totals;
}

}  // namespace

TEST(walker, decides_like_the_reference_in_blocks_of_1) { compare(strong_coupling(), 1, 300); }

TEST(walker, decides_like_the_reference_in_blocks_of_7) { EXPECT_GT(compare(strong_coupling(), 7, 60).taken_back, 0); }

TEST(walker, decides_like_the_reference_in_blocks_of_64) {
  const walk_totals totals = compare(strong_coupling(), 64, 14);
  EXPECT_GT(totals.taken_back, 20);
  EXPECT_GT(totals.longest, 50);
}

TEST(walker, decides_like_the_reference_at_the_lowest_orders) {
  for (int block_length : {1, 7, 64}) EXPECT_EQ(compare(one_site(), block_length, 300).shortest, 0);
}

TEST(walker, keeps_the_sign_where_weights_are_negative) {
  // Odd rings frustrate: weights of both signs are common, and this walk changes its sign several times.
  const double beta = 5, U = 4;
  const exact_model s{{beta, U, 3, 1.}, two_level_bath({3, 1}, beta, 0., 0.05).table()};
  const walk_totals totals = compare(s, 8, 70);
  EXPECT_GT(totals.negative, 5);
  EXPECT_LT(totals.negative, 65);
}

TEST(walker, decides_like_the_reference_where_K_is_negative) {
  for (const auto& [block_length, blocks] : {std::pair(1, 300), std::pair(7, 60), std::pair(64, 14)}) {
    const walk_totals totals = compare(strong_coupling(-8), block_length, blocks);
    EXPECT_GT(totals.negative, 2);
    EXPECT_GT(totals.longest, 25);
  }
}

// The sum over the spin of what a vertex is worth with 0 or 1 electrons of either spin.
TEST(vertex_strength, gives_the_interaction) {
  for (const double K : {0.2, 1., 30., -0.2, -4., -29.}) {
    const expansion p{5., 6., 4, K};
    const vertex_strength x(p);
    for (int up = 0; up < 2; ++up)
      for (int down = 0; down < 2; ++down) {
        double sum = 0;
        for (const int spin : {1, -1})
          sum += K / (2 * p.beta * p.sites) * (1 + up * x(1, spin)) * (1 + down * x(-1, spin));
        EXPECT_NEAR(sum, K / (p.beta * p.sites) - p.U * (up * down - (up + down) / 2.), 1e-12) << K << up << down;
      }
  }
}

TEST(walker, splits_a_sweep_into_blocks_of_nearly_equal_length) {
  const exact_model s = strong_coupling();
  walker<double> whole(s.parameters, s.g0, 64), parts(s.parameters, s.g0, 64);
  whole.reset({}), parts.reset({});
  whole.propose(moves, 0, 150);  // 50 + 50 + 50
  for (int b = 0; b < 3; ++b) parts.propose(moves, 50 * b, 50);
  EXPECT_EQ(whole.order(), parts.order());
  for (int i = 0; i < whole.order(); ++i) EXPECT_EQ(whole.current().vertices[i].tau, parts.current().vertices[i].tau);
}

class flips_of_a_site : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(walker, flips_of_a_site, testing::Values(1., -8.),
                         [](const auto& K) { return K.param > 0 ? "K_positive" : "K_negative"; });

TEST_P(flips_of_a_site, are_those_of_the_reference) {
  const exact_model s = strong_coupling(GetParam());
  walker<double> w(s.parameters, s.g0, 32);
  w.reset(warm(s));
  const stream_id flips{17, 3, 0, 0, 0, 0};
  int accepted = 0;
  const int proposals = 60;
  for (int i = 0; i < proposals; ++i) {
    const auto word = plaq::random_words(flips, i);
    auto flipped = w.current().vertices;
    for (vertex& v : flipped)
      if (v.site == int(plaq::below(word[3], 4))) v.spin = -v.spin;
    const long double before = reference::weight(s.parameters, *s.g0, w.current().vertices),
                      after = reference::weight(s.parameters, *s.g0, flipped);
    const bool expected = plaq::unit_interval(word[2]) < std::abs(after / before);
    const auto stay = w.current().vertices;
    ASSERT_EQ(w.flip_site(flips, i), expected) << i;
    EXPECT_EQ(in_order(w.current().vertices), in_order(expected ? flipped : stay));
    EXPECT_EQ(w.current().sign, ((expected ? after : before) < 0 ? -1 : 1) * s.parameters.sign_of_factor(w.order()));
    EXPECT_LT(largest_deviation(w, s), 1e-11);
    accepted += expected;
    w.propose(moves, 20 * i, 20);
    w.rebuild();
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, proposals);
}

TEST(walker, drifts_little_and_rebuild_measures_it) {
  const exact_model s = strong_coupling();
  walker<double> w(s.parameters, s.g0, 64);
  w.reset(warm(s));
  w.propose(moves, 2000, 4000);
  const auto before = w.n_matrix(0), before_down = w.n_matrix(1);
  const double sign = w.current().sign, drift = w.rebuild();
  double change = 0;
  for (int i = 0; i < w.order(); ++i)
    for (int j = 0; j < w.order(); ++j)
      change = std::max(
          {change, std::abs(before(i, j) - w.n_matrix(0)(i, j)), std::abs(before_down(i, j) - w.n_matrix(1)(i, j))});
  EXPECT_EQ(drift, change);
  EXPECT_LT(drift, 1e-7);
  EXPECT_EQ(w.current().sign, sign);
  EXPECT_LT(largest_deviation(w, s), 1e-12);
}

TEST(walker, with_float_matrices_stays_near_and_is_repaired_by_rebuild) {
  const double beta = 2, U = 4;
  const exact_model s{{beta, U, 4, 1.}, two_level_bath(plaquette, beta, 0.8, 0.4).table()};
  walker<float> w(s.parameters, s.g0, 16);
  w.reset({});
  for (int sweep = 0; sweep < 100; ++sweep) {
    w.propose(moves, 100 * sweep, 100);
    ASSERT_LT(largest_deviation(w, s), 1e-3) << "sweep " << sweep;
  }
  EXPECT_GT(w.rebuild(), 0.);
  EXPECT_LT(largest_deviation(w, s), 1e-6);
}

// Strong coupling drives N through nearly singular matrices, which single precision does not survive for long.
TEST(walker, with_float_matrices_is_repaired_at_strong_coupling) {
  const exact_model s = strong_coupling();
  walker<float> w(s.parameters, s.g0, 64);
  w.reset(warm(s));
  w.propose(moves, 2000, 500);
  w.rebuild();
  EXPECT_LT(largest_deviation(w, s), 1e-6);
  w.propose(moves, 2500, 50);
  EXPECT_LT(largest_deviation(w, s), 1e-3);
}

TEST(walker, without_interaction_never_touches_the_weight) {
  exact_model s = strong_coupling();
  s.parameters.U = 0;
  walker<double> w(s.parameters, s.g0, 16);
  w.reset({});
  w.propose(moves, 0, 2000);
  sample out;
  w.fill(out);
  EXPECT_EQ(w.current().sign, 1.);
  EXPECT_GT(w.order(), 0);
  for (int side = 0; side < 2; ++side)
    for (int j = 0; j < w.order(); ++j)
      for (int i = 0; i < w.order(); ++i) {
        EXPECT_EQ(w.n_matrix(side)(i, j), i == j);
        EXPECT_EQ(out.m[side](i, j), 0.f);
      }
}

TEST(walker, fill_gives_M_ordered_by_site) {
  const exact_model s = strong_coupling();
  walker<double> w(s.parameters, s.g0, 64);
  w.reset(warm(s));
  sample out;
  w.fill(out);
  const auto& vertices = w.current().vertices;
  ASSERT_EQ(out.order(), w.order());
  ASSERT_EQ(out.first.size(), 5u);
  EXPECT_EQ(out.first.front(), 0);
  EXPECT_EQ(out.first.back(), w.order());
  std::vector<int> from(w.order());
  for (int x = 0; x < 4; ++x)
    for (int p = out.first[x]; p < out.first[x + 1]; ++p) {
      from[p] =
          int(std::find_if(vertices.begin(), vertices.end(), [&](const vertex& v) { return v.tau == out.tau[p]; }) -
              vertices.begin());
      EXPECT_EQ(vertices.at(from[p]).site, x);
    }
  const vertex_strength strength(s.parameters);
  for (int side = 0; side < 2; ++side) {
    const int sigma = side == 0 ? 1 : -1;
    const auto n = reference::inverse(reference::inverse_n(s.parameters, *s.g0, vertices, sigma));
    for (int p = 0; p < w.order(); ++p)
      for (int q = 0; q < w.order(); ++q) {
        const double m = strength(sigma, vertices[from[p]].spin) * double(n[from[p]][from[q]]);
        EXPECT_NEAR(out.m[side](p, q), m, 1e-5 * (1 + std::abs(m)));
      }
  }
}

TEST(walker, refuses_vertices_outside_the_problem) {
  const exact_model s = strong_coupling();
  walker<double> w(s.parameters, s.g0, 8);
  EXPECT_THROW(w.reset({{{4, 1, 0.}}, 1.}), plaq::runtime_failure);
  EXPECT_THROW(w.reset({{{0, 0, 0.}}, 1.}), plaq::runtime_failure);
  EXPECT_THROW(w.reset({{{0, 1, 5.}}, 1.}), plaq::runtime_failure);
}

TEST(walker, refuses_vertices_without_a_spin_or_before_time_zero) {
  const exact_model s = strong_coupling();
  walker<double> w(s.parameters, s.g0, 8);
  EXPECT_THROW(w.reset({{{-1, 1, 0.}}, 1.}), plaq::runtime_failure);
  EXPECT_THROW(w.reset({{{0, 2, 0.}}, 1.}), plaq::runtime_failure);
  EXPECT_THROW(w.reset({{{0, 1, -1e-9}}, 1.}), plaq::runtime_failure);
  EXPECT_NO_THROW(w.reset({{{3, -1, std::nextafter(5., 0.)}}, 1.})) << "the last site, the last time";
}

TEST(walker, refuses_empty_blocks_and_the_bath_of_another_problem) {
  const exact_model s = strong_coupling();
  EXPECT_THROW(walker<double>(s.parameters, s.g0, 0), plaq::runtime_failure);
  expansion other = s.parameters;
  other.sites = 3;
  EXPECT_THROW(walker<double>(other, s.g0, 8), plaq::runtime_failure);
  other = s.parameters;
  other.beta = 4;
  EXPECT_THROW(walker<double>(other, s.g0, 8), plaq::runtime_failure);
}

TEST(walker, takes_the_sign_of_its_first_vertices_from_their_weight) {
  for (const double K : {1., -8.}) {
    const exact_model s = strong_coupling(K);
    walker<double> w(s.parameters, s.g0, 8);
    for (const double wrong : {1., -1.}) {
      configuration start = warm(s);
      const double sign = (reference::weight(s.parameters, *s.g0, start.vertices) < 0 ? -1 : 1) *
                          s.parameters.sign_of_factor(int(start.vertices.size()));
      start.sign = wrong;
      w.reset(start);
      EXPECT_EQ(w.current().sign, sign) << "K " << K;
    }
  }
}

TEST(walker, makes_no_proposal_where_none_is_asked_for) {
  const exact_model s = strong_coupling();
  walker<double> w(s.parameters, s.g0, 8);
  w.reset(warm(s));
  const auto before = in_order(w.current().vertices);
  w.propose(moves, 0, 0);
  EXPECT_EQ(w.counts().proposed, 0u);
  EXPECT_EQ(in_order(w.current().vertices), before);
}

TEST(walker, decides_by_the_number_of_a_proposal_not_by_its_block) {
  const exact_model s = strong_coupling();
  std::vector<decltype(in_order({}))> ends;
  for (const int pieces : {1, 4, 8}) {
    walker<double> w(s.parameters, s.g0, 8);
    w.reset(warm(s));
    for (int i = 0; i < pieces; ++i) w.propose(moves, std::uint64_t(64 / pieces * i), 64 / pieces);
    ends.push_back(in_order(w.current().vertices));
  }
  EXPECT_EQ(ends[1], ends[0]);
  EXPECT_EQ(ends[2], ends[0]);
}

TEST(walker, stops_at_a_bath_that_is_not_a_number) {
  const expansion parameters{1., 1., 1, 1.};
  const std::vector<double> coefficients(g0_table::terms, std::nan(""));
  const auto g0 = std::make_shared<g0_table>(1., 1, 1, coefficients, std::vector{0});
  walker<double> w(parameters, g0, 8);
  EXPECT_THROW(w.reset({{{0, 1, 0.5}}, 1.}), plaq::runtime_failure);
}

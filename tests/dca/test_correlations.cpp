#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/base/random.hpp"
#include "plaq/dca/measure/correlations.hpp"
#include "plaq/dca/reference.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

struct operator_at {
  int site;
  double time;
};

// <n_s(1) n_s'(2)> of one configuration, from holes h = 1 - n = c c+ and Wick's theorem for h.
double pair(const g0_table& g0, const sample& s, int side1, operator_at a, int side2, operator_at b) {
  auto g = [&](int side, operator_at x, operator_at y) {
    return reference::green(g0, s, side, x.site, x.time, y.site, y.time);
  };
  const double h1 = g(side1, a, a), h2 = g(side2, b, b);
  double hh = h1 * h2;
  if (side1 == side2) {
    if (a.site == b.site && a.time == b.time)
      hh = h1;  // h^2 = h
    else
      hh = h1 * h2 - g(side1, a, b) * g(side1, b, a);
  }
  return 1 - h1 - h2 + hh;
}

/// Correlations of one configuration by R, summed pair by pair from their definition: times the sign.
struct slow_correlations {
  double density = 0, double_occupancy = 0, spin_square = 0, charge_square = 0;
  std::vector<double> spin, charge, static_spin, static_charge, green;

  slow_correlations(const torus& cluster, const g0_table& g0, const sample& s,
                    const std::array<std::uint64_t, green_at_times::times>& words) {
    const int sites = cluster.size(), times = green_at_times::times;
    const double beta = g0.beta();
    for (auto* sums : {&spin, &charge, &static_spin, &static_charge, &green}) sums->resize(std::size_t(sites));
    for (int a = 0; a < times; ++a)
      for (int i = 0; i < sites; ++i) {
        const operator_at x{i, beta * unit_interval(words[std::size_t(a)])};
        density += s.sign * (pair(g0, s, 0, x, 0, x) + pair(g0, s, 1, x, 1, x)) / (times * sites);
        double_occupancy += s.sign * pair(g0, s, 0, x, 1, x) / (times * sites);
        for (int b = 0; b < times; ++b)
          for (int j = 0; j < sites; ++j) {
            const operator_at y{j, beta * unit_interval(words[std::size_t(b)])};
            const double same = pair(g0, s, 0, x, 0, y) + pair(g0, s, 1, x, 1, y);
            const double opposite = pair(g0, s, 0, x, 1, y) + pair(g0, s, 1, x, 0, y);
            const double weight = s.sign / sites * (a == b ? 1. / times : beta / (times * (times - 1)));
            const auto R = std::size_t(cluster.difference()[std::size_t(i * sites + j)]);
            (a == b ? spin : static_spin)[R] += weight * 0.25 * (same - opposite);
            (a == b ? charge : static_charge)[R] += weight * (same + opposite);
            if (a != b) continue;
            spin_square += weight * 0.25 * (same - opposite);
            charge_square += weight * (same + opposite);
            for (int side = 0; side < 2; ++side)
              green[R] += weight / 2 * reference::green(g0, s, side, i, x.time, j, y.time);
          }
      }
  }
};

/// Sums of a measurement, which restart from 0.
std::vector<double> flushed(measures::measurement& m, std::size_t size) {
  std::vector<double> out(size);
  m.flush(out);
  return out;
}

void expect_near(const std::vector<double>& fast, const std::vector<double>& slow) {
  ASSERT_EQ(fast.size(), slow.size());
  for (std::size_t i = 0; i < fast.size(); ++i) EXPECT_NEAR(fast[i], slow[i], 1e-4 * (1 + std::abs(slow[i]))) << i;
}

using measures::two_point;

/// Three by two sites in a bath, and samples with and without vertices.
class correlations : public testing::TestWithParam<std::vector<int>> {
 protected:
  correlations() { green.evaluate(s, words); }
  static sample signed_sample() {
    sample out = random_sample(GetParam(), 3, 1);
    out.sign = out.order() > 0 ? -1 : 1;
    return out;
  }
  template <class Measurement>
  void check_by_distance(const std::vector<double>& slow) {
    Measurement fast(cluster.size());
    fast.accumulate(green, s.weight());
    expect_near(flushed(fast, slow.size()), slow);
    expect_near(flushed(fast, slow.size()), std::vector<double>(slow.size()));
  }

  const torus cluster{3, 2};
  const std::shared_ptr<const g0_table> g0 = two_level_bath(cluster, 3, 0.5, 0.4).table();
  const std::array<std::uint64_t, 4> words = random_words({5, 3, 0, 0, 0, 0}, 1);
  const sample s = signed_sample();
  green_at_times green{g0};
  const slow_correlations slow{cluster, *g0, s, words};
};

TEST_P(correlations, density_is_one_minus_g_of_both_spins) {
  measures::density fast;
  fast.accumulate(green, s.weight());
  EXPECT_NEAR(fast.last(), slow.density, 1e-5);
  fast.accumulate(green, s.weight());
  EXPECT_NEAR(fast.last(), slow.density, 1e-5) << "of the last configuration only";
  expect_near(flushed(fast, 1), {2 * slow.density});
}

TEST_P(correlations, double_occupancy_is_the_product_of_both_spins_occupations) {
  measures::double_occupancy fast;
  fast.accumulate(green, s.weight());
  EXPECT_NEAR(fast.last(), slow.double_occupancy, 1e-5);
  expect_near(flushed(fast, 1), {slow.double_occupancy});
}

TEST_P(correlations, at_equal_times_agree_with_Wicks_theorem_pair_by_pair) {
  check_by_distance<measures::equal_time_correlation<two_point::spin>>(slow.spin);
  check_by_distance<measures::equal_time_correlation<two_point::charge>>(slow.charge);
}

TEST_P(correlations, of_two_times_agree_with_Wicks_theorem_pair_by_pair) {
  check_by_distance<measures::static_correlation<two_point::spin>>(slow.static_spin);
  check_by_distance<measures::static_correlation<two_point::charge>>(slow.static_charge);
}

TEST_P(correlations, have_the_squares_of_total_spin_and_charge) {
  measures::equal_time_correlation<two_point::spin> spin(cluster.size());
  measures::equal_time_correlation<two_point::charge> charge(cluster.size());
  for (int repeat = 0; repeat < 2; ++repeat) {
    spin.accumulate(green, s.weight());
    charge.accumulate(green, s.weight());
    EXPECT_NEAR(spin.last_square(), slow.spin_square, 1e-4);
    EXPECT_NEAR(charge.last_square(), slow.charge_square, 1e-4);
  }
}

TEST_P(correlations, equal_time_green_is_the_mean_over_spins_and_pairs) {
  check_by_distance<measures::equal_time_green>(slow.green);
}

TEST_P(correlations, carry_the_weight_of_the_sample) {
  measures::equal_time_green once(cluster.size()), scaled(cluster.size());
  once.accumulate(green, 1);
  scaled.accumulate(green, -0.25);
  auto expected = flushed(once, 6);
  for (double& x : expected) x *= -0.25;
  expect_near(flushed(scaled, 6), expected);
}

INSTANTIATE_TEST_SUITE_P(samples, correlations,
                         testing::Values(std::vector{2, 0, 1, 3, 1, 2}, std::vector{0, 0, 0, 0, 0, 0},
                                         std::vector{0, 0, 0, 9, 0, 0}));

TEST(measurement, refuses_to_flush_into_an_array_of_another_size) {
  measures::equal_time_green m(4);
  std::vector<double> small(3), large(5);
  EXPECT_THROW(m.flush(small), runtime_failure);
  EXPECT_THROW(m.flush(large), runtime_failure);
}

TEST(measurement, adds_its_sums_to_what_the_bin_holds) {
  const torus cluster{2, 2};
  const sample s = random_sample({1, 2, 0, 3}, 3, 7);
  green_at_times green(two_level_bath(cluster, 3, 0.5, 0.4).table());
  green.evaluate(s, {1, 2, 3, 4});
  measures::density m;
  m.accumulate(green, 1);
  std::vector<double> out{10};
  m.flush(out);
  EXPECT_DOUBLE_EQ(out[0], 10 + m.last());
}

}  // namespace
}  // namespace plaq::dca

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "plaq/linalg/sum.hpp"

using plaq::linalg::sum_in_lanes;

TEST(sum_in_lanes, adds_every_term_once) {
  for (int n = 0; n < 40; ++n) EXPECT_EQ(sum_in_lanes<8>(n, [](int i) { return double(i); }), n * (n - 1) / 2.);
}

// The rounding of the sum depends on the order: 1 is lost beside 2^53 unless it meets another small term first.
TEST(sum_in_lanes, has_one_order) {
  const double large = 9007199254740992.;
  std::vector<double> terms = {large, 1, 1, 1, -large,
                               1,     1, 1, 1};  // lanes of 4: {large, -large}, {1, 1}, ...; the rest 1
  EXPECT_EQ(sum_in_lanes<4>(9, [&](int i) { return terms[i]; }), 7);
  EXPECT_EQ(sum_in_lanes<1>(5, [&](int i) { return terms[i]; }), 0);
}

// Against its definition, with numbers whose sum depends on the order.
template <int Lanes>
void expect_the_order_that_is_promised() {
  std::mt19937_64 random{31};
  for (int n = 0; n < 70; ++n) {
    std::vector<float> x(static_cast<std::size_t>(n));
    for (float& term : x) term = std::ldexp(float(random() % 1000) - 500, int(random() % 30));
    double expected = 0;
    for (int i = n / Lanes * Lanes; i < n; ++i) expected += double(x[std::size_t(i)]);
    for (int lane = 0; lane < Lanes; ++lane) {
      float sum = 0;  // as the terms are, until the lanes are added
      for (int i = lane; i < n / Lanes * Lanes; i += Lanes) sum += x[std::size_t(i)];
      expected += double(sum);
    }
    EXPECT_EQ(sum_in_lanes<Lanes>(n, [&](int i) { return x[std::size_t(i)]; }), expected) << n;
  }
}

TEST(sum_in_lanes, adds_lanes_in_the_precision_of_the_terms_and_then_in_double) {
  expect_the_order_that_is_promised<1>();
  expect_the_order_that_is_promised<4>();
  expect_the_order_that_is_promised<16>();
}

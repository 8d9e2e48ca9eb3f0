#include "plaq/linalg/sum.hpp"

#include <gtest/gtest.h>

#include <vector>

using plaq::linalg::sum_in_lanes;

TEST(sum_in_lanes, adds_every_term_once) {
  for (int n = 0; n < 40; ++n) EXPECT_EQ(sum_in_lanes<8>(n, [](int i) { return double(i); }), n * (n - 1) / 2.);
}

// What the sum is rounded to tells the order: 1 is lost beside 2^53 unless it meets another small term first.
TEST(sum_in_lanes, has_one_order) {
  const double large = 9007199254740992.;
  std::vector<double> terms = {large, 1, 1, 1, -large, 1, 1, 1, 1};  // lanes of 4: {large, -large}, {1, 1}, ...; the rest 1
  EXPECT_EQ(sum_in_lanes<4>(9, [&](int i) { return terms[i]; }), 7);
  EXPECT_EQ(sum_in_lanes<1>(5, [&](int i) { return terms[i]; }), 0);
}

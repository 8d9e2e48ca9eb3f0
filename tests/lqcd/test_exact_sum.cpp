#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/lqcd/lattice/exact_sum.hpp"

namespace plaq::lqcd {
namespace {

double sum(const std::vector<double>& terms) {
  exact_sum s;
  for (const double x : terms) s.add(x);
  return s.value();
}

TEST(exact_sum, of_one_number_is_that_number) {
  for (const double x :
       {0.0, 1.0, -1.0, 0.1, -1e300, 1e-300, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308})
    EXPECT_EQ(sum({x}), x);
}

TEST(exact_sum, loses_nothing) {
  EXPECT_EQ(sum({1e100, 1, -1e100}), 1);
  EXPECT_EQ(sum({1e300, 1e-300, -1e300, 3e-300}), 4e-300);
  EXPECT_EQ(sum({1.7976931348623157e308, 1.7976931348623157e308, -1.7976931348623157e308}), 1.7976931348623157e308);
  EXPECT_EQ(sum({1, 0x1p-53}), 1);                       // half way: to even
  EXPECT_EQ(sum({1, 0x1p-53, 0x1p-1000}), 1 + 0x1p-52);  // and a little more
  EXPECT_EQ(sum({-1, -0x1p-53, -0x1p-1000}), -1 - 0x1p-52);
}

TEST(exact_sum, has_no_order_and_no_parts) {
  std::vector<double> terms;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const auto w = random_words({.seed = 3}, i);
    terms.push_back((unit_interval(w[0]) - 0.5) * std::exp2(200 * (unit_interval(w[1]) - 0.5)));
  }
  const double whole = sum(terms);
  exact_sum parts[3], all;
  for (std::size_t i = 0; i < terms.size(); ++i) parts[i % 3].add(terms[i]);
  for (auto& p : parts) p.settle(), all.add(p);
  EXPECT_EQ(all.value(), whole);
  std::ranges::sort(terms);
  EXPECT_EQ(sum(terms), whole);
}

TEST(exact_sum, of_numbers_that_are_not_finite_is_nan) {
  EXPECT_TRUE(std::isnan(sum({1, std::numeric_limits<double>::infinity()})));
  EXPECT_TRUE(std::isnan(sum({1, std::nan("")})));
}

}  // namespace
}  // namespace plaq::lqcd

#include <gtest/gtest.h>

#include <mutex>

#include "numbers.hpp"
#include "plaq/gpu/host_team.hpp"
#include "plaq/gpu/inverse.hpp"
#include "plaq/linalg/inverse.hpp"

using namespace plaq::gpu;

namespace {
struct inverted {
  std::vector<double> a;
  scaled determinant;
};
inverted by_threads(int threads, int n, std::vector<double> a) {
  inverse_space space;
  arena counting(nullptr);
  space.allocate(counting, n);
  std::vector<std::byte> memory(counting.bytes());
  arena allocating(memory.data());
  space.allocate(allocating, n);
  std::vector<scaled> found(threads ? threads : 1);
  int thread = 0;
  if (threads == 0) {
    serial_team team;
    found[0] = invert(team, n, a.data(), n, space);
  } else {
    std::mutex guard;
    thread_team::run(threads, [&](thread_team& team) {
      const scaled mine = invert(team, n, a.data(), n, space);
      std::lock_guard lock(guard);
      found[thread++] = mine;
    });
  }
  for (const scaled& d : found) {  // every thread knows it
    if (std::isfinite(d.mantissa)) {
      EXPECT_EQ(d.mantissa, found[0].mantissa);
      EXPECT_EQ(d.exponent, found[0].exponent);
    }
  }
  return {a, found[0]};
}
}  // namespace

TEST(inverse, is_that_of_linalg) {
  for (const int n : {0, 1, 2, 7, 16, 17, 32, 50, 101}) {
    const auto a = numbers(n * n, 20 + n);
    auto expected = a;
    const plaq::linalg::log_det det = plaq::linalg::invert(n, expected.data(), n);
    const inverted found = by_threads(0, n, a);
    double largest = 0;
    for (double x : expected) largest = std::max(largest, std::abs(x));
    for (int i = 0; i < n * n; ++i) EXPECT_NEAR(found.a[i], expected[i], 1e-11 * largest) << n;
    EXPECT_EQ(found.determinant.mantissa < 0, det.sign < 0);
    EXPECT_NEAR(std::log(std::abs(found.determinant.mantissa)) + found.determinant.exponent * std::log(2.), det.log,
                1e-11 * (1 + n));
  }
}

TEST(inverse, of_any_number_of_threads_has_the_same_bits) {
  const int n = 37;
  const auto a = numbers(n * n, 5);
  const inverted alone = by_threads(0, n, a);
  for (const int threads : {1, 2, 3}) {
    const inverted found = by_threads(threads, n, a);
    EXPECT_EQ(found.a, alone.a);
    EXPECT_EQ(found.determinant.mantissa, alone.determinant.mantissa);
  }
}

TEST(inverse, of_a_singular_matrix_has_the_determinant_zero) {
  EXPECT_EQ(by_threads(0, 2, {1, 2, 2, 4}).determinant.value(), 0.);
  EXPECT_EQ(by_threads(0, 3, std::vector<double>(9, 0.)).determinant.value(), 0.);
  const double nan = std::nan("");
  EXPECT_TRUE(std::isnan(by_threads(0, 1, {nan}).determinant.value()));
}

TEST(inverse, has_determinants_beyond_the_range_of_double) {
  std::vector<double> a(100 * 100, 0.);
  for (int i = 0; i < 100; ++i) a[101 * i] = 1e-10;
  const scaled tiny = by_threads(0, 100, a).determinant;
  EXPECT_NEAR(std::log10(tiny.mantissa) + tiny.exponent * std::log10(2.), -1000, 1e-9);
  EXPECT_EQ(tiny.value(), 0.);
}

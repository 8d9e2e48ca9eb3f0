#include "plaq/linalg/inverse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace plaq::linalg;

namespace {

std::vector<double> numbers(int n, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> out(n);
  for (double& x : out) x = uniform(random);
  return out;
}

}  // namespace

TEST(invert, gives_inverse_and_determinant) {
  std::mt19937_64 random{11};
  for (int n : {0, 1, 2, 3, 8, 15, 16, 17, 40, 130, 300}  /* step by step; by halves, even and uneven */) {
    const int stride = n + 3;
    const auto a = numbers(stride * n + 1, random);
    auto x = a;
    const log_det det = invert(n, x.data(), stride);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int l = 0; l < n; ++l) sum += a[i + l * stride] * x[l + j * stride];
        EXPECT_NEAR(sum, i == j, 1e-9);
      }
    double exact = n == 0 ? 1 : n == 1 ? a[0] : 0;
    if (n == 2) exact = a[0] * a[1 + stride] - a[1] * a[stride];
    if (n < 3) {
      EXPECT_NEAR(det.sign * std::exp(det.log), exact, 1e-12);
    }
  }
}

TEST(invert, gives_the_sign_of_a_permutation) {
  std::vector<double> odd = {0, 1, 0, 1, 0, 0, 0, 0, 1}, even = {0, 1, 0, 0, 0, 1, 1, 0, 0};
  EXPECT_EQ(invert(3, odd.data(), 3).sign, -1);
  EXPECT_EQ(invert(3, even.data(), 3).sign, 1);
}

TEST(invert, changes_rows_where_a_half_has_no_pivot_of_its_own) {
  const int n = 50;  // the cyclic shift by 20: every pivot lies beyond the sixteen columns that are taken together
  std::vector<double> a(n * n);
  for (int j = 0; j < n; ++j) a[(j + 20) % n + j * n] = j + 1;
  const log_det det = invert(n, a.data(), n);
  EXPECT_EQ(det.sign, 1);
  EXPECT_NEAR(det.log, std::lgamma(n + 1.), 1e-10);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) EXPECT_EQ(a[i + j * n], (i + 20) % n == j ? 1. / (i + 1) : 0) << i << " " << j;
}

void expect_singular(const log_det& det) {
  EXPECT_EQ(det.sign, 0);
  EXPECT_EQ(det.log, -std::numeric_limits<double>::infinity());
}

TEST(invert, says_that_a_matrix_is_singular) {
  std::vector<double> a = {1, 2, 2, 4};
  expect_singular(invert(2, a.data(), 2));
}

TEST(invert, says_that_a_row_or_column_of_zeros_makes_a_matrix_singular) {
  std::mt19937_64 random{12};
  for (int n : {1, 5, 17, 64})
    for (int zero : {0, n / 2, n - 1}) {
      auto rows = numbers(n * n, random), columns = rows;
      for (int i = 0; i < n; ++i) rows[zero + i * n] = columns[i + zero * n] = 0;
      expect_singular(invert(n, rows.data(), n));
      expect_singular(invert(n, columns.data(), n));
    }
}

TEST(invert, determinants_are_multilinear_and_those_of_inverses_cancel) {
  std::mt19937_64 random{13};
  for (int n : {2, 7, 16, 33, 70}) {
    const auto a = numbers(n * n, random);
    auto inverse = a, swapped = a, scaled = a, transposed = a;
    for (int j = 0; j < n; ++j) std::swap(swapped[j * n], swapped[n - 1 + j * n]);
    for (int i = 0; i < n; ++i) scaled[i + (n / 2) * n] *= -0.25;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) transposed[i + j * n] = a[j + i * n];
    const log_det det = invert(n, inverse.data(), n);
    const auto near = [&](const log_det& other, double sign, double log) {
      EXPECT_EQ(other.sign, sign) << n;
      EXPECT_NEAR(other.log, log, 1e-9) << n;
    };
    near(invert(n, swapped.data(), n), -det.sign, det.log);
    near(invert(n, scaled.data(), n), -det.sign, det.log + std::log(0.25));
    near(invert(n, transposed.data(), n), det.sign, det.log);
    near(invert(n, inverse.data(), n), det.sign, -det.log);
  }
}

TEST(invert, leaves_what_lies_between_the_columns_alone) {
  std::mt19937_64 random{14};
  const int n = 20, stride = 26;
  auto a = numbers(n * stride, random);
  const auto before = a;
  invert(n, a.data(), stride);
  for (int j = 0; j < n; ++j)
    for (int i = n; i < stride; ++i) EXPECT_EQ(a[i + j * stride], before[i + j * stride]);
}

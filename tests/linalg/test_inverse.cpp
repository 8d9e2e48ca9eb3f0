#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "plaq/linalg/inverse.hpp"

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
  for (int n : {0, 1, 2, 3, 8, 15, 16, 17, 40, 130, 300} /* step by step; by halves, even and uneven */) {
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

TEST(invert, has_determinants_beyond_every_number) {
  for (const double scale : {1e200, 1e-200, -1e150}) {
    const int n = 31;
    std::vector<double> a(n * n);
    for (int i = 0; i < n; ++i) a[std::size_t(i + i * n)] = scale * (1 + i);
    const log_det det = invert(n, a.data(), n);
    EXPECT_EQ(det.sign, scale > 0 ? 1 : -1);
    EXPECT_NEAR(det.log, n * std::log(std::abs(scale)) + std::lgamma(n + 1.), 1e-9);
    for (int i = 0; i < n; ++i) EXPECT_DOUBLE_EQ(a[std::size_t(i + i * n)], 1 / (scale * (1 + i)));
  }
}

TEST(invert, takes_triangles_and_orthogonal_matrices) {
  const int n = 45;
  std::mt19937_64 random{15};
  auto lower = numbers(n * n, random);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i) lower[std::size_t(i + j * n)] = i == j;
  for (double& x : lower) x = std::abs(x) == 1 ? x : 0.1 * x;
  EXPECT_NEAR(invert(n, lower.data(), n).log, 0, 1e-12);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < j; ++i) EXPECT_NEAR(lower[std::size_t(i + j * n)], 0, 1e-12);
  // 1 - 2 v v^T with |v| = 1 is its own inverse
  std::vector<double> v = numbers(n, random), mirror(n * n);
  double norm = 0;
  for (const double x : v) norm += x * x;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      mirror[std::size_t(i + j * n)] = (i == j) - 2 * v[std::size_t(i)] * v[std::size_t(j)] / norm;
  auto inverse = mirror;
  const log_det det = invert(n, inverse.data(), n);
  EXPECT_EQ(det.sign, -1);
  EXPECT_NEAR(det.log, 0, 1e-12);
  for (std::size_t i = 0; i < mirror.size(); ++i) EXPECT_NEAR(inverse[i], mirror[i], 1e-13);
}

// Columns that differ by a hundred orders of magnitude: pivots are chosen within each, so no accuracy is lost.
TEST(invert, does_not_mind_the_scale_of_a_column) {
  const int n = 24;
  std::mt19937_64 random{16};
  const auto a = numbers(n * n, random);
  auto plain = a, scaled = a;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      scaled[std::size_t(i + j * n)] = std::ldexp(a[std::size_t(i + j * n)], 20 * (j - n / 2));
  invert(n, plain.data(), n);
  invert(n, scaled.data(), n);
  for (int j = 0; j < n; ++j)  // row j of the inverse is divided by what column j was multiplied with
    for (int i = 0; i < n; ++i)
      EXPECT_NEAR(std::ldexp(scaled[std::size_t(j + i * n)], 20 * (j - n / 2)), plain[std::size_t(j + i * n)], 1e-9)
          << i << " " << j;
}

#include "plaq/linalg/inverse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "plaq/base/error.hpp"

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

TEST(invert, refuses_a_singular_matrix) {
  std::vector<double> a = {1, 2, 2, 4};
  EXPECT_THROW(invert(2, a.data(), 2), plaq::runtime_failure);
}

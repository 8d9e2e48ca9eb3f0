#include "plaq/linalg/blas.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "plaq/base/error.hpp"

using namespace plaq::linalg;

namespace {

template <class Real>
std::vector<Real> numbers(int n, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Real> out(n);
  for (Real& x : out) x = Real(uniform(random));
  return out;
}

template <class Real>
struct blas : testing::Test {
  static constexpr double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-4;
  std::mt19937_64 random{11};
};
using reals = testing::Types<double, float>;
TYPED_TEST_SUITE(blas, reals);

}  // namespace

TYPED_TEST(blas, gemm_multiplies_with_all_four_transpositions) {
  using Real = TypeParam;
  const int m = 5, n = 4, k = 6, stride = 9;
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      const auto a = numbers<Real>(stride * 9, this->random), b = numbers<Real>(stride * 9, this->random),
                 before = numbers<Real>(stride * n, this->random);
      auto c = before;
      gemm<Real>(ta, tb, m, n, k, 2, a.data(), stride, b.data(), stride, -1, c.data(), stride);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = 0;
          for (int l = 0; l < k; ++l)
            sum += double(ta ? a[l + i * stride] : a[i + l * stride]) *
                   double(tb ? b[j + l * stride] : b[l + j * stride]);
          EXPECT_NEAR(c[i + j * stride], 2 * sum - before[i + j * stride], this->tolerance);
        }
    }
}

// The walker relies on it when there are no vertices yet: C = beta C, even where C holds no numbers.
TYPED_TEST(blas, gemm_with_inner_dimension_zero_clears_the_result) {
  using Real = TypeParam;
  const Real x = 1;
  std::vector<Real> c(4, std::nan(""));
  gemm<Real>(true, false, 2, 2, 0, 1, &x, 1, &x, 1, 0, c.data(), 2);
  EXPECT_EQ(c, std::vector<Real>(4, 0));
}

TEST(invert, gives_inverse_and_determinant) {
  std::mt19937_64 random{11};
  for (int n : {0, 1, 2, 3, 8}) {
    const int stride = n + 3;
    const auto a = numbers<double>(stride * n + 1, random);
    auto x = a;
    const log_det det = invert(n, x.data(), stride);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int l = 0; l < n; ++l) sum += a[i + l * stride] * x[l + j * stride];
        EXPECT_NEAR(sum, i == j, 1e-10);
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

TEST(invert, refuses_a_singular_matrix) {
  std::vector<double> a = {1, 2, 2, 4};
  EXPECT_THROW(invert(2, a.data(), 2), plaq::runtime_failure);
}

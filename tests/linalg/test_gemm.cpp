#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "plaq/linalg/gemm.hpp"

using plaq::linalg::gemm;

namespace {

template <class Real>
struct products : testing::Test {
  static constexpr double tolerance = sizeof(Real) == 8 ? 1e-12 : 1e-4;
  std::mt19937_64 random{11};

  std::vector<Real> numbers(int n) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Real> out(n);
    for (Real& x : out) x = Real(uniform(random));
    return out;
  }

  // C = alpha op(A) op(B) + beta C by definition; rows from m to the end of a column have to stay.
  void expect_product(bool ta, bool tb, int m, int n, int k, double alpha, double beta) {
    const int lda = (ta ? k : m) + 1, ldb = (tb ? n : k) + 2, ldc = m + 3;
    // Nothing beyond the last element: a sanitizer sees a step over it.
    const auto a = numbers(m * k == 0 ? 1 : lda * ((ta ? m : k) - 1) + (ta ? k : m));
    const auto b = numbers(n * k == 0 ? 1 : ldb * ((tb ? k : n) - 1) + (tb ? n : k));
    const auto before = numbers(ldc * (n - 1) + m);
    auto c = before;
    gemm<Real>(ta, tb, m, n, k, Real(alpha), a.data(), lda, b.data(), ldb, Real(beta), c.data(), ldc);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < (j == n - 1 ? m : ldc); ++i) {
        const int at = i + j * ldc;
        if (i >= m) {
          ASSERT_EQ(c[at], before[at]) << "row " << i << " of " << m << " x " << n << " x " << k;
          continue;
        }
        double sum = 0;
        for (int l = 0; l < k; ++l)
          sum += double(ta ? a[l + i * lda] : a[i + l * lda]) * double(tb ? b[j + l * ldb] : b[l + j * ldb]);
        ASSERT_NEAR(c[at], alpha * sum + beta * double(before[at]), tolerance * std::sqrt(k + 1))
            << "element " << i << ", " << j << " of " << m << " x " << n << " x " << k;
      }
  }
};
using reals = testing::Types<double, float>;
TYPED_TEST_SUITE(products, reals);

}  // namespace

TYPED_TEST(products, are_right_with_all_four_transpositions) {
  for (bool ta : {false, true})
    for (bool tb : {false, true}) this->expect_product(ta, tb, 5, 4, 6, 2, -1);
}

// Tiles, their rests and more than one piece of the inner dimension, for any width of a register.
TYPED_TEST(products, are_right_for_every_rest_of_a_tile) {
  for (int m : {1, 7, 8, 16, 23, 24, 25, 47, 48, 49, 97})
    for (int n : {1, 3, 4, 5, 7, 8, 9, 17})
      for (int k : {1, 2, 33}) this->expect_product(m % 2 == 0, false, m, n, k, -1, 1);
  for (int k : {255, 256, 257, 513})
    for (bool ta : {false, true}) this->expect_product(ta, false, 50, 9, k, 1, 0.5);
}

TYPED_TEST(products, without_rows_or_columns_do_nothing) {
  const TypeParam x = 1;
  TypeParam c = 3;
  gemm<TypeParam>(false, false, 0, 1, 1, 1, &x, 1, &x, 1, 0, &c, 1);
  gemm<TypeParam>(false, false, 1, 0, 1, 1, &x, 1, &x, 1, 0, &c, 1);
  EXPECT_EQ(c, 3);
}

// The walker relies on it when there are no vertices yet: C = beta C, even where C holds no numbers.
TYPED_TEST(products, with_inner_dimension_zero_clear_the_result) {
  using Real = TypeParam;
  const Real x = 1;
  std::vector<Real> c(4, Real(std::nan("")));
  gemm<Real>(true, false, 2, 2, 0, 1, &x, 1, &x, 1, 0, c.data(), 2);
  EXPECT_EQ(c, std::vector<Real>(4, 0));
}

// Shapes, strides and factors drawn at random.
TYPED_TEST(products, are_right_whatever_is_asked) {
  const double factors[] = {0, 1, -1, 0.5, -2.25};
  for (int draw = 0; draw < 150; ++draw) {
    const auto below = [&](int most) { return 1 + int(this->random() % unsigned(most)); };
    const int m = below(70), n = below(30), k = below(draw % 10 ? 40 : 600);
    const bool ta = this->random() % 2, tb = this->random() % 2;
    this->expect_product(ta, tb, m, n, k, factors[this->random() % 5], factors[this->random() % 5]);
  }
}

// Where a factor lies, and which way round, is nothing to the result: not a bit of it.
TYPED_TEST(products, have_the_same_bits_however_their_factors_lie) {
  using Real = TypeParam;
  for (const auto& [m, n, k] : {std::array{48, 12, 30}, {49, 7, 300}, {5, 5, 5}, {1, 1, 513}}) {
    const auto a = this->numbers(m * k), b = this->numbers(k * n);
    const auto transposed = [](const std::vector<Real>& x, int rows, int columns) {
      std::vector<Real> out(x.size());
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) out[std::size_t(j + i * columns)] = x[std::size_t(i + j * rows)];
      return out;
    };
    const auto at = transposed(a, m, k), bt = transposed(b, k, n);
    const auto product = [&](bool ta, bool tb, int shift) {
      const std::size_t before(shift);
      std::vector<Real> x(before), y(before), c(before + std::size_t(m * n), Real(3));
      x.insert(x.end(), (ta ? at : a).begin(), (ta ? at : a).end());
      y.insert(y.end(), (tb ? bt : b).begin(), (tb ? bt : b).end());
      gemm<Real>(ta, tb, m, n, k, Real(0.7), x.data() + shift, ta ? k : m, y.data() + shift, tb ? n : k, Real(0.3),
                 c.data() + shift, m);
      return std::vector<Real>(c.begin() + shift, c.end());
    };
    const auto expected = product(false, false, 0);
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const int shift : {0, 1, 3}) EXPECT_EQ(product(ta, tb, shift), expected) << m << " " << ta << tb << shift;
  }
}

TYPED_TEST(products, pass_on_what_is_not_a_number_and_nothing_beside_it) {
  using Real = TypeParam;
  const int m = 20, n = 6, k = 9;
  auto a = this->numbers(m * k);
  const auto b = this->numbers(k * n);
  a[3 + 4 * m] = Real(std::nan(""));  // row 3
  std::vector<Real> c(m * n, Real(1));
  gemm<Real>(false, false, m, n, k, 1, a.data(), m, b.data(), k, 1, c.data(), m);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) EXPECT_EQ(std::isnan(c[std::size_t(i + j * m)]), i == 3) << i << " " << j;
}

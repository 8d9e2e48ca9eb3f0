// Every operation against scalars, lane by lane, at widths below and above that of the registers.
#include "plaq/linalg/simd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <utility>

namespace plaq::linalg {
namespace {

template <class T, int N>
struct type {
  using number = T;
  static constexpr int lanes = N;
  using simd = linalg::simd<T, N>;
  using numbers = std::array<T, N>;
};

/// Of very different sizes and both signs.
template <class A>
A random(int seed) {
  std::mt19937_64 bits(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  A out;
  for (auto& x : out) x = typename A::value_type(std::exp(10 * uniform(bits)) * (uniform(bits) < 0 ? -1 : 1));
  return out;
}

template <class T>
struct Simd : testing::Test {};
using types = testing::Types<type<float, 1>, type<float, 2>, type<float, 4>, type<float, 8>, type<float, 16>,
                             type<float, 32>, type<double, 1>, type<double, 2>, type<double, 4>, type<double, 8>,
                             type<double, 16>>;
TYPED_TEST_SUITE(Simd, types);

TYPED_TEST(Simd, ArithmeticIsThatOfScalars) {
  using simd = typename TypeParam::simd;
  using T = typename TypeParam::number;
  const auto a = random<typename TypeParam::numbers>(1), b = random<typename TypeParam::numbers>(2);
  const auto x = simd::load(a.data()), y = simd::load(b.data());
  simd more = x, less = x, times = x, twice = x;
  more += y, less -= y, times *= y, twice *= T(2);
  for (int l = 0; l < TypeParam::lanes; ++l) {
    EXPECT_EQ((x + y)[l], a[l] + b[l]);
    EXPECT_EQ((x - y)[l], a[l] - b[l]);
    EXPECT_EQ((x * y)[l], a[l] * b[l]);
    EXPECT_EQ((x / y)[l], a[l] / b[l]);
    EXPECT_EQ((-x)[l], -a[l]);
    EXPECT_EQ((x * T(3))[l], a[l] * 3);
    EXPECT_EQ((T(3) * x)[l], a[l] * 3);
    EXPECT_EQ(more[l], a[l] + b[l]);
    EXPECT_EQ(less[l], a[l] - b[l]);
    EXPECT_EQ(times[l], a[l] * b[l]);
    EXPECT_EQ(twice[l], a[l] * 2);
    EXPECT_EQ(simd::all(T(-0.))[l], 0);
    EXPECT_TRUE(std::signbit(simd::all(T(-0.))[l]));
  }
}

TYPED_TEST(Simd, FmaRoundsOnceOrTwice) {
  using simd = typename TypeParam::simd;
  const auto a = random<typename TypeParam::numbers>(3), b = random<typename TypeParam::numbers>(4);
  auto c = random<typename TypeParam::numbers>(5);
  for (int l = 0; l < TypeParam::lanes; ++l) c[l] = -a[l] * b[l] * (l % 2 ? 1 : typename TypeParam::number(0.9));
  const auto found = fma(simd::load(a.data()), simd::load(b.data()), simd::load(c.data()));
  for (int l = 0; l < TypeParam::lanes; ++l) {
    const volatile typename TypeParam::number product = a[l] * b[l];
    const auto twice = product + c[l], once = std::fma(a[l], b[l], c[l]);
    EXPECT_TRUE(found[l] == once || found[l] == twice) << found[l] << " is neither " << once << " nor " << twice;
  }
}

TYPED_TEST(Simd, LoadsAndStoresItsNumbersAlone) {
  using simd = typename TypeParam::simd;
  using T = typename TypeParam::number;
  constexpr int n = TypeParam::lanes;
  const auto from = random<std::array<T, n + 1>>(6);
  std::array<T, n + 2> to;
  to.fill(T(7));
  simd::load(from.data() + 1).store(to.data() + 1);  // at no round address
  EXPECT_EQ(to.front(), T(7));
  EXPECT_EQ(to.back(), T(7));
  EXPECT_TRUE(std::equal(from.begin() + 1, from.end(), to.begin() + 1));
}

TYPED_TEST(Simd, SumsLanesInTheirOrder) {
  using simd = typename TypeParam::simd;
  using T = typename TypeParam::number;
  constexpr int n = TypeParam::lanes;
  // Of 1, big, -big, ..., what is added before the big ones is lost.
  typename TypeParam::numbers a;
  const T big = 4 / std::numeric_limits<T>::epsilon();
  for (int l = 0; l < n; ++l) a[l] = l % 4 == 1 ? big : l % 4 == 2 ? -big : T(1);
  T total = a[0];
  for (int l = 1; l < n; ++l) total += a[l];
  EXPECT_EQ(simd::load(a.data()).sum(), total);
  if (n >= 4) {
    EXPECT_EQ(total, 1) << "the last one";
  }
}

template <class T, int N, int... Lane>
void expect_shuffles(std::integer_sequence<int, Lane...>) {
  const auto a = random<std::array<T, N>>(7), b = random<std::array<T, N>>(8);
  const auto x = simd<T, N>::load(a.data()), y = simd<T, N>::load(b.data());
  const auto backwards = permuted<(N - 1 - Lane)...>(x);
  const auto rotated = permuted<((Lane + 1) % N)...>(x);
  const auto woven = shuffled<(Lane % 2 ? N + Lane / 2 : Lane / 2)...>(x, y);  // a0 b0 a1 b1 ...
  for (int l = 0; l < N; ++l) {
    EXPECT_EQ(backwards[l], a[N - 1 - l]);
    EXPECT_EQ(rotated[l], a[(l + 1) % N]);
    EXPECT_EQ(woven[l], (l % 2 ? b : a)[l / 2]);
  }
}

TYPED_TEST(Simd, LanesChangePlaces) {
  expect_shuffles<typename TypeParam::number, TypeParam::lanes>(
      std::make_integer_sequence<int, TypeParam::lanes>{});
}

TYPED_TEST(Simd, ComplexNumbersMultiply) {
  using T = typename TypeParam::number;
  constexpr int n = TypeParam::lanes;
  const auto ar = random<std::array<T, n>>(9), ai = random<std::array<T, n>>(10);
  const auto br = random<std::array<T, n>>(11), bi = random<std::array<T, n>>(12);
  using simd = typename TypeParam::simd;
  const complex_simd<T, n> a{simd::load(ar.data()), simd::load(ai.data())};
  const complex_simd<T, n> b{simd::load(br.data()), simd::load(bi.data())};
  for (int l = 0; l < n; ++l) {
    using exact = std::complex<long double>;
    const exact x(ar[l], ai[l]), y(br[l], bi[l]);
    const auto expect = [&](const complex_simd<T, n>& found, exact value, long double size) {
      const long double allowed = 2 * size * std::numeric_limits<T>::epsilon();
      EXPECT_NEAR(found.re[l], value.real(), allowed);
      EXPECT_NEAR(found.im[l], value.imag(), allowed);
    };
    expect(a * b, x * y, std::abs(x) * std::abs(y));
    expect(conj_times(a, b), std::conj(x) * y, std::abs(x) * std::abs(y));
    expect(a + b, x + y, std::abs(x) + std::abs(y));
    expect(a - b, x - y, std::abs(x) + std::abs(y));
    expect(times_i(a), exact(-ai[l], ar[l]), 0);
  }
}

// What would read lanes that are not there does not compile.
template <int... From>
constexpr bool permutes = requires(simd<float, 4> x) { permuted<From...>(x); };
template <int... From>
constexpr bool shuffles = requires(simd<float, 4> x) { shuffled<From...>(x, x); };
static_assert(permutes<3, 2, 1, 0> && !permutes<0, 1, 2> && !permutes<0, 1, 2, 4> && !permutes<0, 1, 2, -1>);
static_assert(shuffles<0, 4, 1, 7> && !shuffles<0, 4, 1, 8> && !shuffles<0, 4>);
template <class T, int N>
constexpr bool exists = requires { typename simd<T, N>; };
static_assert(exists<double, 8> && !exists<double, 3> && !exists<double, 0> && !exists<int, 4>);

}  // namespace
}  // namespace plaq::linalg

// Numbers in lanes against the same numbers one by one, for one lane, half a register and a whole one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "plaq/linalg/simd.hpp"

namespace plaq::linalg {
namespace {

template <class V>
struct in_lanes : testing::Test {
  using number = number_of<V>;
  static constexpr int n = lanes<V>;
  std::mt19937_64 random{21};

  std::vector<number> numbers(int count) {
    std::uniform_real_distribution<double> uniform(-2, 2);
    std::vector<number> out(static_cast<std::size_t>(count));
    for (number& x : out) x = number(uniform(random));
    return out;
  }
  static number at(const V& v, int lane) {
    number all[n];
    store(all, v);
    return all[lane];
  }
};
template <class T>
constexpr int half = native_lanes<T> / 2;
using every_width = testing::Types<float, simd<float, half<float>>, simd<float, native_lanes<float>>, double,
                                   simd<double, half<double>>, simd<double, native_lanes<double>>>;
TYPED_TEST_SUITE(in_lanes, every_width);

TYPED_TEST(in_lanes, are_as_many_as_fit) {
  using number = typename TestFixture::number;
  static_assert(sizeof(TypeParam) == sizeof(number) * TestFixture::n);
  static_assert(std::is_same_v<simd<number, TestFixture::n>, TypeParam>);
  static_assert(native_lanes<number> * sizeof(number) == register_bytes);
}

TYPED_TEST(in_lanes, are_read_and_written_anywhere_and_nothing_beside_them) {
  constexpr int n = TestFixture::n;
  const auto from = this->numbers(3 * n + 5);
  for (int shift = 0; shift <= 2 * n + 5; ++shift) {  // aligned or not
    const TypeParam v = load<TypeParam>(&from[static_cast<std::size_t>(shift)]);
    auto to = this->numbers(3 * n + 5);
    auto expected = to;
    for (int l = 0; l < n; ++l) {
      EXPECT_EQ(this->at(v, l), from[static_cast<std::size_t>(shift + l)]);
      expected[static_cast<std::size_t>(shift + l)] = from[static_cast<std::size_t>(shift + l)];
    }
    store(&to[static_cast<std::size_t>(shift)], v);
    EXPECT_EQ(to, expected);
  }
}

TYPED_TEST(in_lanes, hold_one_number_bit_by_bit) {
  using number = typename TestFixture::number;
  using limits = std::numeric_limits<number>;
  for (const number x :
       {number(0), -number(0), number(-1.5), limits::infinity(), limits::denorm_min(), limits::max()}) {
    const TypeParam v = same<TypeParam>(x);
    for (int l = 0; l < TestFixture::n; ++l) {
      EXPECT_EQ(this->at(v, l), x);
      EXPECT_EQ(std::signbit(this->at(v, l)), std::signbit(x));
    }
  }
  EXPECT_TRUE(std::isnan(this->at(same<TypeParam>(limits::quiet_NaN()), TestFixture::n - 1)));
}

TYPED_TEST(in_lanes, change_places) {
  constexpr int n = TestFixture::n;
  const auto x = this->numbers(n);
  const TypeParam v = load<TypeParam>(x.data());
  using numbers = lane_numbers<TypeParam>;
  const auto expect = [&](auto from) {
    number_of<numbers> list[n];
    for (int l = 0; l < n; ++l) list[l] = number_of<numbers>(from(l));
    const TypeParam moved = permute(v, load<numbers>(list));
    for (int l = 0; l < n; ++l) EXPECT_EQ(this->at(moved, l), x[static_cast<std::size_t>(from(l))]);
  };
  for (int by = 0; by < n; ++by) {
    expect([&](int l) { return (l + by) % n; });
    expect([&](int l) { return l ^ by; });
    expect([&](int) { return by; });
  }
  for (int round = 0; round < 20; ++round) {
    std::vector<int> any(n);
    for (int& l : any) l = int(this->random() % n);
    expect([&](int l) { return any[static_cast<std::size_t>(l)]; });
  }
}

// Each by itself, as kernels have them: see the rule in simd.hpp.
template <class V>
[[gnu::noinline]] V rounded_product_and(V a, V c) {
  return mul(a, a) + c;
}
template <class V>
[[gnu::noinline]] V square_and(V a, V c) {
  return fma(a, a, c);
}
template <class V>
[[gnu::noinline]] V less_square(V a, V c) {
  return fnma(a, a, c);
}

// a a is not representable: of its rounding error nothing is left where the product was rounded, all of it where the
// sum alone was.
TYPED_TEST(in_lanes, multiply_with_one_rounding_or_with_two_as_asked) {
  using number = typename TestFixture::number;
  volatile number opaque = 1 + 3 * std::numeric_limits<number>::epsilon();
  const number a = opaque;
  const number rounded = number(a * a);
  const number error = std::fma(a, a, -rounded);
  ASSERT_NE(error, 0);
  const TypeParam v = same<TypeParam>(a), minus = same<TypeParam>(-rounded);
#if defined(__FMA__) || defined(__aarch64__) || defined(__VSX__)
  const number once = error;  // what kernels are compiled with makes one operation of two
#else
  const number once = 0;
#endif
  for (int l = 0; l < TestFixture::n; ++l) {
    EXPECT_EQ(this->at(rounded_product_and(v, minus), l), 0) << "the compiler has made one operation of two";
    EXPECT_EQ(this->at(square_and(v, minus), l), once);
    EXPECT_EQ(this->at(less_square<TypeParam>(v, -minus), l), -once);
  }
}

/// What kernels do, so many numbers at a time.
template <class V>
std::vector<number_of<V>> worked_on(std::vector<number_of<V>> x) {
  using number = number_of<V>;
  const V a = same<V>(number(0.7)), b = same<V>(number(-1.3));
  for (std::size_t i = 0; i < x.size(); i += lanes<V>) {
    V v = load<V>(&x[i]), w = b;
    for (int step = 0; step < 50; ++step) {
      w = fnma(v, w, mul(a, v));
      v = fma(a, w, mul(v, b)) - mul(w, mul(v, v));
      v = v / (same<V>(1) + mul(v, v));
    }
    store(&x[i], v + w);
  }
  return x;
}

TYPED_TEST(in_lanes, give_the_bits_of_one_number_at_a_time) {
  using number = typename TestFixture::number;
  const auto x = this->numbers(64);
  const auto one = worked_on<number>(x), many = worked_on<TypeParam>(x);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(one[i], many[i]) << i;
  EXPECT_NE(one, x);
}

}  // namespace
}  // namespace plaq::linalg

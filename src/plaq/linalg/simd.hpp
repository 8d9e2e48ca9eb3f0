// Vectors of numbers, one in each lane of a register.
//
// Results are the same for every number of lanes, one included, if kernels multiply by mul, fma and fnma only. A
// product inside fma or fnma becomes part of one rounding if the processor can do that, the result of mul never does.
// So the compiler has no choice left, provided that it does not vectorise scalars by itself (-fno-tree-vectorize), and
// that no product is used by a mul and by an fma at once: it would be computed once for both, and rounded. Between
// instruction sets with and without such operations the last bits differ.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace plaq::linalg {

namespace detail {
template <class T, int N>
struct lanes_of {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T>
struct lanes_of<T, 1> {
  using type = T;
};
template <class V>
struct number_in {
  using type = std::remove_cvref_t<decltype(std::declval<V>()[0])>;
};
template <class V>
  requires std::is_arithmetic_v<V>
struct number_in<V> {
  using type = V;
};
}  // namespace detail

/// N numbers, a power of two and native_lanes at most; one is a plain T. The type is the compiler's own vector, with +
/// - * / and comparisons.
template <class T, int N>
using simd = typename detail::lanes_of<T, N>::type;

/// Type and number of the lanes.
template <class V>
using number_of = typename detail::number_in<V>::type;
template <class V>
inline constexpr int lanes = int(sizeof(V) / sizeof(number_of<V>));

/// Number of lanes in a register of the instruction set that is compiled for.
#ifdef __AVX512F__
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif
template <class T>
inline constexpr int native_lanes = register_bytes / int(sizeof(T));

#define PLAQ_KERNEL [[gnu::always_inline]] inline
#define PLAQ_INLINE __attribute__((always_inline))  // of a lambda, behind its arguments

template <class V>
PLAQ_KERNEL V load(const number_of<V>* from) {
  V v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class V>
PLAQ_KERNEL void store(number_of<V>* to, V v) {
  std::memcpy(to, &v, sizeof v);
}
/// Vector with the same number in all lanes.
template <class V>
PLAQ_KERNEL V same(number_of<V> x) {
  return x - V{};
}

/// Returns a b, rounded.
template <class V>
PLAQ_KERNEL V mul(V a, V b) {
  V product = a * b;
  // The compiler must not see that a product it is. (GCC 12's __builtin_assoc_barrier takes wide vectors apart.)
#if defined(__x86_64__)
  asm("" : "+v"(product));
#elif defined(__aarch64__)
  asm("" : "+w"(product));
#else
  product = __builtin_assoc_barrier(product);
#endif
  return product;
}
/// Returns a b + c and c - a b, rounded once if the processor can.
template <class V>
PLAQ_KERNEL V fma(V a, V b, V c) {
  return a * b + c;
}
template <class V>
PLAQ_KERNEL V fnma(V a, V b, V c) {
  return c - a * b;
}

/// Number of another lane, for each lane.
template <class V>
using lane_numbers = simd<std::conditional_t<sizeof(number_of<V>) == 8, std::int64_t, std::int32_t>, lanes<V>>;

/// Returns a vector whose lane l is lane from[l] of v.
template <class V>
PLAQ_KERNEL V permute(V v, lane_numbers<V> from) {
  if constexpr (lanes<V> == 1)
    return v;
  else
    return __builtin_shuffle(v, from);
}

}  // namespace plaq::linalg

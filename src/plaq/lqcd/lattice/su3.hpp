// Complex arithmetic in registers, one site in each lane.
#pragma once
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "plaq/linalg/simd.hpp"

namespace plaq::lqcd {

template <class V>
struct cx {
  V re, im;
};

template <class V>
PLAQ_KERNEL cx<V> load_cx(const linalg::number_of<V>* at) {
  return {linalg::load<V>(at), linalg::load<V>(at + linalg::lanes<V>)};
}
template <class V>
PLAQ_KERNEL void store_cx(linalg::number_of<V>* at, cx<V> z) {
  linalg::store(at, z.re);
  linalg::store(at + linalg::lanes<V>, z.im);
}

/// Stores past the caches if the instruction set can do that; fields have the alignment it needs.
template <class V>
PLAQ_KERNEL void stream(linalg::number_of<V>* at, V v) {
#if defined(__x86_64__)
  if constexpr (sizeof v == 16) return _mm_stream_si128(reinterpret_cast<__m128i*>(at), reinterpret_cast<__m128i>(v));
#if defined(__AVX__)
  if constexpr (sizeof v == 32)
    return _mm256_stream_si256(reinterpret_cast<__m256i*>(at), reinterpret_cast<__m256i>(v));
#endif
#if defined(__AVX512F__)
  if constexpr (sizeof v == 64)
    return _mm512_stream_si512(reinterpret_cast<__m512i*>(at), reinterpret_cast<__m512i>(v));
#endif
#endif
  linalg::store(at, v);
}
template <class V>
PLAQ_KERNEL void stream_cx(linalg::number_of<V>* at, cx<V> z) {
  stream(at, z.re);
  stream(at + linalg::lanes<V>, z.im);
}
/// Makes streamed stores visible to all threads.
inline void stream_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

/// a + i^K b
template <int K, class V>
PLAQ_KERNEL cx<V> add(cx<V> a, cx<V> b) {
  if constexpr (K % 4 == 0) return {a.re + b.re, a.im + b.im};
  if constexpr (K % 4 == 1) return {a.re - b.im, a.im + b.re};
  if constexpr (K % 4 == 2) return {a.re - b.re, a.im - b.im};
  if constexpr (K % 4 == 3) return {a.re + b.im, a.im - b.re};
}

/// a b and a b + c, or with conj(a).
template <bool Conjugate = false, class V>
PLAQ_KERNEL cx<V> mul(cx<V> a, cx<V> b) {
  using linalg::fma, linalg::fnma, linalg::mul;
  if constexpr (Conjugate)
    return {fma(a.im, b.im, mul(a.re, b.re)), fnma(a.im, b.re, mul(a.re, b.im))};
  else
    return {fnma(a.im, b.im, mul(a.re, b.re)), fma(a.im, b.re, mul(a.re, b.im))};
}
template <bool Conjugate = false, class V>
PLAQ_KERNEL cx<V> fma(cx<V> a, cx<V> b, cx<V> c) {
  using linalg::fma, linalg::fnma;
  if constexpr (Conjugate)
    return {fma(a.im, b.im, fma(a.re, b.re, c.re)), fnma(a.im, b.re, fma(a.re, b.im, c.im))};
  else
    return {fnma(a.im, b.im, fma(a.re, b.re, c.re)), fma(a.im, b.re, fma(a.re, b.im, c.im))};
}

template <class V>
PLAQ_KERNEL cx<V> permute(cx<V> z, linalg::lane_numbers<V> from) {
  return {linalg::permute(z.re, from), linalg::permute(z.im, from)};
}

}  // namespace plaq::lqcd

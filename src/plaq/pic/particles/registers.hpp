// Operations on some of the lanes of a register: the first few, those of a mask, the sum of all. A register may be
// wider than those of the instruction set, or narrower.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "plaq/linalg/simd.hpp"

namespace plaq::pic {

using linalg::lanes;
using linalg::number_of;

/// Mask of lanes: a bit for each, the first one lowest.
using lane_mask = std::uint32_t;

/// Returns the mask of the first n lanes.
PLAQ_KERNEL lane_mask low_lanes(int n) { return (lane_mask(1) << n) - 1; }

#ifdef __AVX512F__
/// Flag: the processor has masks for such a register.
template <class V>
inline constexpr bool has_masks = sizeof(V) == 64;
#else
template <class V>
inline constexpr bool has_masks = false;
#endif

/// Returns the mask of the result of a comparison.
template <class M>
PLAQ_KERNEL lane_mask mask_of(M compared) {
#ifdef __AVX512DQ__
  if constexpr (sizeof(M) == 64 && sizeof(number_of<M>) == 4) return _mm512_movepi32_mask(__m512i(compared));
  if constexpr (sizeof(M) == 64 && sizeof(number_of<M>) == 8) return _mm512_movepi64_mask(__m512i(compared));
  if constexpr (sizeof(M) == 32 && sizeof(number_of<M>) == 4) return _mm256_movepi32_mask(__m256i(compared));
#endif
  lane_mask out = 0;
  for (int l = 0; l < lanes<M>; ++l) out |= lane_mask(compared[l] != 0) << l;
  return out;
}

/// Loads the lanes of the mask, from memory that need not reach further than these; 0 in the others.
template <class V>
PLAQ_KERNEL V load_masked(const number_of<V>* from, lane_mask mask) {
#ifdef __AVX512F__
  if constexpr (has_masks<V>) {
    if constexpr (sizeof(number_of<V>) == 8)
      return V(_mm512_maskz_loadu_pd(__mmask8(mask), from));
    else
      return V(_mm512_maskz_loadu_ps(__mmask16(mask), from));
  }
#endif
  if (mask == low_lanes(lanes<V>)) return linalg::load<V>(from);
  alignas(64) number_of<V> x[lanes<V>] = {};
  for (; mask; mask &= mask - 1) x[std::countr_zero(mask)] = from[std::countr_zero(mask)];
  return linalg::load<V>(x);
}
/// Stores the lanes of the mask in their places; memory of the others is left alone.
template <class V>
PLAQ_KERNEL void store_masked(number_of<V>* to, V v, lane_mask mask) {
#ifdef __AVX512F__
  if constexpr (has_masks<V>) {
    if constexpr (sizeof(number_of<V>) == 8)
      return _mm512_mask_storeu_pd(to, __mmask8(mask), __m512d(v));
    else
      return _mm512_mask_storeu_ps(to, __mmask16(mask), __m512(v));
  }
#endif
  if (mask == low_lanes(lanes<V>)) return linalg::store(to, v);
  alignas(64) number_of<V> x[lanes<V>];
  linalg::store(x, v);
  for (; mask; mask &= mask - 1) to[std::countr_zero(mask)] = x[std::countr_zero(mask)];
}
/// Stores the lanes of the mask one after the other, to memory that need not reach further than these.
template <class V>
PLAQ_KERNEL void store_packed(number_of<V>* to, V v, lane_mask mask) {
#ifdef __AVX512F__
  if constexpr (has_masks<V>) {  // in two steps: packing straight into memory is slow on some processors
    const lane_mask count = low_lanes(std::popcount(mask));
    if constexpr (sizeof(number_of<V>) == 8)
      return _mm512_mask_storeu_pd(to, __mmask8(count), _mm512_maskz_compress_pd(__mmask8(mask), __m512d(v)));
    else
      return _mm512_mask_storeu_ps(to, __mmask16(count), _mm512_maskz_compress_ps(__mmask16(mask), __m512(v)));
  }
#endif
  alignas(64) number_of<V> x[lanes<V>];
  linalg::store(x, v);
  for (; mask; mask &= mask - 1) *to++ = x[std::countr_zero(mask)];
}

/// Returns v with 0 in the lanes outside the mask.
template <class V>
PLAQ_KERNEL V keep_lanes(V v, lane_mask mask) {
#ifdef __AVX512F__
  if constexpr (has_masks<V>) {
    if constexpr (sizeof(number_of<V>) == 8)
      return V(_mm512_maskz_mov_pd(__mmask8(mask), __m512d(v)));
    else
      return V(_mm512_maskz_mov_ps(__mmask16(mask), __m512(v)));
  }
#endif
  for (int l = 0; l < lanes<V>; ++l)
    if (!(mask >> l & 1)) v[l] = 0;
  return v;
}

/// Returns the square root of each lane.
template <class V>
PLAQ_KERNEL V square_root(V v) {
#ifdef __AVX512F__
  if constexpr (has_masks<V>) {
    if constexpr (sizeof(number_of<V>) == 8)
      return V(_mm512_maskz_sqrt_pd(__mmask8(-1), __m512d(v)));
    else
      return V(_mm512_maskz_sqrt_ps(__mmask16(-1), __m512(v)));
  }
#endif
  for (int l = 0; l < lanes<V>; ++l) v[l] = std::sqrt(v[l]);
  return v;
}

namespace detail {
/// Returns a[l] + a[l ^ H] in lanes l where bit H is not set, b[l] + b[l ^ H] where it is.
template <int H, class V>
PLAQ_KERNEL V fold_pairs(V a, V b) {
  linalg::lane_numbers<V> kept, swapped;
  for (int l = 0; l < lanes<V>; ++l) {
    kept[l] = l & H ? lanes<V> + l : l;
    swapped[l] = l & H ? lanes<V> + (l ^ H) : l ^ H;
  }
  return __builtin_shuffle(a, b, kept) + __builtin_shuffle(a, b, swapped);
}
/// Sums pairs of lanes, then pairs of these, down to one lane of each register.
template <int Count, int H, class V>
PLAQ_KERNEL void fold(V (&v)[Count]) {
#pragma GCC unroll 16
  for (int i = 0; i < (Count < H ? Count : H); ++i) v[i] = fold_pairs<H>(v[i], i + H < Count ? v[i + H] : v[i]);
  if constexpr (H > 1) fold<Count, H / 2>(v);
}
}  // namespace detail

/// Sums the lanes of each register, in a fixed order.
template <int Count, class V>
PLAQ_KERNEL void sums_of_lanes(const V (&v)[Count], number_of<V>* out) {
  constexpr int n = lanes<V>;
#pragma GCC unroll 16
  for (int from = 0; from < Count - n + 1; from += n) {
    V some[n];
    for (int i = 0; i < n; ++i) some[i] = v[from + i];
    detail::fold<n, n / 2>(some);
    linalg::store(out + from, some[0]);
  }
  if constexpr (Count % n != 0) {
    V some[Count % n];
    for (int i = 0; i < Count % n; ++i) some[i] = v[Count / n * n + i];
    detail::fold<Count % n, n / 2>(some);
    alignas(64) number_of<V> x[n];
    linalg::store(x, some[0]);
    for (int i = 0; i < Count % n; ++i) out[Count / n * n + i] = x[i];
  }
}

/// Sum of registers in double, lane by lane.
template <class V>
struct double_sum {
  static constexpr int n = lanes<V>, width = n < 8 ? n : 8;
  using W = linalg::simd<double, width>;
  W sum{};

  PLAQ_KERNEL void add(V v) {
    if constexpr (std::is_same_v<V, W>) {
      sum += v;
    } else {
      using part = linalg::simd<number_of<V>, width>;
      part x[n / width];
      static_assert(sizeof x == sizeof v);
      std::memcpy(&x, &v, sizeof v);
      for (const part& p : x) sum += __builtin_convertvector(p, W);
    }
  }
  double all() const {
    double out = 0;
    for (int l = 0; l < width; ++l) out += sum[l];
    return out;
  }
};

}  // namespace plaq::pic

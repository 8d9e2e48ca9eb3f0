// Transposition, tile by tile in registers.
#pragma once
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "plaq/linalg/simd.hpp"

namespace plaq::linalg {

/// Tile of as many rows as a register has lanes.
template <class T>
using square_tile = std::array<simd<T, native_lanes<T>>, native_lanes<T>>;

namespace detail {

// Of the 2 x 2 matrix of blocks of edge H in rows i and i + H, the two that are off the diagonal change places.
template <int H, class T, int... Lane>
PLAQ_KERNEL void exchange_blocks(square_tile<T>& t, std::integer_sequence<int, Lane...>) {
  constexpr int edge = native_lanes<T>;
#pragma GCC unroll 16
  for (int i = 0; i < edge; ++i) {
    if (i & H) continue;
    const auto upper = t[i], lower = t[i + H];
    t[i] = __builtin_shufflevector(upper, lower, (Lane & H ? edge + Lane - H : Lane)...);
    t[i + H] = __builtin_shufflevector(upper, lower, (Lane & H ? edge + Lane : Lane + H)...);
  }
}

}  // namespace detail

template <class T, int H = native_lanes<T> / 2>
PLAQ_KERNEL void transpose(square_tile<T>& t) {
  detail::exchange_blocks<H, T>(t, std::make_integer_sequence<int, native_lanes<T>>{});
  if constexpr (H > 1) transpose<T, H / 2>(t);
}

/// Computes out[j * below + i] = factor * in[i * down + j] for i < rows and j < columns. Either stride may be negative.
template <class T>
void transpose(int rows, int columns, std::type_identity_t<T> factor, const T* in, std::ptrdiff_t down, T* out,
               std::ptrdiff_t below) {
  constexpr int edge = native_lanes<T>;
  const int whole_rows = rows - rows % edge, whole_columns = columns - columns % edge;
  for (int i = 0; i < whole_rows; i += edge)
    for (int j = 0; j < whole_columns; j += edge) {
      square_tile<T> t;
#pragma GCC unroll 16
      for (int r = 0; r < edge; ++r) t[r] = factor * load<simd<T, edge>>(in + (i + r) * down + j);
      transpose<T>(t);
#pragma GCC unroll 16
      for (int r = 0; r < edge; ++r) store(out + (j + r) * below + i, t[r]);
    }
  for (int i = 0; i < rows; ++i)
    for (int j = i < whole_rows ? whole_columns : 0; j < columns; ++j) out[j * below + i] = factor * in[i * down + j];
}

}  // namespace plaq::linalg

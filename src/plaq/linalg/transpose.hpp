// Rows become columns, tile by tile in registers.
#pragma once
#include <array>
#include <cstddef>
#include <utility>

#include "plaq/linalg/simd.hpp"

namespace plaq::linalg {

namespace detail {

constexpr int tile_edge = native_lanes<float>;
using tile_row = simd<float, tile_edge>;
using tile = std::array<tile_row, tile_edge>;

// Of the 2 x 2 matrix of blocks of edge H in rows i and i + H, the two that are off the diagonal change places.
template <int H, int... Lane>
void exchange_blocks(tile& t, std::integer_sequence<int, Lane...>) {
#pragma GCC unroll 16
  for (int i = 0; i < tile_edge; ++i) {
    if (i & H) continue;
    const tile_row upper = t[i], lower = t[i + H];
    t[i] = __builtin_shufflevector(upper, lower, (Lane & H ? tile_edge + Lane - H : Lane)...);
    t[i + H] = __builtin_shufflevector(upper, lower, (Lane & H ? tile_edge + Lane : Lane + H)...);
  }
}

template <int H = tile_edge / 2>
void transpose_tile(tile& t) {
  exchange_blocks<H>(t, std::make_integer_sequence<int, tile_edge>{});
  if constexpr (H > 1) transpose_tile<H / 2>(t);
}

}  // namespace detail

/// out[j * below + i] = factor * in[i * down + j] for i < rows and j < columns. Either step may be negative.
inline void transpose(int rows, int columns, float factor, const float* in, std::ptrdiff_t down, float* out,
                      std::ptrdiff_t below) {
  using namespace detail;
  const int whole_rows = rows - rows % tile_edge, whole_columns = columns - columns % tile_edge;
  for (int i = 0; i < whole_rows; i += tile_edge)
    for (int j = 0; j < whole_columns; j += tile_edge) {
      tile t;
#pragma GCC unroll 16
      for (int r = 0; r < tile_edge; ++r) t[r] = factor * load<tile_row>(in + (i + r) * down + j);
      transpose_tile(t);
#pragma GCC unroll 16
      for (int r = 0; r < tile_edge; ++r) store(out + (j + r) * below + i, t[r]);
    }
  for (int i = 0; i < rows; ++i)
    for (int j = i < whole_rows ? whole_columns : 0; j < columns; ++j) out[j * below + i] = factor * in[i * down + j];
}

}  // namespace plaq::linalg

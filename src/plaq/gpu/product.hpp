// Matrix products in single precision, computed by a team.
#pragma once
#include <cmath>
#include <cstddef>

#include "plaq/gpu/team.hpp"

namespace plaq::gpu {

/// Product out(i, j) = sum_l a(i, l) b(l, j): element (i, l) of a is a[i * a_row + l * a_inner], (l, j) of b is b[l *
/// b_inner + j], and (i, j) of out is out[i * out_row + j].
struct product {
  int inner;
  const float* a;
  std::ptrdiff_t a_row, a_inner;
  const float* b;
  std::ptrdiff_t b_inner;
  float* out;
  std::ptrdiff_t out_row;
};

/// Computes `count` products of rows x columns results: nth(n) is the n-th. Every result is one sum, in the order of l.
///
/// A thread keeps a tile of results in registers. Neighbouring threads have neighbouring columns, so that their
/// accesses to b and out are contiguous; all read the same elements of a.
template <class Team, class Nth>
PLAQ_BY_TEAM void multiply(Team& team, int count, int rows, int columns, Nth&& nth) {
  constexpr int high = 4, wide = 2;
  const int row_tiles = (rows + high - 1) / high, apart = (columns + wide - 1) / wide;
  team.grid(apart, count * row_tiles, [&](int first_column, int at) {
    const product p = nth(at / row_tiles);
    const int first_row = at % row_tiles * high;
    const float *a[high], *b[wide];
    // Beyond the edge the last row or column is computed again, and not stored.
    for (int r = 0; r < high; ++r) a[r] = p.a + (first_row + r < rows ? first_row + r : rows - 1) * p.a_row;
    for (int c = 0; c < wide; ++c) b[c] = p.b + (first_column + c * apart < columns ? first_column + c * apart : 0);
    float sum[high][wide] = {};
    for (int l = 0; l < p.inner; ++l)
      for (int r = 0; r < high; ++r)
        for (int c = 0; c < wide; ++c) sum[r][c] = std::fma(a[r][l * p.a_inner], b[c][l * p.b_inner], sum[r][c]);
    for (int r = 0; r < high && first_row + r < rows; ++r)
      for (int c = 0; c < wide && first_column + c * apart < columns; ++c)
        p.out[(first_row + r) * p.out_row + first_column + c * apart] = sum[r][c];
  });
}

}  // namespace plaq::gpu

// Matrix products, computed by a team.
#pragma once
#include <cmath>
#include <cstddef>

#include "plaq/gpu/team.hpp"

namespace plaq::gpu {

/// Factors of a product sum_l a(i, l) b(l, j): element (i, l) of a is a[i * a_row + l * a_inner], (l, j) of b is b[l *
/// b_inner + j * b_column].
template <class Real>
struct product {
  int inner;
  const Real* a;
  std::ptrdiff_t a_row, a_inner;
  const Real* b;
  std::ptrdiff_t b_inner, b_column = 1;
};

/// Computes `count` products of rows x columns results: nth(n) is the n-th, and store(n, i, j, sum) takes its element.
/// Every result is one sum, in the order of l.
///
/// A thread keeps a tile of high x wide results in registers. Neighbouring threads have neighbouring columns, so that
/// their accesses to b are contiguous where b_column is 1; all read the same elements of a.
template <int high = 4, int wide = 2, class Team, class Nth, class Store>
PLAQ_BY_TEAM void multiply(Team& team, int count, int rows, int columns, Nth&& nth, Store&& store) {
  const int row_tiles = (rows + high - 1) / high, apart = (columns + wide - 1) / wide;
  team.grid(apart, count * row_tiles, [&](int first_column, int at) {
    const int n = at / row_tiles, first_row = at % row_tiles * high;
    const product p = nth(n);
    using real = std::remove_cvref_t<decltype(*p.a)>;
    const real *a[high], *b[wide];
    // Beyond the edge the last row or column is computed again, and not stored.
    for (int r = 0; r < high; ++r) a[r] = p.a + (first_row + r < rows ? first_row + r : rows - 1) * p.a_row;
    for (int c = 0; c < wide; ++c) {
      const int column = first_column + c * apart;
      b[c] = p.b + (column < columns ? column : 0) * p.b_column;
    }
    real sum[high][wide] = {};
    for (int l = 0; l < p.inner; ++l)
      for (int r = 0; r < high; ++r)
        for (int c = 0; c < wide; ++c) sum[r][c] = std::fma(a[r][l * p.a_inner], b[c][l * p.b_inner], sum[r][c]);
    for (int r = 0; r < high && first_row + r < rows; ++r)
      for (int c = 0; c < wide && first_column + c * apart < columns; ++c)
        store(n, first_row + r, first_column + c * apart, sum[r][c]);
  });
}

}  // namespace plaq::gpu

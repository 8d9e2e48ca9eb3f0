// Inverse of a matrix, computed by a team.
#pragma once
#include <cmath>
#include <cstddef>

#include "plaq/gpu/arena.hpp"
#include "plaq/gpu/product.hpp"
#include "plaq/gpu/team.hpp"

namespace plaq::gpu {

/// Number mantissa * 2^exponent: a product that neither overflows nor underflows.
struct scaled {
  double mantissa = 1;
  int exponent = 0;

  PLAQ_ANYWHERE void times(double factor) {
    int by = 0;
    mantissa = std::frexp(mantissa * factor, &by);
    exponent += by;
  }
  PLAQ_ANYWHERE double value() const { return std::ldexp(mantissa, exponent); }
};

/// Scratch memory of `invert` for n rows, shared by the team.
struct inverse_space {
  static constexpr int width = 16;  ///< columns of a panel

  double* panel;           ///< n x width
  double *column, *row;    ///< n and width entries
  int *from, *origin;      ///< row that takes a place: in a panel, in all; n entries
  double *pivots, *moved;  ///< width x n: rows of the pivots, and those that gave place to them

  /// Allocates the arrays for n rows from an arena, those of most use first.
  PLAQ_ANYWHERE void allocate(arena& a, std::size_t n) {
    a.allocate(panel, n * width);
    a.allocate(column, n);
    a.allocate(row, width);
    a.allocate(from, n);
    a.allocate(origin, n);
    a.allocate(pivots, n * width);
    a.allocate(moved, n * width);
  }
};

/// Replaces a (n x n, column-major) by its inverse; returns its determinant. If that is zero or not finite, a is
/// unspecified.
///
/// Gauss-Jordan elimination with partial pivoting, a panel of columns at a time: the steps of a panel change the panel
/// P alone, which then holds the factors of all other columns, a'(i, j) = a(i, j) + sum_s P(i, s) a(pivot row s, j),
/// without a(i, j) in the pivots' rows.
template <class Team>
PLAQ_BY_TEAM scaled invert(Team& team, int n, double* a, int stride, const inverse_space& space) {
  constexpr int width = inverse_space::width;
  const auto at = [=](int i, int j) -> double& { return a[i + std::ptrdiff_t(j) * stride]; };
  const auto panel = [=](int i, int s) -> double& { return space.panel[i + std::ptrdiff_t(s) * n]; };
  scaled determinant;
  team.each(n, [&](int i) { space.origin[i] = i; });
  for (int first = 0; first < n; first += width) {
    const int columns = n - first < width ? n - first : width, end = first + columns;
    team.grid(n, columns, [&](int i, int s) { panel(i, s) = at(i, first + s); });
    team.each(n, [&](int i) { space.from[i] = i; });
    for (int s = 0; s < columns; ++s) {
      const int q = first + s;
      const int p = q + team.largest(n - q, [&](int i) { return std::abs(panel(q + i, s)); });
      const double pivot = team.value([&] { return panel(p, s); });
      determinant.times(p == q ? pivot : -pivot);
      if (!(std::abs(pivot) > 0)) return determinant;
      const double over = 1 / pivot;
      // Rows q and p change places; the pivot's row is no row to subtract from.
      team.each(n + columns + 1, [&](int i) {
        if (i < n) {
          space.column[i] = i == q ? 0 : panel(i == p ? q : i, s);
        } else if (i < n + columns) {
          const int t = i - n;
          space.row[t] = panel(p, t) * over;
        } else {
          const int kept = space.from[p], origin = space.origin[p];
          space.from[p] = space.from[q], space.origin[p] = space.origin[q];
          space.from[q] = kept, space.origin[q] = origin;
        }
      });
      if (p != q) team.each(columns, [&](int t) { panel(p, t) = panel(q, t); });
      team.grid(n, columns, [&](int i, int t) {
        if (t == s)
          panel(i, t) = i == q ? over : -over * space.column[i];
        else
          panel(i, t) = i == q ? space.row[t] : std::fma(-space.column[i], space.row[t], panel(i, t));
      });
    }
    // All other columns. Rows that gave their place to a pivot are read from a copy.
    team.grid(columns, n, [&](int s, int j) {
      space.pivots[s + j * width] = at(space.from[first + s], j);
      space.moved[s + j * width] = at(first + s, j);
    });
    multiply<8, 1>(
        team, 1, n, n, [&](int) { return product<double>{columns, space.pivots, width, 1, space.panel, n}; },
        [&](int, int j, int i, double sum) {
          const bool in_panel = j >= first && j < end, pivots = i >= first && i < end;
          const int from = space.from[i];
          const double before = pivots ? 0 : from != i ? space.moved[from - first + j * width] : at(i, j);
          at(i, j) = in_panel ? panel(i, j - first) : before + sum;
        });
  }
  // The rows changed places: the inverse has its columns in another order.
  for (int first = 0; first < n; first += width) {
    const int rows = n - first < width ? n - first : width;
    team.grid(rows, n, [&](int r, int j) { space.pivots[r + j * width] = at(first + r, j); });
    team.grid(rows, n, [&](int r, int j) { at(first + r, space.origin[j]) = space.pivots[r + j * width]; });
  }
  return determinant;
}

}  // namespace plaq::gpu

// Inverse of a small matrix, computed by a team.
#pragma once
#include <cmath>

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

/// Scratch memory of `invert`, shared by the team: n entries each.
struct inverse_space {
  double *row, *column;
  int* pivot;
};

/// Replaces a (n x n, column-major) by its inverse by Gauss-Jordan elimination with partial pivoting; returns its
/// determinant. If that is zero or not finite, a is unspecified.
template <class Team>
PLAQ_BY_TEAM scaled invert(Team& team, int n, double* a, int stride, const inverse_space& space) {
  const auto at = [=](int i, int j) -> double& { return a[i + long(j) * stride]; };
  scaled determinant;
  for (int k = 0; k < n; ++k) {
    const int p = k + team.largest(n - k, [&](int i) { return std::abs(at(k + i, k)); });
    const double pivot = team.value([&] { return at(p, k); });
    determinant.times(p == k ? pivot : -pivot);
    if (!(std::abs(pivot) > 0)) return determinant;
    const double over = 1 / pivot;
    // Rows k and p change places; the pivot's row is no row to subtract from.
    team.each(n, [&](int j) {
      space.row[j] = at(p, j) * over;
      at(p, j) = at(k, j);
    });
    team.each(n, [&](int i) {
      space.column[i] = i == k ? 0 : at(i, k);
      if (i == k) space.pivot[k] = p;
    });
    team.grid(n, n, [&](int i, int j) {
      if (j == k)
        at(i, j) = i == k ? over : -over * space.column[i];
      else
        at(i, j) = i == k ? space.row[j] : std::fma(-space.column[i], space.row[j], at(i, j));
    });
  }
  // The rows changed places: the inverse has its columns in another order.
  for (int k = n - 1; k >= 0; --k) {
    const int p = team.value([&] { return space.pivot[k]; });
    if (p == k) continue;
    team.each(n, [&](int i) {
      const double kept = at(i, k);
      at(i, k) = at(i, p);
      at(i, p) = kept;
    });
  }
  return determinant;
}

}  // namespace plaq::gpu

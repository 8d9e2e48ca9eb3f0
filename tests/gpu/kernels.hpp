// Kernels that only the tests have.
#pragma once
#include <cmath>

#include "plaq/gpu/inverse.hpp"
#include "plaq/gpu/product.hpp"
#include "plaq/gpu/team.hpp"

namespace plaq::gpu {

/// Every operation of a team once; n > 0.
template <class Team>
PLAQ_BY_TEAM void every_operation(Team& team, int n, const double* x, double* out) {
  team.each(n, [&](int i) { out[i] = 2 * x[i]; });
  const double sum = team.sum(n, [&](int i, double so_far) { return std::fma(x[i], out[i], so_far); });
  const int most = team.largest(n, [&](int i) { return std::abs(x[i]); });
  team.once([&] {
    out[n] = sum;
    out[n + 1] = most;
  });
  const double again = team.value([&] { return out[n]; });
  team.grid(n, 3, [&](int i, int j) { out[(2 + j) * n + 2 + i] = again + i * 10 + j; });
  team.sums_where(
      n, n, [](int j) { return j % 3 != 1; },
      [&](int i, int j, double so_far) { return std::fma(x[i], x[(i + j) % n], so_far); },
      [&](int j, double found) { out[5 * n + 2 + j] = found; });
  const int positive = team.select(n, [&](int i) { return x[i] > 0; }, [&](int at, int i) { out[6 * n + 2 + at] = i; });
  team.once([&] { out[7 * n + 2] = positive; });
}

/// Doubles that `every_operation` writes, some of them.
inline int doubles_for(int n) { return 7 * n + 3; }

inline constexpr int inner = 6;

/// Two products of rows x columns results, one after the other: of a (inner terms, column-major) and b behind it, and
/// of nothing.
template <class Team>
PLAQ_BY_TEAM void two_products(Team& team, int rows, int columns, const float* x, float* out) {
  multiply(
      team, 2, rows, columns,
      [&](int n) { return product<float>{n == 0 ? inner : 0, x, 1, rows, x + rows * inner, columns}; },
      [&](int n, int i, int j, float sum) { out[(n * rows + i) * columns + j] = sum; });
}

/// Floats that it reads.
inline int product_size(int rows, int columns) { return inner * (rows + columns); }

}  // namespace plaq::gpu

// Products of small complex matrices, of which contractions of propagators consist. Compiled for every instruction set.
#pragma once

namespace plaq::lqcd::detail {

inline constexpr int chunk = 16;  ///< numbers whose real parts are stored together, then their imaginary parts

/// Product of matrices: sum[row][column] += left[k][row] right[k][column], summed over k in ascending order. `left` has
/// real and imaginary part of each number; `right` and `sum` have `chunks` chunks in a row.
struct product_args {
  int rows, inner, chunks;
  const double* left;
  const double* right;
  double* sum;
};
void add_product(const product_args& args);

}  // namespace plaq::lqcd::detail

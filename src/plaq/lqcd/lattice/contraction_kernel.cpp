#include "plaq/lqcd/lattice/contraction_kernel.hpp"

#include "plaq/lqcd/lattice/su3.hpp"

namespace plaq::lqcd::detail {

namespace {

using linalg::fma, linalg::fnma, linalg::load, linalg::same, linalg::store;

using V = linalg::simd<double, linalg::native_lanes<double>>;
constexpr int lanes = linalg::lanes<V>;
constexpr int most_rows = linalg::register_bytes == 64 ? 4 : 2;  // whose sums fit into registers
constexpr int vectors = 2;                                       // of a chunk at a time

template <int Rows>
PLAQ_KERNEL void add_rows(const product_args& p, int row, int at_chunk, int column) {
  const int at = 2 * chunk * at_chunk + column;
  cx<V> sum[Rows][vectors];
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      const double* from = p.sum + (row + r) * 2 * chunk * p.chunks + at + v * lanes;
      sum[r][v] = {load<V>(from), load<V>(from + chunk)};
    }
  for (int k = 0; k < p.inner; ++k) {
    const double* from = p.right + k * 2 * chunk * p.chunks + at;
    cx<V> right[vectors];
    for (int v = 0; v < vectors; ++v) right[v] = {load<V>(from + v * lanes), load<V>(from + chunk + v * lanes)};
    for (int r = 0; r < Rows; ++r) {
      const double* left = p.left + 2 * (k * p.rows + row + r);
      const V re = same<V>(left[0]), im = same<V>(left[1]);
      for (int v = 0; v < vectors; ++v) {
        sum[r][v].re = fnma(im, right[v].im, fma(re, right[v].re, sum[r][v].re));
        sum[r][v].im = fma(im, right[v].re, fma(re, right[v].im, sum[r][v].im));
      }
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      double* to = p.sum + (row + r) * 2 * chunk * p.chunks + at + v * lanes;
      store(to, sum[r][v].re);
      store(to + chunk, sum[r][v].im);
    }
}

}  // namespace

void add_product(const product_args& p) {
  static_assert(chunk % (vectors * lanes) == 0);
  for (int at_chunk = 0; at_chunk < p.chunks; ++at_chunk)
    for (int column = 0; column < chunk; column += vectors * lanes) {
      int row = 0;
      for (; row + most_rows <= p.rows; row += most_rows) add_rows<most_rows>(p, row, at_chunk, column);
      for (; row < p.rows; ++row) add_rows<1>(p, row, at_chunk, column);
    }
}

}  // namespace plaq::lqcd::detail

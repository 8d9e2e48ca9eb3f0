#include "plaq/lqcd/gauge/matrices.hpp"
#include "plaq/lqcd/lattice/su3.hpp"
#include "plaq/lqcd/lattice/widths.hpp"

namespace plaq::lqcd::detail {

namespace {

template <class V, bool AdjointA, bool AdjointB>
void multiply_range(std::int64_t first, std::int64_t end, matrix_view<double> out, const_matrix_view a,
                    const_matrix_view b, bool add) {
  constexpr int n = 2 * linalg::lanes<V>;
  for (std::int64_t at = first; at < end; ++at) {
    const double *x = a.group(at), *y = b.group(at);
    double* to = out.group(at);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        cx<V> sum = {};
        if (add) sum = load_cx<V>(to + (3 * i + j) * n);
        for (int k = 0; k < 3; ++k) {
          auto right = load_cx<V>(y + (AdjointB ? 3 * j + k : 3 * k + j) * n);
          if (AdjointB) right.im = -right.im;
          sum = fma<AdjointA>(load_cx<V>(x + (AdjointA ? 3 * k + i : 3 * i + k) * n), right, sum);
        }
        store_cx<V>(to + (3 * i + j) * n, sum);
      }
  }
}

}  // namespace

void multiply_groups(int lanes, std::int64_t first, std::int64_t end, matrix_view<double> out, factor a, factor b,
                     bool add) {
  with_lanes<double>(lanes, [&]<int N>() {
    using V = linalg::simd<double, N>;
    const auto run = a.adjoint ? (b.adjoint ? multiply_range<V, true, true> : multiply_range<V, true, false>)
                               : (b.adjoint ? multiply_range<V, false, true> : multiply_range<V, false, false>);
    run(first, end, out, a.matrix, b.matrix, add);
  });
}

void add_trace(int lanes, std::int64_t first, std::int64_t end, const_matrix_view a, const_matrix_view b,
               exact_sum& sum) {
  with_lanes<double>(lanes, [&]<int N>() {
    using V = linalg::simd<double, N>;
    for (std::int64_t at = first; at < end; ++at) {
      V site = {};
      for (int i = 0; i < 18; ++i)
        site = linalg::fma(linalg::load<V>(a.group(at) + i * N), linalg::load<V>(b.group(at) + i * N), site);
      double lane_values[N];
      linalg::store(lane_values, site);
      for (const double x : lane_values) sum.add(x);
    }
  });
}

}  // namespace plaq::lqcd::detail

#include "plaq/lqcd/matrices.hpp"
#include "plaq/lqcd/su3.hpp"
#include "plaq/lqcd/widths.hpp"

namespace plaq::lqcd::detail {

namespace {

template <class V, bool AdjointA, bool AdjointB>
void product_of(std::int64_t first, std::int64_t end, matrix_view<double> out, const_matrix_view a, const_matrix_view b,
                bool add) {
  constexpr int n = 2 * linalg::lanes<V>;
  for (std::int64_t at = first; at < end; ++at) {
    const double *x = a.block(at), *y = b.block(at);
    double* to = out.block(at);
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

void product_blocks(int lanes, std::int64_t first, std::int64_t end, matrix_view<double> out, factor a, factor b,
                    bool add) {
  with_lanes<double>(lanes, [&]<int N>() {
    using V = linalg::simd<double, N>;
    const auto run = a.adjoint ? (b.adjoint ? product_of<V, true, true> : product_of<V, true, false>)
                               : (b.adjoint ? product_of<V, false, true> : product_of<V, false, false>);
    run(first, end, out, a.of, b.of, add);
  });
}

void trace_blocks(int lanes, std::int64_t first, std::int64_t end, const_matrix_view a, const_matrix_view b,
                  exact_sum& sum) {
  with_lanes<double>(lanes, [&]<int N>() {
    using V = linalg::simd<double, N>;
    for (std::int64_t at = first; at < end; ++at) {
      V site = {};
      for (int i = 0; i < 18; ++i)
        site = linalg::fma(linalg::load<V>(a.block(at) + i * N), linalg::load<V>(b.block(at) + i * N), site);
      double each[N];
      linalg::store(each, site);
      for (const double x : each) sum.add(x);
    }
  });
}

}  // namespace plaq::lqcd::detail

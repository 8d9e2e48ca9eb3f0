#include "plaq/lqcd/clover_kernel.hpp"

#include "plaq/lqcd/su3.hpp"
#include "plaq/lqcd/widths.hpp"

namespace plaq::lqcd {

namespace {

template <class V, bool Dagger, class T>
void multiply_all(std::size_t first, std::size_t end, T* out, const T* B, const T* in, bool add) {
  constexpr int n = 2 * linalg::lanes<V>;
  for (std::size_t b = 2 * first; b < 2 * end; ++b) {  // chiralities
    const T* matrix = B + b * 36 * n;
    cx<V> x[6];
    for (int j = 0; j < 6; ++j) x[j] = load_cx<V>(in + (b * 6 + j) * n);
    for (int i = 0; i < 6; ++i) {
      T* to = out + (b * 6 + i) * n;
      cx<V> sum = {};
      if (add) sum = load_cx<V>(to);
      for (int j = 0; j < 6; ++j)
        sum = fma<Dagger>(load_cx<V>(matrix + (Dagger ? 6 * j + i : 6 * i + j) * n), x[j], sum);
      store_cx<V>(to, sum);
    }
  }
}

}  // namespace

template <class T>
void multiply_blocks(int lanes, std::size_t first, std::size_t end, T* out, const T* B, const T* in, bool dagger,
                     bool add) {
  with_lanes<T>(lanes, [&]<int N>() {
    using V = linalg::simd<T, N>;
    dagger ? multiply_all<V, true>(first, end, out, B, in, add) : multiply_all<V, false>(first, end, out, B, in, add);
  });
}

template void multiply_blocks(int, std::size_t, std::size_t, double*, const double*, const double*, bool, bool);
template void multiply_blocks(int, std::size_t, std::size_t, float*, const float*, const float*, bool, bool);

}  // namespace plaq::lqcd

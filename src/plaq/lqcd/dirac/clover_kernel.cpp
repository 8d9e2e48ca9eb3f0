#include "plaq/lqcd/dirac/clover_kernel.hpp"

#include "plaq/lqcd/lattice/su3.hpp"
#include "plaq/lqcd/lattice/widths.hpp"

namespace plaq::lqcd {

namespace {

/// Adds (B + i twist) x to sums, with one chirality's B.
template <class V, class T>
PLAQ_KERNEL void add_product(cx<V> (&sums)[6], const T* B, T twist, const cx<V> (&x)[6]) {
  constexpr int n = linalg::lanes<V>;
  for (int i = 0; i < 6; ++i) sums[i] = fma(cx<V>{linalg::load<V>(B + i * n), linalg::same<V>(twist)}, x[i], sums[i]);
  const T* right = B + 6 * n;
  for (int i = 0; i < 6; ++i)
    for (int j = i + 1; j < 6; ++j, right += 2 * n) {
      const auto b = load_cx<V>(right);
      sums[i] = fma(b, x[j], sums[i]);
      sums[j] = fma<true>(b, x[i], sums[j]);
    }
}

template <class V, class T>
void multiply_all(std::size_t first, std::size_t end, T* out, std::span<const chiral_factor<T>> factors, const T* in,
                  bool add) {
  constexpr int n = linalg::lanes<V>;
  for (std::size_t b = 2 * first; b < 2 * end; ++b) {  // chiralities
    cx<V> x[6], sums[6];
    for (int i = 0; i < 6; ++i) x[i] = load_cx<V>(in + (b * 6 + i) * 2 * n);
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const bool last = f + 1 == factors.size();
      for (int i = 0; i < 6; ++i) sums[i] = last && add ? load_cx<V>(out + (b * 6 + i) * 2 * n) : cx<V>{};
      add_product(sums, factors[f].B + b * 36 * n, b % 2 ? -factors[f].twist : factors[f].twist, x);
      for (int i = 0; i < 6; ++i) x[i] = sums[i];
    }
    for (int i = 0; i < 6; ++i) store_cx<V>(out + (b * 6 + i) * 2 * n, x[i]);
  }
}

}  // namespace

template <class T>
void multiply_chiral(int lanes, std::size_t first, std::size_t end, T* out, std::span<const chiral_factor<T>> factors,
                     const T* in, bool add) {
  with_lanes<T>(lanes, [&]<int N>() { multiply_all<linalg::simd<T, N>>(first, end, out, factors, in, add); });
}

template void multiply_chiral(int, std::size_t, std::size_t, double*, std::span<const chiral_factor<double>>,
                              const double*, bool);
template void multiply_chiral(int, std::size_t, std::size_t, float*, std::span<const chiral_factor<float>>,
                              const float*, bool);

}  // namespace plaq::lqcd

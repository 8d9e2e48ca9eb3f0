// Sums over the 24 numbers of a site are taken in one order, in each lane, before sums over sites.
#include "plaq/lqcd/lattice/linear_kernel.hpp"

#include "plaq/lqcd/lattice/su3.hpp"
#include "plaq/lqcd/lattice/widths.hpp"

namespace plaq::lqcd {

namespace {

template <class V>
PLAQ_KERNEL void add_lanes(exact_sum& sum, V value) {
  linalg::number_of<V> lane_values[linalg::lanes<V>];
  linalg::store(lane_values, value);
  for (const auto x : lane_values) sum.add(double(x));
}

template <class V, int Terms, class T>
void combine_groups(std::size_t first, std::size_t end, T* out, const term<T>* terms, exact_sum* norm) {
  constexpr int n = 2 * linalg::lanes<V>;
  cx<V> factor[2][Terms];
  for (int t = 0; t < Terms; ++t) {
    factor[0][t] = {linalg::same<V>(terms[t].upper.real()), linalg::same<V>(terms[t].upper.imag())};
    factor[1][t] = {linalg::same<V>(terms[t].lower.real()), linalg::same<V>(terms[t].lower.imag())};
  }
  for (std::size_t b = first; b < end; ++b) {
    V square = {};
    for (int i = 0; i < 12; ++i) {
      const std::size_t at = (b * 12 + i) * n;
      const int half = i >= 6;
      auto z = mul(factor[half][0], load_cx<V>(terms[0].x + at));
      for (int t = 1; t < Terms; ++t) z = fma(factor[half][t], load_cx<V>(terms[t].x + at), z);
      store_cx<V>(out + at, z);
      square = linalg::fma(z.im, z.im, linalg::fma(z.re, z.re, square));
    }
    if (norm) add_lanes(*norm, square);
  }
}

}  // namespace

template <class T>
void combine(int lanes, std::size_t first, std::size_t end, T* out, std::span<const term<T>> terms, exact_sum* norm) {
  with_lanes<T>(lanes, [&]<int N>() {
    using V = linalg::simd<T, N>;
    if (terms.size() == 1) return combine_groups<V, 1>(first, end, out, terms.data(), norm);
    if (terms.size() == 2) return combine_groups<V, 2>(first, end, out, terms.data(), norm);
    check(terms.size() == 3, "a linear combination has one, two or three terms");
    combine_groups<V, 3>(first, end, out, terms.data(), norm);
  });
}

template <class T>
void advance(int lanes, std::size_t first, std::size_t end, T* sum, T* p, const T* r, T a, T b) {
  with_lanes<T>(lanes, [&]<int N>() {
    using V = linalg::simd<T, N>;
    const V of_sum = linalg::same<V>(a), of_p = linalg::same<V>(b);
    for (std::size_t i = first * 24 * N; i < end * 24 * N; i += N) {
      const V direction = linalg::load<V>(p + i);
      linalg::store(sum + i, linalg::fma(of_sum, direction, linalg::load<V>(sum + i)));
      linalg::store(p + i, linalg::fma(of_p, direction, linalg::load<V>(r + i)));
    }
  });
}

template <class T>
void add_scalar_product(int lanes, std::size_t first, std::size_t end, const T* x, const T* y, exact_sum& re,
                        exact_sum& im) {
  with_lanes<T>(lanes, [&]<int N>() {
    using V = linalg::simd<T, N>;
    for (std::size_t b = first; b < end; ++b) {
      cx<V> sum = {};
      for (int i = 0; i < 12; ++i) {
        const std::size_t at = (b * 12 + i) * 2 * N;
        sum = fma<true>(load_cx<V>(x + at), load_cx<V>(y + at), sum);
      }
      add_lanes(re, sum.re);
      add_lanes(im, sum.im);
    }
  });
}

template <class T>
void add_norm2(int lanes, std::size_t first, std::size_t end, const T* x, exact_sum& norm) {
  with_lanes<T>(lanes, [&]<int N>() {
    using V = linalg::simd<T, N>;
    for (std::size_t b = first; b < end; ++b) {
      V sum = {};
      for (int i = 0; i < 24; ++i) {
        const V r = linalg::load<V>(x + (b * 24 + i) * N);
        sum = linalg::fma(r, r, sum);
      }
      add_lanes(norm, sum);
    }
  });
}

template void combine(int, std::size_t, std::size_t, double*, std::span<const term<double>>, exact_sum*);
template void combine(int, std::size_t, std::size_t, float*, std::span<const term<float>>, exact_sum*);
template void advance(int, std::size_t, std::size_t, double*, double*, const double*, double, double);
template void advance(int, std::size_t, std::size_t, float*, float*, const float*, float, float);
template void add_scalar_product(int, std::size_t, std::size_t, const double*, const double*, exact_sum&, exact_sum&);
template void add_scalar_product(int, std::size_t, std::size_t, const float*, const float*, exact_sum&, exact_sum&);
template void add_norm2(int, std::size_t, std::size_t, const double*, exact_sum&);
template void add_norm2(int, std::size_t, std::size_t, const float*, exact_sum&);

}  // namespace plaq::lqcd

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

template <class V, int Steps, class T>
void advance_groups(std::size_t first, std::size_t end, T* sum, T* p, const step<T>* steps) {
  constexpr std::size_t n = linalg::lanes<V>;
  V a[Steps], b[Steps], c[Steps];
  for (int s = 0; s < Steps; ++s)
    a[s] = linalg::same<V>(steps[s].a), b[s] = linalg::same<V>(steps[s].b), c[s] = linalg::same<V>(steps[s].c);
  for (std::size_t i = first * 24 * n; i < end * 24 * n; i += n) {
    V direction = linalg::load<V>(p + i), total = linalg::load<V>(sum + i);
    for (int s = 0; s < Steps; ++s) {
      total = linalg::fma(a[s], direction, total);
      direction = linalg::fma(c[s], direction, linalg::mul(b[s], linalg::load<V>(steps[s].r + i)));
    }
    linalg::store(sum + i, total);
    linalg::store(p + i, direction);
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
void advance(int lanes, std::size_t first, std::size_t end, T* sum, T* p, std::span<const step<T>> steps) {
  with_lanes<T>(lanes, [&]<int N>() {
    using V = linalg::simd<T, N>;
    for (; steps.size() >= 4; steps = steps.subspan(4)) advance_groups<V, 4>(first, end, sum, p, steps.data());
    if (steps.size() == 3) advance_groups<V, 3>(first, end, sum, p, steps.data());
    if (steps.size() == 2) advance_groups<V, 2>(first, end, sum, p, steps.data());
    if (steps.size() == 1) advance_groups<V, 1>(first, end, sum, p, steps.data());
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
template void advance(int, std::size_t, std::size_t, double*, double*, std::span<const step<double>>);
template void advance(int, std::size_t, std::size_t, float*, float*, std::span<const step<float>>);
template void add_scalar_product(int, std::size_t, std::size_t, const double*, const double*, exact_sum&, exact_sum&);
template void add_scalar_product(int, std::size_t, std::size_t, const float*, const float*, exact_sum&, exact_sum&);
template void add_norm2(int, std::size_t, std::size_t, const double*, exact_sum&);
template void add_norm2(int, std::size_t, std::size_t, const float*, exact_sum&);

}  // namespace plaq::lqcd

#include "plaq/lqcd/solver/multigrid_kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "plaq/lqcd/lattice/gamma.hpp"
#include "plaq/lqcd/lattice/su3.hpp"

namespace plaq::lqcd {

namespace {

constexpr int lanes = linalg::native_lanes<float>;
using V = linalg::simd<float, lanes>;

/// Returns lanes i ... of a row of n.
PLAQ_KERNEL cx<V> part(const float* row, int n, int i) {
  return {linalg::load<V>(row + i), linalg::load<V>(row + n + i)};
}
PLAQ_KERNEL void put(float* row, int n, int i, cx<V> z) {
  linalg::store(row + i, z.re);
  linalg::store(row + n + i, z.im);
}
PLAQ_KERNEL cx<V> same(float re, float im) { return {linalg::same<V>(re), linalg::same<V>(im)}; }

PLAQ_KERNEL float sum_of(V v) {
  float x[lanes];
  linalg::store(x, v);
  for (int half = lanes / 2; half; half /= 2)
    for (int i = 0; i < half; ++i) x[i] += x[i + half];
  return x[0];
}

}  // namespace

void restrict_to(int n, int half, std::int64_t sites, const float* rows, const float* psi, float* coarse) {
  for (int c = 0; c < 2; ++c)
    for (int j = 0; j < n; j += lanes) {
      // Three independent sums hide the latency of one.
      std::array<cx<V>, 3> sums{};
      for (std::int64_t x = 0; x < sites; ++x)
        for (int i = 0; i < half; ++i) {
          const std::int64_t row = (2 * x + c) * half + i;
          const float* z = psi + 2 * row;
          sums[i % 3] = fma<true>(part(rows + row * 2 * n, n, j), same(z[0], z[1]), sums[i % 3]);
        }
      put(coarse, 2 * n, c * n + j, add<0>(add<0>(sums[0], sums[1]), sums[2]));
    }
}

void prolong_from(int n, int half, std::int64_t sites, const float* rows, const float* coarse, float* psi) {
  for (std::int64_t x = 0; x < sites; ++x)
    for (int i = 0; i < 2 * half; ++i, psi += 2, rows += 2 * n) {
      cx<V> sum{};
      for (int j = 0; j < n; j += lanes) sum = fma(part(rows, n, j), part(coarse, 2 * n, i / half * n + j), sum);
      psi[0] = sum_of(sum.re), psi[1] = sum_of(sum.im);
    }
}

void orthonormalise(int n, int half, std::int64_t sites, float* rows) {
  std::vector<float> products(2 * n);
  for (int c = 0; c < 2; ++c) {
    const auto for_each_row = [&](auto&& work) {
      std::int64_t number = 0;
      for (std::int64_t x = 0; x < sites; ++x)
        for (int i = 0; i < half; ++i) work(rows + ((2 * x + c) * half + i) * 2 * n, number++);
    };
    for (int k = 0; k < n; ++k) {
      const auto norm2 = [&] {
        double sum = 0;
        for_each_row(
            [&](const float* row, std::int64_t) { sum += double(row[k]) * row[k] + double(row[n + k]) * row[n + k]; });
        return sum;
      };
      const double before = norm2();
      // Previous columns are projected out twice, to remove rounding errors of the first time.
      for (int twice = 0; twice < 2; ++twice) {
        for (int j = 0; j < k; j += lanes) {
          std::array<cx<V>, 3> sums{};
          for_each_row([&](const float* row, std::int64_t i) {
            sums[i % 3] = fma<true>(part(row, n, j), same(row[k], row[n + k]), sums[i % 3]);
          });
          put(products.data(), n, j, add<0>(add<0>(sums[0], sums[1]), sums[2]));
        }
        for (int j = k; j < (k + lanes - 1) / lanes * lanes; ++j) products[j] = products[n + j] = 0;
        for_each_row([&](float* row, std::int64_t) {
          cx<V> sum{};
          for (int j = 0; j < k; j += lanes) sum = fma(part(row, n, j), part(products.data(), n, j), sum);
          row[k] -= sum_of(sum.re), row[n + k] -= sum_of(sum.im);
        });
      }
      const double after = norm2(), factor = after > 1e-10 * before ? 1 / std::sqrt(after) : 0;
      for_each_row(
          [&](float* row, std::int64_t) { row[k] = float(factor * row[k]), row[n + k] = float(factor * row[n + k]); });
    }
  }
}

void project_rows(int n, int mu, const float* rows, const std::complex<float>* u, float* out) {
  for (int c = 0; c < 2; ++c)
    for (int s = 0; s < 2; ++s) {
      const auto e = gamma::e[mu][s];
      const float* from = rows + (c == 0 ? s : 2 + e.column) * 3 * 2 * n;
      const int phase = c == 0 ? 0 : (e.phase + 2) % 4;
      for (int j = 0; j < n; j += lanes) {
        cx<V> v[3];
        for (int i = 0; i < 3; ++i) {
          const auto z = part(from + i * 2 * n, n, j);
          v[i] = phase == 0   ? z
                 : phase == 1 ? cx<V>{-z.im, z.re}
                 : phase == 2 ? cx<V>{-z.re, -z.im}
                              : cx<V>{z.im, -z.re};
        }
        for (int i = 0; i < 3; ++i) {
          cx<V> sum = u ? cx<V>{} : v[i];
          for (int k = 0; u && k < 3; ++k) sum = fma(same(u[3 * i + k].real(), u[3 * i + k].imag()), v[k], sum);
          put(out + (3 * s + i) * 4 * n, 2 * n, c * n + j, sum);
        }
      }
    }
}

void multiply_rows(int n, const std::complex<float>* a, const float* rows, float* out) {
  for (int j = 0; j < n; j += lanes)
    for (int i = 0; i < 6; ++i) {
      cx<V> sum{};
      for (int k = 0; k < 6; ++k)
        sum = fma(same(a[6 * i + k].real(), a[6 * i + k].imag()), part(rows + k * 2 * n, n, j), sum);
      put(out + i * 2 * n, n, j, sum);
    }
}

void add_products(int m, std::int64_t rows, const float* A, const float* B, float* C) {
  constexpr int tile = 4;
  for (int j = 0; j < m; j += lanes)
    for (int i = 0; i < m; i += tile) {
      cx<V> sum[tile] = {};
      for (std::int64_t k = 0; k < rows; ++k) {
        const auto b = part(B + k * 2 * m, m, j);
        const float* a = A + k * 2 * m + i;
        for (int t = 0; t < tile; ++t) sum[t] = fma<true>(same(a[t], a[m + t]), b, sum[t]);
      }
      for (int t = 0; t < tile; ++t) put(C + (i + t) * 2 * m, m, j, add<0>(part(C + (i + t) * 2 * m, m, j), sum[t]));
    }
}

void multiply_coarse(int m, int count, const float* const* matrices, const float* const* x, float* out) {
  for (int i = 0; i < m; i += lanes) {
    std::array<cx<V>, 4> sums{};
    for (int d = 0; d < count; ++d)
      for (int k = 0; k < m; k += 4)
        for (int t = 0; t < 4; ++t)
          sums[t] = fma(part(matrices[d] + (k + t) * 2 * m, m, i), same(x[d][k + t], x[d][m + k + t]), sums[t]);
    put(out, m, i, add<0>(part(out, m, i), add<0>(add<0>(sums[0], sums[1]), add<0>(sums[2], sums[3]))));
  }
}

void add_coarse(int m, std::int64_t sites, std::complex<float> factor, const float* x, float* out) {
  const auto z = same(factor.real(), factor.imag());
  for (std::int64_t s = 0; s < sites; ++s)
    for (int i = 0; i < m; i += lanes) {
      const std::int64_t at = s * 2 * m;
      put(out + at, m, i, fma(z, part(x + at, m, i), part(out + at, m, i)));
    }
}

std::complex<float> multiply_coarse(int m, const float* x, const float* y) {
  cx<V> sum{};
  for (int i = 0; i < m; i += lanes) sum = fma<true>(part(x, m, i), part(y, m, i), sum);
  return {sum_of(sum.re), sum_of(sum.im)};
}

}  // namespace plaq::lqcd

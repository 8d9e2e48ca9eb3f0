// Products here have one side of some tens and others of some hundreds. BLAS packs both factors first, which does not
// pay at this size. Here a tile of C stays in registers, and the factors are read in place.
#include "plaq/linalg/gemm.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "plaq/linalg/simd.hpp"
#include "plaq/linalg/transpose.hpp"

namespace plaq::linalg {

namespace {

// A tile of 3 registers by `columns` of C fills the registers, with 3 for A and one for B: those are 32 or more with
// AVX-512 and on ARM and POWER, else 16.
#if defined(__AVX512F__) || defined(__aarch64__) || defined(__powerpc64__)
constexpr int columns = 8;
#else
constexpr int columns = 4;
#endif
constexpr int most_vectors = 3;
constexpr int most_depth = 256;  // of the inner dimension at a time: the part of B for a tile stays in L1

// Where the elements of a factor lie: (row i, column j) at start[i * down + j * right].
template <class Real>
struct factor {
  const Real* start;
  std::ptrdiff_t down, right;
  factor(const Real* a, int lda, bool transposed) : start(a), down(transposed ? lda : 1), right(transposed ? 1 : lda) {}
  const Real* at(int i, int j) const { return start + i * down + j * right; }
};

// One tile: `rows` of `Vectors` registers by `Columns` of C = alpha A B + beta C. A has its columns `right` apart.
template <class Real, int Vectors, int Columns>
void tile(int depth, const Real* a, std::ptrdiff_t right, factor<Real> b, Real alpha, Real beta, Real* c, int ldc,
          int rows) {
  constexpr int lanes = native_lanes<Real>;
  using vector = simd<Real, lanes>;
  vector sum[Columns][Vectors] = {};
  for (int p = 0; p < depth; ++p) {
    vector x[Vectors];
#pragma GCC unroll 3
    for (int v = 0; v < Vectors; ++v) x[v] = load<vector>(a + p * right + v * lanes);
#pragma GCC unroll 8
    for (int j = 0; j < Columns; ++j) {
      const Real y = *b.at(p, j);
#pragma GCC unroll 3
      for (int v = 0; v < Vectors; ++v) sum[j][v] += x[v] * y;
    }
  }
  const auto finish = [&](Real* out, int stride) {
#pragma GCC unroll 8
    for (int j = 0; j < Columns; ++j)
#pragma GCC unroll 3
      for (int v = 0; v < Vectors; ++v) {
        Real* at = out + std::ptrdiff_t(j) * stride + v * lanes;
        vector value = alpha * sum[j][v];
        if (beta != 0) value += beta * load<vector>(at);
        store(at, value);
      }
  };
  constexpr int width = Vectors * lanes;
  if (rows == width) return finish(c, ldc);
  Real whole[Columns * width] = {};
  for (int j = 0; j < Columns; ++j) std::copy_n(c + std::ptrdiff_t(j) * ldc, rows, whole + j * width);
  finish(whole, width);
  for (int j = 0; j < Columns; ++j) std::copy_n(whole + j * width, rows, c + std::ptrdiff_t(j) * ldc);
}

template <class Real>
using tile_of = void (*)(int, const Real*, std::ptrdiff_t, factor<Real>, Real, Real, Real*, int, int);

// tiles<Real>[(vectors - 1) * columns + columns of the tile - 1]
template <class Real>
constexpr auto tiles = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<tile_of<Real>, sizeof...(I)>{&tile<Real, 1 + int(I) / columns, 1 + int(I) % columns>...};
}(std::make_index_sequence<most_vectors * columns>{});

// Rows of A as a tile reads them: contiguous, whole vectors, of which it keeps the entries of these rows.
template <class Real>
const Real* packed(const factor<Real>& a, int first, int rows, int width, int begin, int depth) {
  thread_local std::vector<Real> storage;
  storage.resize(std::size_t(most_vectors) * native_lanes<Real> * most_depth);
  Real* const out = storage.data();
  if (a.right == 1)
    transpose(rows, depth, 1, a.at(first, begin), a.down, out, width);
  else
    for (int p = 0; p < depth; ++p) std::copy_n(a.at(first, begin + p), rows, out + std::ptrdiff_t(p) * width);
  return storage.data();
}

}  // namespace

template <class Real>
void gemm(bool transpose_a, bool transpose_b, int m, int n, int k, Real alpha, const Real* a, int lda, const Real* b,
          int ldb, Real beta, Real* c, int ldc) {
  const factor<Real> left(a, lda, transpose_a), right(b, ldb, transpose_b);
  constexpr int lanes = native_lanes<Real>;
  const int vectors = (m + lanes - 1) / lanes;
  const int panels = (vectors + most_vectors - 1) / most_vectors;
  for (int begin = 0; begin == 0 || begin < k; begin += most_depth) {
    const int depth = std::min(most_depth, k - begin);
    const Real kept = begin == 0 ? beta : Real(1);
    for (int panel = 0; panel < panels; ++panel) {
      const int low = vectors * panel / panels, high = vectors * (panel + 1) / panels;
      const int first = low * lanes, width = (high - low) * lanes, rows = std::min(width, m - first);
      const bool in_place = !transpose_a && rows == width;
      const Real* from = in_place ? left.at(first, begin) : packed(left, first, rows, width, begin, depth);
      const std::ptrdiff_t step = in_place ? lda : width;
      for (int j = 0; j < n; j += columns) {
        const int across = std::min(columns, n - j);
        factor<Real> part = right;
        part.start = right.at(begin, j);
        tiles<Real>[(high - low - 1) * columns + across - 1](depth, from, step, part, alpha, kept,
                                                             c + first + std::ptrdiff_t(j) * ldc, ldc, rows);
      }
    }
  }
}

template void gemm<double>(bool, bool, int, int, int, double, const double*, int, const double*, int, double, double*,
                           int);
template void gemm<float>(bool, bool, int, int, int, float, const float*, int, const float*, int, float, float*, int);

}  // namespace plaq::linalg

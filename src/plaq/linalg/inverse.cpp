// Gauss-Jordan elimination with partial pivoting, in place, by halves: nearly all work is in gemm, so that the
// order of every sum is gemm's, the same for all instruction sets with a fused multiply-add.
#include "plaq/linalg/inverse.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "plaq/linalg/gemm.hpp"

namespace plaq::linalg {

namespace {

class elimination {
 public:
  elimination(int n, double* a, std::ptrdiff_t stride) : n_{n}, a_{a}, stride_{stride}, pivot_(n) {}

  /// Carries out the steps k of a range of columns, within these columns.
  void eliminate(int first, int last) {
    constexpr int few = 16;
    if (last - first <= few) return step_by_step(first, last);
    const int middle = first + ((last - first) / 2 + few - 1) / few * few;
    eliminate(first, middle);
    update(first, middle, middle, last);
    eliminate(middle, last);
    update(middle, last, first, middle);
  }

  /// Permutes the columns of the inverse, since rows were exchanged.
  void restore_columns() {
    for (int k = n_ - 1; k >= 0; --k)
      if (pivot_[k] != k) std::swap_ranges(column(k), column(k) + n_, column(pivot_[k]));
  }

  log_det determinant() const { return det_; }

 private:
  double* column(int j) const { return a_ + j * stride_; }

  void step_by_step(int first, int last) {
    for (int k = first; k < last; ++k) {
      double* const c = column(k);
      int p = k;
      for (int i = k + 1; i < n_; ++i)
        if (std::abs(c[i]) > std::abs(c[p])) p = i;
      pivot_[k] = p;
      if (c[p] == 0) {
        det_ = {0., -std::numeric_limits<double>::infinity()};
        pivot_[k] = k;
        continue;
      }
      for (int j = first; j < last; ++j) std::swap(column(j)[k], column(j)[p]);
      if ((c[k] < 0) != (p != k)) det_.sign = -det_.sign;
      det_.log += std::log(std::abs(c[k]));

      const double over = 1 / c[k];
      c[k] = 0;  // the pivot's row is no row to subtract from
      for (int j = first; j < last; ++j) {
        if (j == k) continue;
        double* const other = column(j);
        const double row = other[k] * over;
        for (int i = 0; i < n_; ++i) other[i] -= c[i] * row;
        other[k] = row;
      }
      for (int i = 0; i < n_; ++i) c[i] *= -over;
      c[k] = over;
    }
  }

  /// Applies the steps [first, last) to the columns [begin, end). With R the rows of the steps there, and 0 in their
  /// place, the columns become A + P R, where P are the columns of the steps.
  void update(int first, int last, int begin, int end) {
    const int steps = last - first;
    rows_.resize(std::size_t(steps) * (end - begin));
    for (int j = begin; j < end; ++j) {
      double* const c = column(j);
      for (int k = first; k < last; ++k) std::swap(c[k], c[pivot_[k]]);
      std::copy_n(c + first, steps, &rows_[std::size_t(j - begin) * steps]);
      std::fill_n(c + first, steps, 0.);
    }
    const int stride = int(stride_);
    gemm<double>(false, false, n_, end - begin, steps, 1, column(first), stride, rows_.data(), steps, 1, column(begin),
                 stride);
  }

  int n_;
  double* a_;
  std::ptrdiff_t stride_;
  std::vector<int> pivot_;
  std::vector<double> rows_;
  log_det det_{1., 0.};
};

}  // namespace

log_det invert(int n, double* a, int lda) {
  elimination by_halves{n, a, lda};
  by_halves.eliminate(0, n);
  by_halves.restore_columns();
  return by_halves.determinant();
}

}  // namespace plaq::linalg

// Inverse of a small matrix that gains and loses one row and column at a time.
#pragma once
#include <cstddef>
#include <vector>

#include "plaq/linalg/sum.hpp"

namespace plaq::linalg {

/// B^-1 in double precision. Every step costs O(size^2); ratios of determinants are by-products. Removal is as cheap as
/// appending, unlike with an LU factorisation.
class growing_inverse {
 public:
  /// Empties the matrix and makes room for `capacity` rows.
  void reset(int capacity) {
    size_ = 0;
    stride_ = capacity;
    if (inverse_.size() < std::size_t(capacity) * capacity) inverse_.resize(std::size_t(capacity) * capacity);
    column_.resize(capacity);
    row_.resize(capacity);
  }

  int size() const { return size_; }
  const double* data() const { return inverse_.data(); }  ///< column-major
  int stride() const { return stride_; }

  /// Returns det [[B, u], [w, d]] / det B.
  double ratio_append(const double* u, const double* w, double d) {
    for (int i = 0; i < size_; ++i) column_[i] = 0;
    for (int j = 0; j < size_; ++j) {
      const double* b = &inverse_[std::size_t(j) * stride_];
      const double uj = u[j];
      for (int i = 0; i < size_; ++i) column_[i] += b[i] * uj;
    }
    return pivot_ = d - sum_in_lanes<8>(size_, [&](int i) { return w[i] * column_[i]; });
  }

  /// Replaces B by [[B, u], [w, d]]; u, w and d as in the preceding call of ratio_append.
  void append(const double* w) {
    const double over = 1 / pivot_;
    for (int j = 0; j < size_; ++j) {
      const double* b = &inverse_[std::size_t(j) * stride_];
      row_[j] = over * sum_in_lanes<8>(size_, [&](int i) { return w[i] * b[i]; });
    }
    for (int j = 0; j < size_; ++j) {
      double* b = &inverse_[std::size_t(j) * stride_];
      const double z = row_[j];
      for (int i = 0; i < size_; ++i) b[i] += column_[i] * z;
      b[size_] = -z;
    }
    double* last = &inverse_[std::size_t(size_) * stride_];
    for (int i = 0; i < size_; ++i) last[i] = -column_[i] * over;
    last[size_] = over;
    ++size_;
  }

  /// Returns det(B without row and column q) / det B.
  double ratio_remove(int q) const { return inverse_[q + std::size_t(q) * stride_]; }

  /// Removes row and column q; the last ones take their place.
  void remove(int q) {
    const double over = 1 / ratio_remove(q);
    const double* out = &inverse_[std::size_t(q) * stride_];
    for (int i = 0; i < size_; ++i) column_[i] = out[i] * over;
    for (int j = 0; j < size_; ++j) {
      if (j == q) continue;
      double* b = &inverse_[std::size_t(j) * stride_];
      const double r = b[q];
      for (int i = 0; i < size_; ++i) b[i] -= column_[i] * r;
    }
    const int last = --size_;
    if (q == last) return;
    double* to = &inverse_[std::size_t(q) * stride_];
    const double* from = &inverse_[std::size_t(last) * stride_];
    for (int i = 0; i <= last; ++i) to[i] = from[i];
    for (int j = 0; j < last; ++j) {
      double* b = &inverse_[std::size_t(j) * stride_];
      b[q] = b[last];
    }
  }

 private:
  int size_ = 0, stride_ = 0;
  double pivot_ = 1;
  std::vector<double> inverse_, column_, row_;
};

}  // namespace plaq::linalg

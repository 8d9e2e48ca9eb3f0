// Cholesky's factorisation of small matrices.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

#include "plaq/base/error.hpp"

namespace plaq::pic {

/// Replaces the lower part of A [n, n] by that of L, A = L L^T, row by row. Throws where A is not positive definite.
inline void cholesky(std::vector<double>& a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i == j) check(sum > 0, "the matrix of potentials and charges of conductors is not positive definite");
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
}
/// Replaces x by the solution of L L^T y = x.
inline void solve_cholesky(const std::vector<double>& l, std::vector<double>& x) {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= l[i * n + k] * x[k];
    x[i] /= l[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    x[i] /= l[i * n + i];
    for (std::size_t k = 0; k < i; ++k) x[k] -= l[i * n + k] * x[i];
  }
}

}  // namespace plaq::pic

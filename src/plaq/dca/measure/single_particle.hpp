// Measurement of the single-particle function: M(R, i w) at given Matsubara frequencies.
#pragma once
#include <span>
#include <vector>

#include "plaq/dca/walk/sample.hpp"
#include "plaq/linalg/matrix.hpp"

namespace plaq::dca {

/// Measurement that sums s * M(R, i w), M(R, i w) = 1/2 sum_sigma sum_{pq: x_p - x_q = R} e^{i w (tau_p - tau_q)} M_pq.
/// Then G(K) = G0(K) - G0(K)^2 <s M(K)> / (beta Nc <s>), M(K) = sum_R e^{-iKR} M(R).
class single_particle {
 public:
  /// `odd[f]`: positive odd numbers n, w = n pi / beta; `difference[i * sites + j]`: index of R_i - R_j. Throws a
  /// runtime_failure for other numbers or another size.
  single_particle(double beta, int sites, std::vector<int> odd, std::vector<int> difference);

  void accumulate(const sample& s);

  /// Number of doubles that flush writes: sites x frequencies x (re, im).
  std::size_t size() const { return sum_.size(); }
  /// Adds the sums to `out` and restarts them from 0. Throws a runtime_failure where `out` has another size.
  void flush(std::span<double> out);

 private:
  double beta_;
  int sites_;
  std::vector<int> odd_, difference_;
  std::vector<double> sum_;  // [R][w][re, im]
  linalg::matrix<float> phase_, transformed_;
};

}  // namespace plaq::dca

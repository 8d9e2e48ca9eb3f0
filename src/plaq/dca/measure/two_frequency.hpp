// Single-particle function of one configuration between two momenta and two frequencies.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "plaq/dca/measure/cluster_transform.hpp"
#include "plaq/dca/momenta.hpp"
#include "plaq/dca/walk/sample.hpp"
#include "plaq/linalg/matrix.hpp"

namespace plaq::dca {

/// Function G_sigma(k, k') = G0(k) delta_kk' - G0(k) M_sigma(k, k') G0(k') / (beta Nc),  k = (K, w_n),
/// M(k, k') = sum_pq e^{i w tau_p - i K x_p} M_pq e^{-i w' tau_q + i K' x_q}.
/// Rows have 0 <= n < frequencies (w_n > 0) only: M_pq is real, so G(-k, -k') = G(k, k')*.
class two_frequency {
 public:
  /// `g0[K][n]`: bath function at w_n > 0, n = 0 ... frequencies - 1, in the convention G0(-k) = G0(k)*. Throws a
  /// runtime_failure for tables of other sizes.
  two_frequency(double beta, const momentum_tables& momenta, int frequencies, std::vector<std::complex<double>> g0);

  /// Function of one spin in blocks [K][K'] of F = `frequencies` rows and 2 F columns (n' = -F ... F-1), real and
  /// imaginary parts separate.
  struct planes {
    std::vector<float> re, im;
  };
  /// View of such a function, whole or with some rows only.
  struct view {
    view(const planes& p) : re(p.re.data()), im(p.im.data()) {}
    /// `starts[K][K']`: offset of row n = 0 of that block, which itself need not be stored.
    view(const float* re, const float* im, std::span<const std::ptrdiff_t> starts) : re(re), im(im), starts(starts) {}

    /// Offset of row n = 0 of a block of `size` numbers.
    std::ptrdiff_t start(std::size_t block, std::size_t size) const {
      return starts.empty() ? std::ptrdiff_t(block * size) : starts[block];
    }
    const float *re, *im;
    std::span<const std::ptrdiff_t> starts;
  };
  /// Computes the function of one spin.
  ///
  /// @pre prepare() was called for this sample.
  void evaluate(const sample& s, int side, planes& g);

  /// Computes the phases e^{i w tau} of a sample for both spins.
  void prepare(const sample& s);

  int frequencies() const { return frequencies_; }
  int sites() const { return momenta_.size; }
  std::size_t block() const { return std::size_t(2) * frequencies_ * frequencies_; }
  const momentum_tables& momenta() const { return momenta_; }

 private:
  void transform_times(const sample& s, const linalg::matrix<float>& m, planes& g);
  static void set_row(int f, const float* with_cos, const float* with_sin, float* re, float* im);
  void attach_g0(planes& g) const;

  double beta_;
  momentum_tables momenta_;
  int frequencies_;
  std::vector<std::complex<float>> g0_;
  planes both_signs_;  // g0 [K][n'], n' = -F ... F-1
  cluster_transform transform_;
  linalg::matrix<float> phase_, transformed_, parts_;
};

}  // namespace plaq::dca

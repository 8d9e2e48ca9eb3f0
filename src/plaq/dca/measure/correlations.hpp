// Measures density, double occupancy, and G, spin and charge correlations, at equal times and static.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "plaq/base/random.hpp"
#include "plaq/dca/walk/g0_table.hpp"
#include "plaq/dca/walk/sample.hpp"
#include "plaq/linalg/matrix.hpp"

namespace plaq::dca {

/// Evaluates the Green's function of a configuration at a few random times t_a,
///   g(ia, jb) = g0(ia, jb) + sum_pq g0(ia, p) M_pq g0(q, jb),   g = <c c+> at 0+,
/// and from it by Wick's theorem, with S^z = (n_up - n_down) / 2 and n = n_up + n_down:
///   pairs of one time:  <S^z_R S^z_0>, <n_R n_0>, and g(R) = 1/2 sum_sigma <c_R c+_0> itself
///   pairs of two times: int_0^beta dtau <S^z_R(tau) S^z_0(0)>, likewise for n (uniform random times).
/// Every sum carries the weight of the sample; the product of mean densities is not subtracted.
class correlations {
 public:
  static constexpr int times = 4;

  correlations(std::shared_ptr<const g0_table> g0, std::vector<int> difference, const stream_id& stream);

  void accumulate(const sample& s);

  /// density, double_occupancy (per site), spin, charge, static_spin, static_charge, equal_time of bin_layout.hpp.
  std::size_t size() const { return 2 + 5 * std::size_t(sites_); }
  void flush(std::span<double> out);

  void set_stream(const stream_id& stream) { stream_ = stream; }

  /// Of one configuration, per site and times its weight, mean over the times: n, n_up n_down, and the squares of the
  /// total S^z and of the total N, which no move of a single electron changes.
  struct totals {
    double density = 0, double_occupancy = 0, spin_square = 0, charge_square = 0;
  };
  /// Of the sample accumulated last.
  const totals& last() const { return last_; }

 private:
  std::shared_ptr<const g0_table> g0_;
  int sites_;
  std::vector<int> difference_;
  stream_id stream_;
  std::vector<double> sum_;
  totals last_;
  linalg::matrix<float> from_, to_, half_;  // k x (times * sites)
  linalg::matrix<float> change_;            // (times * sites)^2
  std::vector<double> g_[2];                // [ia][jb]
};

}  // namespace plaq::dca

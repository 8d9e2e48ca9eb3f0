// Measurements of density, double occupancy, and spin, charge and Green's function correlations.
#pragma once
#include <span>
#include <vector>

#include "plaq/dca/measure/green_at_times.hpp"

namespace plaq::dca::measures {

/// Measurement of one array of the bin by Wick's theorem, from the Green's function at random times.
///
/// Sums carry the weight of the sample; the product of mean densities is not subtracted.
class measurement {
 public:
  virtual ~measurement() = default;
  virtual void accumulate(const green_at_times& g, double weight) = 0;
  /// Adds the sums to `out` and restarts them from 0. Throws a runtime_failure where `out` has another size.
  void flush(std::span<double> out);

 protected:
  explicit measurement(int size) : sum_(std::size_t(size)) {}
  std::vector<double> sum_;
};

/// Measurement of n = n_up + n_down per site, mean over the times.
class density final : public measurement {
 public:
  density() : measurement(1) {}
  void accumulate(const green_at_times& g, double weight) override;
  /// Value of the last configuration, times its weight.
  double last() const { return last_; }

 private:
  double last_ = 0;
};

/// Measurement of n_up n_down per site, mean over the times.
class double_occupancy final : public measurement {
 public:
  double_occupancy() : measurement(1) {}
  void accumulate(const green_at_times& g, double weight) override;
  /// Value of the last configuration, times its weight.
  double last() const { return last_; }

 private:
  double last_ = 0;
};

/// Measurement of <S^z_R S^z_0> or <n_R n_0> at equal times.
template <two_point Operator>
class equal_time_correlation final : public measurement {
 public:
  explicit equal_time_correlation(int sites) : measurement(sites) {}
  void accumulate(const green_at_times& g, double weight) override;
  /// Square of the total S^z or N of the last configuration, per site and times its weight. No move of a single
  /// electron changes it.
  double last_square() const { return square_; }

 private:
  std::vector<double> terms_;  // of the last configuration
  double square_ = 0;
};

/// Measurement of int_0^beta dtau <S^z_R(tau) S^z_0(0)>, likewise for n, from pairs of different times.
template <two_point Operator>
class static_correlation final : public measurement {
 public:
  explicit static_correlation(int sites) : measurement(sites) {}
  void accumulate(const green_at_times& g, double weight) override;
};

/// Measurement of g(R) = 1/2 sum_sigma <c_R c+_0> at equal times.
class equal_time_green final : public measurement {
 public:
  explicit equal_time_green(int sites) : measurement(sites) {}
  void accumulate(const green_at_times& g, double weight) override;
};

}  // namespace plaq::dca::measures

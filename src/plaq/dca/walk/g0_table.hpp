// The bath Green's function of the auxiliary problem as piecewise polynomials in imaginary time.
#pragma once
#include <cstddef>
#include <vector>

namespace plaq::dca {

/// g_d(tau) = -G0(R = site difference d, tau) > 0 at tau = 0+, on 0 <= tau <= beta, antiperiodic beyond.
/// In CT-AUX paramagnetic and even in R, so one table serves both spins and both orders of the two sites. In CT-INT the
/// sites are flavours, and tables for a difference and its inverse differ.
class g0_table {
 public:
  /// Number of coefficients of a polynomial. The degree is high so that segments are few and the table fits into a fast
  /// cache; the coefficients of one segment fill one cache line.
  static constexpr int terms = 8;

  /// `coefficients[d][segment][terms]`: polynomial in the segment's own coordinate 0 <= x < 1, constant first.
  /// `difference[i * sites + j]`: index d of R_i - R_j.
  ///
  /// @pre beta, sites and segments are positive; difference has sites x sites entries, each with coefficients.
  g0_table(double beta, int sites, int segments, std::vector<double> coefficients, std::vector<int> difference);

  double beta() const { return beta_; }
  int sites() const { return sites_; }
  int segments() const { return segments_; }
  const std::vector<double>& coefficients() const { return coefficients_; }  ///< layout as in the constructor
  const std::vector<int>& difference() const { return difference_; }

  /// Returns g(tau_i - tau_j) between sites i and j. Equal times count as 0+: g = 1 - n on the diagonal.
  double operator()(int site_i, double tau_i, int site_j, double tau_j) const {
    const double tau = tau_i - tau_j;
    const double* c = &coefficients_[std::size_t(difference_[site_i * sites_ + site_j]) * stride_];
    return tau < 0 ? -value(c, tau + beta_) : value(c, tau);
  }

  /// Returns g(beta) = -g(0-), which is n on the diagonal.
  double before(int site_i, int site_j) const {
    return value(&coefficients_[std::size_t(difference_[site_i * sites_ + site_j]) * stride_], beta_);
  }

  /// Evaluates forward[i] = g(tau_i - tau) and backward[i] = g(tau - tau_i) for every i < count and one point (site,
  /// tau). Both take tau_i = tau as tau_i just after tau.
  ///
  /// @pre The tables of a difference and of its inverse are equal.
  template <class Real>
  void both_directions(int count, const int* sites, const double* taus, int site, double tau, Real* forward,
                       Real* backward) const;

  /// Evaluates out[i] = g from one point to many, `(*this)(sites[i], taus[i], site, tau)`, for every i < count.
  template <class Real>
  void to_points(int count, const int* sites, const double* taus, int site, double tau, Real* out) const;
  /// Evaluates out[i] = g from many points to one, `(*this)(site, tau, sites[i], taus[i])`, for every i < count.
  template <class Real>
  void from_points(int count, const int* sites, const double* taus, int site, double tau, Real* out) const;

 private:
  double value(const double* c, double tau) const {
    const double x = tau * scale_;
    const int i = x < segments_ ? int(x) : segments_ - 1;
    const double* p = c + terms * i;
    const double y = x - i;
    double sum = p[terms - 1];
    for (int n = terms - 2; n >= 0; --n) sum = sum * y + p[n];
    return sum;
  }
  template <bool To, class Real>
  void one_direction(int count, const int* sites, const double* taus, int site, double tau, Real* out) const;

  double beta_, scale_;
  int sites_, segments_;
  std::size_t stride_;
  std::vector<double> coefficients_;
  std::vector<int> difference_;
};

}  // namespace plaq::dca

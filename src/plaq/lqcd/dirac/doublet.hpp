// Operator of two flavours of twisted mass with different masses, such as strange and charm.
#pragma once
#include <concepts>
#include <memory>
#include <optional>

#include "plaq/lqcd/dirac/linear_operator.hpp"
#include "plaq/lqcd/dirac/wilson.hpp"
#include "plaq/lqcd/lattice/flavours.hpp"

namespace plaq::lqcd {

/// Parameters of a doublet, in lattice units.
struct doublet_parameters {
  double kappa = 0.125;
  double mu = 0;       ///< mean mass, twisted
  double epsilon = 0;  ///< half the difference of the masses
  angles theta{0, 0, 0, 0};
  double csw = 0;            ///< of the clover term
  bool exponential = false;  ///< form of the clover term
  bool open = false;         ///< boundaries in time
  double cF = 1;             ///< at open boundaries

  clover_shape shape() const { return {kappa, csw, exponential, open, cF}; }
};

/// Linear operator M = A - kappa H with A = h + 2 i kappa mu gamma_5 tau_3 + 2 kappa epsilon tau_1 (Frezzotti and
/// Rossi, hep-lat/0311008) and the Hermitian h = 1 or the clover term (clover.hpp), M^+ = gamma_5 tau_1 M gamma_5
/// tau_1. With epsilon = 0 it is wilson with mu and with -mu. Even-odd preconditioned as wilson is, by
///   A^-1 = (h - 2 i kappa mu gamma_5 tau_3 - 2 kappa epsilon tau_1) / (h^2 + (2 kappa mu)^2 - (2 kappa epsilon)^2).
/// Collective; one call at a time.
template <class T>
class doublet {
 public:
  using vector = flavours<T>;

  /// Copies the links. input_error if A has no inverse, and as check_lanes().
  doublet(context& ctx, const links<double>& gauge, const doublet_parameters& p,
          std::shared_ptr<const site_layout> layout);

  /// Computes out = M in or M^+ in, on all sites; not in place.
  void apply(vector& out, const vector& in, bool dagger = false);
  /// Computes out = M^ in or M^^+ in, on odd sites, with M^ = A - kappa^2 H_oe A^-1 H_eo.
  void apply_odd(vector& out, const vector& in, bool dagger = false);
  /// Computes the even sites of the solution from its odd ones: psi_e = A^-1 (eta_e + kappa H_eo psi_o).
  void complete(vector& psi, const vector& eta);

  /// Computes m such that with U -> exp(e_a T_a) U of `gauge`, the links of this operator, the real part of Y^+ M^ X of
  /// fields on odd sites changes by -kappa Re tr(e_a T_a m).
  void derivative(links<double>& m, const links<double>& gauge, const vector& X, const vector& Y)
    requires std::same_as<T, double>;
  /// Sum over even sites of log |det A| over both flavours, zero without clover term.
  double log_det_even() const { return clover_ ? clover_->log_det : 0; }
  /// Computes m such that log_det_even() changes by -kappa Re tr(e_a T_a m).
  void log_det_derivative(links<double>& m, const links<double>& gauge)
    requires std::same_as<T, double>;

  const std::shared_ptr<const site_layout>& layout() const { return layout_; }
  context& ctx() const { return H_.ctx(); }
  vector zero(sites subset) const { return {spinors<T>(layout_, subset), spinors<T>(layout_, subset)}; }

 private:
  /// Returns 1 +- 2 i kappa mu gamma_5 for the upper or the lower flavour.
  chiral<T> A(bool up, bool dagger) const;
  /// Computes x = A^-1 x, on even sites.
  void apply_inverse_A(vector& x, bool dagger);
  /// Adds A in to out on a parity.
  void add_A(vector& out, const vector& in, int parity, bool dagger);
  /// Number 2 kappa mu of the upper or the lower flavour, in A or in A^+.
  double twist(bool up, bool dagger) const { return (up != dagger ? 2 : -2) * p_.kappa * p_.mu; }

  doublet_parameters p_;
  std::shared_ptr<const site_layout> layout_;
  hopping<T> H_;
  vector even_;
  struct clover {
    chiral_blocks<T> h, inverse;  ///< on all sites, and 1 / (h^2 + ...) on even ones
    double log_det;
  };
  std::optional<clover> clover_;
};

static_assert(linear_operator<doublet<double>>);
extern template class doublet<double>;
extern template class doublet<float>;

}  // namespace plaq::lqcd

// Operator of two flavours of twisted mass with different masses, such as strange and charm.
#pragma once
#include <concepts>
#include <memory>

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
};

/// Linear operator M = A - kappa H with A = 1 + 2 i kappa mu gamma_5 tau_3 + 2 kappa epsilon tau_1 (Frezzotti and
/// Rossi, hep-lat/0311008), M^+ = gamma_5 tau_1 M gamma_5 tau_1. With epsilon = 0 it is wilson with mu and with -mu.
/// Even-odd preconditioned as wilson is, by
///   A^-1 = (1 - 2 i kappa mu gamma_5 tau_3 - 2 kappa epsilon tau_1) / (1 + (2 kappa mu)^2 - (2 kappa epsilon)^2).
/// Without clover term. Collective; one call at a time.
template <class T>
class doublet {
 public:
  using vector = flavours<T>;

  /// Copies the links. input_error if A has no inverse.
  doublet(context& ctx, const links<double>& gauge, const doublet_parameters& p,
          std::shared_ptr<const site_layout> layout);

  /// Computes out = M in or M^+ in, on all sites; not in place.
  void apply(vector& out, const vector& in, bool dagger = false);
  /// Computes out = M^ in or M^^+ in, on odd sites, with M^ = A - kappa^2 H_oe A^-1 H_eo.
  void apply_odd(vector& out, const vector& in, bool dagger = false);
  /// Computes the even sites of the solution from its odd ones: psi_e = A^-1 (eta_e + kappa H_eo psi_o).
  void complete(vector& psi, const vector& eta);

  /// Computes m such that with U -> exp(e_a T_a) U of this operator's links the real part of Y^+ M^ X of fields on odd
  /// sites changes by -kappa Re tr(e_a T_a m).
  void derivative(links<double>& m, const vector& X, const vector& Y)
    requires std::same_as<T, double>;

  const std::shared_ptr<const site_layout>& layout() const { return layout_; }
  context& ctx() const { return H_.ctx(); }
  vector zero(sites subset) const { return {spinors<T>(layout_, subset), spinors<T>(layout_, subset)}; }

 private:
  /// Returns 1 +- 2 i kappa mu gamma_5 for the upper or the lower flavour.
  chiral<T> A(bool up, bool dagger) const;
  /// Computes x = A^-1 x, on even sites.
  void apply_inverse_A(vector& x, bool dagger);

  doublet_parameters p_;
  std::shared_ptr<const site_layout> layout_;
  hopping<T> H_;
  vector even_;
};

static_assert(linear_operator<doublet<double>>);
extern template class doublet<double>;
extern template class doublet<float>;

}  // namespace plaq::lqcd

// Two flavours of twisted mass with different masses, such as strange and charm.
#pragma once
#include <concepts>
#include <memory>
#include <vector>

#include "plaq/lqcd/flavours.hpp"
#include "plaq/lqcd/solver.hpp"
#include "plaq/lqcd/wilson.hpp"

namespace plaq::lqcd {

struct doublet_parameters {
  double kappa = 0.125;
  double mu = 0;       ///< the mean mass, twisted
  double epsilon = 0;  ///< half of what the masses differ by
  angles theta{0, 0, 0, 0};
};

/// M = A - kappa H with A = 1 + 2 i kappa mu gamma_5 tau_3 + 2 kappa epsilon tau_1 (Frezzotti and Rossi,
/// hep-lat/0311008), M^+ = gamma_5 tau_1 M gamma_5 tau_1. With epsilon = 0 it is wilson with mu and with -mu.
/// Even-odd preconditioned as wilson is, by
///   A^-1 = (1 - 2 i kappa mu gamma_5 tau_3 - 2 kappa epsilon tau_1) / (1 + (2 kappa mu)^2 - (2 kappa epsilon)^2).
/// Without clover term. Collective; one call at a time.
template <class T>
class doublet {
 public:
  /// input_error where A has no inverse.
  doublet(engine& by, const links<double>& gauge, const doublet_parameters& p, std::shared_ptr<const layout> where);

  /// out = M in or M^+ in, on all sites; not in place.
  void apply(flavours<T>& out, const flavours<T>& in, bool dagger = false);
  /// out = M^ in or M^^+ in, on odd sites, with M^ = A - kappa^2 H_oe A^-1 H_eo.
  void apply_odd(flavours<T>& out, const flavours<T>& in, bool dagger = false);

  /// M psi = eta by conjugate gradient on M^^+ M^ in double precision, as solver::solve.
  solver_result solve(flavours<double>& psi, const flavours<double>& eta, const solver_options& how)
    requires std::same_as<T, double>;
  /// (M^^+ M^ + shift) x = phi on odd sites for several shifts, as solver::solve_shifted.
  solver_result solve_shifted(std::vector<flavours<double>>& x, const flavours<double>& phi,
                              const std::vector<double>& shifts, const solver_options& how)
    requires std::same_as<T, double>;

  /// m such that with U -> exp(e_a T_a) U of the links that the matrix was made of the real part of Y^+ M^ X, fields
  /// on odd sites, changes by -kappa Re tr(e_a T_a m).
  void derivative(links<double>& m, const flavours<double>& X, const flavours<double>& Y)
    requires std::same_as<T, double>;

  const std::shared_ptr<const layout>& where() const { return where_; }

 private:
  /// 1 +- 2 i kappa mu gamma_5 for the upper and the lower flavour.
  chiral<T> A(bool up, bool dagger) const;
  /// x = A^-1 x, on even sites.
  void divide(flavours<T>& x, bool dagger);

  doublet_parameters p_;
  engine& by_;
  std::shared_ptr<const layout> where_;
  hopping<T> H_;
  flavours<T> even_;
};

extern template class doublet<double>;
extern template class doublet<float>;

}  // namespace plaq::lqcd

// Wilson and twisted-mass fermions, with and without clover term.
#pragma once
#include <array>
#include <concepts>
#include <optional>

#include "plaq/lqcd/clover.hpp"
#include "plaq/lqcd/hopping.hpp"
#include "plaq/lqcd/linear.hpp"

namespace plaq::lqcd {

/// theta_mu: psi(x + L_mu) = exp(i pi theta_mu) psi(x); 1 is antiperiodic.
using angles = std::array<double, 4>;

/// The links in this precision and layout, with the phases exp(i pi theta_mu / L_mu) of the boundary conditions;
/// and the determinants that links in each direction have then.
template <class T>
links<T> with_phases(const links<double>& gauge, const angles& theta, const std::shared_ptr<const layout>& where);
template <class T>
std::array<std::complex<T>, 4> determinants(const angles& theta, const coordinates& extents);

/// kappa = 1 / (2 m + 8); mu is that of tau_3 = +1 where it is positive. In lattice units.
struct wilson_parameters {
  double kappa = 0.125;
  double mu = 0;
  angles theta{0, 0, 0, 0};
  double csw = 0;  ///< of the clover term
};

/// M = A - kappa H, A = 1 + 2 i kappa mu gamma_5 (Frezzotti and Rossi, hep-lat/0306014) and the clover term
/// (clover.hpp), with M^+ = gamma_5 M(-mu) gamma_5. With the sites ordered by parity M psi = eta is solved by
///   M^ psi_o = eta_o + kappa H_oe A^-1 eta_e,  M^ = A - kappa^2 H_oe A^-1 H_eo,  psi_e = A^-1 (eta_e + kappa H_eo
///   psi_o).
/// Collective; one call at a time. S is what links are stored as (near_links).
template <class T, class S = T>
class wilson {
 public:
  /// Takes a copy of the links, in this precision and layout, with the phases of the boundary conditions on each.
  wilson(engine& by, const links<double>& gauge, const wilson_parameters& p, std::shared_ptr<const layout> where)
    requires std::same_as<T, S>;
  /// The same matrix in this precision, storage and layout.
  wilson(const wilson<double>& of, std::shared_ptr<const layout> where);

  /// out = M in or M^+ in, on all sites; not in place.
  void apply(spinors<T>& out, const spinors<T>& in, bool dagger = false);
  /// out = M^ in or M^^+ in, on odd sites, of M^ + i twist gamma_5.
  void apply_odd(spinors<T>& out, const spinors<T>& in, bool dagger = false, double twist = 0);
  /// m such that with U -> exp(e_a T_a) U of `gauge`, which the matrix was made of, the real part of Y^+ M^ X,
  /// fields on odd sites, changes by -kappa Re tr(e_a T_a m).
  void derivative(links<double>& m, const links<double>& gauge, const spinors<double>& X, const spinors<double>& Y)
    requires std::same_as<T, double>;
  /// The sum over even sites of log |det A|, zero without clover term; and m such that it changes by
  /// -kappa Re tr(e_a T_a m).
  double log_det_even() const { return clover_ ? clover_->even.log_det : 0; }
  void log_det_derivative(links<double>& m, const links<double>& gauge)
    requires std::same_as<T, double>;
  /// The right-hand side on odd sites, and the even sites of the solution from its odd ones.
  void prepare(spinors<T>& odd, const spinors<T>& eta);
  void complete(spinors<T>& psi, const spinors<T>& eta);

  /// Its parts at a site of this rank: the link with its phase, and A's block of a chirality where it has a clover
  /// term.
  std::array<std::complex<T>, 9> link(layout::place at, int mu) const
    requires std::same_as<T, S>
  {
    return H_.link(at, mu);
  }
  bool has_clover() const { return clover_.has_value(); }
  six_by_six<T> clover_block(layout::place at, int chirality) const {
    auto a = get_block(clover_->H, at, chirality);
    for (int i = 0; i < 6; ++i) a[7 * i] += std::complex<T>(0, chirality ? -twist() : twist());
    return a;
  }

  const wilson_parameters& parameters() const { return p_; }
  const std::shared_ptr<const layout>& where() const { return where_; }
  engine& by() { return H_.by(); }

 private:
  template <class, class>
  friend class wilson;
  chiral<T> A(bool dagger = false) const;
  chiral<T> inverse_A(bool dagger = false) const;
  T twist() const { return T(2 * p_.kappa * p_.mu); }
  /// With the clover term: out += A in on a parity, and out = A^-1 in on even sites.
  void add_A(spinors<T>& out, const spinors<T>& in, int parity, bool dagger);
  void apply_inverse_A(spinors<T>& out, const spinors<T>& in, bool dagger);
  void multiply(spinors<T>& out, std::span<const chiral_factor<T>> factors, const spinors<T>& in, int parity, bool add);

  wilson_parameters p_;
  std::shared_ptr<const layout> where_;
  hopping<T, S> H_;
  spinors<T> even_;
  struct clover {
    chiral_blocks<T> H;
    struct {
      chiral_blocks<T> inverse;
      double log_det;
    } even;
  };
  std::optional<clover> clover_;
};

extern template class wilson<double>;
extern template class wilson<float>;
extern template class wilson<float, fixed16>;

}  // namespace plaq::lqcd

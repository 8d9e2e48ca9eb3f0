// Operator of Wilson and twisted-mass fermions, with and without clover term.
#pragma once
#include <array>
#include <concepts>
#include <optional>

#include "plaq/lqcd/dirac/clover.hpp"
#include "plaq/lqcd/dirac/hopping.hpp"
#include "plaq/lqcd/dirac/linear_operator.hpp"
#include "plaq/lqcd/lattice/linear.hpp"

namespace plaq::lqcd {

/// Angles theta_mu of boundary conditions psi(x + L_mu) = exp(i pi theta_mu) psi(x); 1 is antiperiodic.
using angles = std::array<double, 4>;

/// Returns the links. input_error if their layout has more lanes than the kernels of double precision.
const links<double>& check_lanes(const links<double>& gauge);

/// Returns the links in this precision and layout, multiplied by the phases exp(i pi theta_mu / L_mu) of the boundary
/// conditions, and the determinants of such links in each direction. With `open` boundaries in time, links from and to
/// the first and the last slice, and the `spare` ones behind it, are zero: quarks live between them.
template <class T>
links<T> apply_phases(const links<double>& gauge, const angles& theta, const std::shared_ptr<const site_layout>& layout,
                      bool open = false, int spare = 0);
template <class T>
std::array<std::complex<T>, 4> phase_determinants(const angles& theta, const coordinates& extents);

/// Parameters kappa = 1 / (2 m + 8) and mu, which is that of tau_3 = +1 if positive, in lattice units.
struct wilson_parameters {
  double kappa = 0.125;
  double mu = 0;
  angles theta{0, 0, 0, 0};
  double csw = 0;            ///< of the clover term
  bool exponential = false;  ///< form of the clover term
  bool open = false;         ///< boundaries in time
  double cF = 1;             ///< at open boundaries
  int spare = 0;             ///< slices behind the last one

  clover_shape shape() const { return {kappa, csw, exponential, open, cF, spare}; }
};

/// Linear operator M = A - kappa H, A = 1 + 2 i kappa mu gamma_5 (Frezzotti and Rossi, hep-lat/0306014) and the clover
/// term (clover.hpp), with M^+ = gamma_5 M(-mu) gamma_5. With the sites ordered by parity M psi = eta is solved by
///   M^ psi_o = eta_o + kappa H_oe A^-1 eta_e,  M^ = A - kappa^2 H_oe A^-1 H_eo,  psi_e = A^-1 (eta_e + kappa H_eo
///   psi_o).
/// Collective; one call at a time. S is the storage type of links (near_links).
template <class T, class S = T>
class wilson {
 public:
  using vector = spinors<T>;
  using single = wilson<float>;         ///< for the steps of solvers
  using half = wilson<float, fixed16>;  ///< for the steps of solvers

  /// Copies the links, in this precision and layout, with the phases of the boundary conditions on each. input_error as
  /// check_lanes().
  wilson(context& ctx, const links<double>& gauge, const wilson_parameters& p,
         std::shared_ptr<const site_layout> layout)
    requires std::same_as<T, S>;
  /// Converts the operator to this precision, storage and layout.
  wilson(const wilson<double>& other, std::shared_ptr<const site_layout> layout);

  /// Computes out = M in or M^+ in, on all sites; not in place.
  void apply(spinors<T>& out, const spinors<T>& in, bool dagger = false);
  /// Computes out = (M^ + i twist gamma_5) in, or its adjoint, on odd sites.
  void apply_odd(spinors<T>& out, const spinors<T>& in, bool dagger = false, double twist = 0);
  /// Computes m such that with U -> exp(e_a T_a) U of `gauge`, the links of this operator, the real part of Y^+ M^ X of
  /// fields on odd sites changes by -kappa Re tr(e_a T_a m).
  void derivative(links<double>& m, const links<double>& gauge, const spinors<double>& X, const spinors<double>& Y)
    requires std::same_as<T, double>;
  /// Sum over even sites of log |det A|, zero without clover term.
  double log_det_even() const { return clover_ ? clover_->even.log_det : 0; }
  /// Computes m such that log_det_even() changes by -kappa Re tr(e_a T_a m).
  void log_det_derivative(links<double>& m, const links<double>& gauge)
    requires std::same_as<T, double>;
  /// Computes the right-hand side on odd sites.
  void prepare(spinors<T>& odd, const spinors<T>& eta);
  /// Computes the even sites of the solution from its odd ones.
  void complete(spinors<T>& psi, const spinors<T>& eta);

  /// Link at a site of this rank, with its phase.
  std::array<std::complex<T>, 9> link(site_layout::location at, int mu) const
    requires std::same_as<T, S>
  {
    return H_.link(at, mu);
  }
  /// Whether there is a clover term, and A's block of a chirality if so.
  bool has_clover() const { return clover_.has_value(); }
  six_by_six<T> clover_block(site_layout::location at, int chirality) const {
    auto a = get_block(clover_->H, at, chirality);
    for (int i = 0; i < 6; ++i) a[7 * i] += std::complex<T>(0, chirality ? -twist() : twist());
    return a;
  }

  const wilson_parameters& parameters() const { return p_; }
  const std::shared_ptr<const site_layout>& layout() const { return layout_; }
  context& ctx() const { return H_.ctx(); }
  vector zero(sites subset) const { return vector(layout_, subset); }

 private:
  template <class, class>
  friend class wilson;
  chiral<T> A(bool dagger = false) const;
  chiral<T> inverse_A(bool dagger = false) const;
  T twist() const { return T(2 * p_.kappa * p_.mu); }
  /// Computes out += A in on a parity, and out = A^-1 in on even sites, with the clover term.
  void add_A(spinors<T>& out, const spinors<T>& in, int parity, bool dagger);
  void apply_inverse_A(spinors<T>& out, const spinors<T>& in, bool dagger);

  wilson_parameters p_;
  std::shared_ptr<const site_layout> layout_;
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

static_assert(mixed_precision_operator<wilson<double>>);
extern template class wilson<double>;
extern template class wilson<float>;
extern template class wilson<float, fixed16>;

}  // namespace plaq::lqcd

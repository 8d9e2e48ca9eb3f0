#include "plaq/lqcd/dirac/wilson.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/linear_kernel.hpp"

namespace plaq::lqcd {

const links<double>& check_lanes(const links<double>& gauge) {
  if (gauge.lanes() <= max_lanes<double>()) return gauge;
  throw input_error("links in double precision have at most " + std::to_string(max_lanes<double>()) +
                    " lanes on this processor, not " + std::to_string(gauge.lanes()) +
                    ": operators in single precision take them in a layout of their own");
}

template <class T>
links<T> apply_phases(const links<double>& gauge, const angles& theta, const std::shared_ptr<const site_layout>& layout,
                      bool open, int spare) {
  links<T> out(layout);
  const int last = layout->lattice().extents[0] - 1 - spare, origin = layout->lattice().origin()[0];
  std::array<std::complex<double>, 4> phase;
  for (int mu = 0; mu < 4; ++mu)
    phase[mu] = std::polar(1.0, std::numbers::pi * theta[mu] / layout->lattice().extents[mu]);
  for_each_site(*layout, [&](const coordinates& x, site_layout::location to) {
    const auto from = gauge.layout().locate(x);
    const int t = x[0] + origin;
    if (open && (t == 0 || t >= last)) return;
    for (int i = open && t == last - 1 ? 9 : 0; i < 36; ++i)
      out.set(to, i, std::complex<T>(phase[i / 9] * gauge.get(from, i)));
  });
  return out;
}

template <class T>
std::array<std::complex<T>, 4> phase_determinants(const angles& theta, const coordinates& extents) {
  std::array<std::complex<T>, 4> phases;
  for (int mu = 0; mu < 4; ++mu)
    phases[mu] = std::complex<T>(std::polar(1.0, 3 * std::numbers::pi * theta[mu] / extents[mu]));
  return phases;
}

template <class T, class S>
wilson<T, S>::wilson(context& ctx, const links<double>& gauge, const wilson_parameters& p,
                     std::shared_ptr<const site_layout> layout)
  requires std::same_as<T, S>
    : p_(p),
      layout_(std::move(layout)),
      H_(ctx, apply_phases<T>(check_lanes(gauge), p.theta, layout_, p.open, p.spare),
         phase_determinants<T>(p.theta, layout_->lattice().extents)),
      even_(layout_, sites::even) {
  if (p.shape().is_one()) return;
  const auto blocks = clover_term(ctx, gauge, p.shape());
  const auto even = invert_on_even_sites(ctx, blocks, 2 * p.kappa * p.mu);
  clover_.emplace(clover{convert_blocks<T>(blocks, layout_), {convert_blocks<T>(even.inverse, layout_), even.log_det}});
}

template <class T, class S>
wilson<T, S>::wilson(const wilson<double>& other, std::shared_ptr<const site_layout> layout)
    : p_(other.p_), layout_(std::move(layout)), H_(other.H_, layout_), even_(layout_, sites::even) {
  if (!other.clover_) return;
  const auto& c = *other.clover_;
  clover_.emplace(
      clover{convert_blocks<T>(c.H, layout_), {convert_blocks<T>(c.even.inverse, layout_), c.even.log_det}});
}

template <class T, class S>
chiral<T> wilson<T, S>::A(bool dagger) const {
  const auto a = chiral<T>(T(1), T(2 * p_.kappa * p_.mu));
  return dagger ? std::conj(a) : a;
}

template <class T, class S>
chiral<T> wilson<T, S>::inverse_A(bool dagger) const {
  return chiral<T>(1) / A(dagger);
}

template <class T, class S>
void wilson<T, S>::add_A(spinors<T>& out, const spinors<T>& in, int parity, bool dagger) {
  const chiral_factor<T> A{clover_->H.of(parity), dagger ? -twist() : twist()};
  multiply_blocks(H_.ctx(), out, std::span(&A, 1), in, parity, true);
}

template <class T, class S>
void wilson<T, S>::apply_inverse_A(spinors<T>& out, const spinors<T>& in, bool dagger) {
  const chiral_factor<T> factors[] = {{clover_->even.inverse.of(0), 0},
                                      {clover_->H.of(0), dagger ? twist() : -twist()}};
  multiply_blocks(H_.ctx(), out, std::span(factors).first(twist() == 0 ? 1 : 2), in, 0);
}

template <class T, class S>
void wilson<T, S>::apply(spinors<T>& out, const spinors<T>& in, bool dagger) {
  for (const int p : {0, 1}) {
    if (clover_) {
      H_(out, in, p, {dagger, T(-p_.kappa), nullptr, {}});
      add_A(out, in, p, dagger);
    } else {
      H_(out, in, p, {dagger, T(-p_.kappa), &in, A(dagger)});
    }
  }
}

template <class T, class S>
void wilson<T, S>::apply_odd(spinors<T>& out, const spinors<T>& in, bool dagger, double twist) {
  const auto shift = chiral<T>(0, T(dagger ? -twist : twist));
  const T factor(-p_.kappa * p_.kappa);
  if (clover_) {
    H_(even_, in, 0, {dagger, T(1), nullptr, {}});
    apply_inverse_A(even_, even_, dagger);
    H_(out, even_, 1, {dagger, factor, twist == 0 ? nullptr : &in, shift});
    add_A(out, in, 1, dagger);
  } else {
    H_(even_, in, 0, {dagger, inverse_A(dagger), nullptr, {}});
    H_(out, even_, 1, {dagger, factor, &in, A(dagger) + shift});
  }
}

template <class T, class S>
void wilson<T, S>::derivative(links<double>& m, const links<double>& gauge, const spinors<double>& X,
                              const spinors<double>& Y)
  requires std::same_as<T, double>
{
  // With X_e = kappa A^-1 H_eo X_o and Y_e = kappa A^-1+ (H^+)_eo Y_o all terms of the derivative are those of A -
  // kappa H.
  const auto extend = [&](const spinors<double>& odd, bool dagger) {
    spinors<double> out(layout_);
    std::copy_n(odd.of(1), out.size() / 2, out.of(1));
    H_(out, odd, 0, {dagger, p_.kappa * (clover_ ? chiral<double>(1) : inverse_A(dagger)), nullptr, {}});
    if (clover_) apply_inverse_A(out, out, dagger);
    return out;
  };
  const auto right = extend(X, false), left = extend(Y, true);
  H_.derivative(m, right, left);
  if (p_.csw != 0)
    add_tensor_derivative(H_.ctx(), m, gauge, tensor_of(H_.ctx(), gauge, p_.shape(), right, left), p_.csw);
}

template <class T, class S>
void wilson<T, S>::log_det_derivative(links<double>& m, const links<double>& gauge)
  requires std::same_as<T, double>
{
  std::fill_n(m.data(), m.size(), 0.0);
  if (p_.csw != 0)
    add_tensor_derivative(H_.ctx(), m, gauge,
                          tensor_of(H_.ctx(), gauge, p_.shape(), clover_->H, clover_->even.inverse, twist() != 0),
                          p_.csw);
}

template <class T, class S>
void wilson<T, S>::prepare(spinors<T>& odd, const spinors<T>& eta) {
  if (clover_) {
    apply_inverse_A(even_, eta, false);
  } else {
    H_.ctx().workers.parallel_for("prepare", std::size_t(even_.groups()), [&](std::size_t first, std::size_t end) {
      const term<T> from{eta.of(0), inverse_A(), std::conj(inverse_A())};
      combine<T>(even_.lanes(), first, end, even_.data(), std::span(&from, 1), nullptr);
    });
  }
  H_(odd, even_, 1, {false, T(p_.kappa), &eta, T(1)});
}

template <class T, class S>
void wilson<T, S>::complete(spinors<T>& psi, const spinors<T>& eta) {
  const auto inverse = clover_ ? chiral<T>(1) : inverse_A();
  H_(psi, psi, 0, {false, T(p_.kappa) * inverse, &eta, inverse});
  if (clover_) apply_inverse_A(psi, psi, false);
}

template links<double> apply_phases(const links<double>&, const angles&, const std::shared_ptr<const site_layout>&,
                                    bool, int);
template links<float> apply_phases(const links<double>&, const angles&, const std::shared_ptr<const site_layout>&, bool,
                                   int);
template std::array<std::complex<double>, 4> phase_determinants(const angles&, const coordinates&);
template std::array<std::complex<float>, 4> phase_determinants(const angles&, const coordinates&);
template class wilson<double>;
template class wilson<float>;
template class wilson<float, fixed16>;

}  // namespace plaq::lqcd

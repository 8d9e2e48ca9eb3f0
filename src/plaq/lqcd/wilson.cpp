#include "plaq/lqcd/wilson.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "plaq/lqcd/linear_kernel.hpp"

namespace plaq::lqcd {

template <class T>
links<T> with_phases(const links<double>& gauge, const angles& theta, const std::shared_ptr<const layout>& where) {
  links<T> out(where);
  std::array<std::complex<double>, 4> phase;
  for (int mu = 0; mu < 4; ++mu) phase[mu] = std::polar(1.0, std::numbers::pi * theta[mu] / where->on().extents[mu]);
  each_site(*where, [&](const coordinates& x, layout::place to) {
    const auto from = gauge.where().where(x);
    for (int i = 0; i < 36; ++i) out.set(to, i, std::complex<T>(phase[i / 9] * gauge.get(from, i)));
  });
  return out;
}

template <class T>
std::array<std::complex<T>, 4> determinants(const angles& theta, const coordinates& extents) {
  std::array<std::complex<T>, 4> found;
  for (int mu = 0; mu < 4; ++mu)
    found[mu] = std::complex<T>(std::polar(1.0, 3 * std::numbers::pi * theta[mu] / extents[mu]));
  return found;
}

namespace {

template <class T>
chiral_blocks<T> in_layout(const chiral_blocks<double>& from, const std::shared_ptr<const layout>& where) {
  chiral_blocks<T> to(where, from.which());
  copy(from, to);
  return to;
}

}  // namespace

template <class T, class S>
wilson<T, S>::wilson(engine& by, const links<double>& gauge, const wilson_parameters& p,
                     std::shared_ptr<const layout> where)
  requires std::same_as<T, S>
    : p_(p),
      where_(std::move(where)),
      H_(by, with_phases<T>(gauge, p.theta, where_), determinants<T>(p.theta, where_->on().extents)),
      even_(where_, sites::even) {
  if (p.csw == 0) return;
  const auto blocks = clover_term(by, gauge, p.kappa * p.csw);
  const auto even = inverted(by, blocks, 2 * p.kappa * p.mu);
  clover_.emplace(clover{in_layout<T>(blocks, where_), {in_layout<T>(even.inverse, where_), even.log_det}});
}

template <class T, class S>
wilson<T, S>::wilson(const wilson<double>& of, std::shared_ptr<const layout> where)
    : p_(of.p_), where_(std::move(where)), H_(of.H_, where_), even_(where_, sites::even) {
  if (!of.clover_) return;
  const auto& c = *of.clover_;
  clover_.emplace(clover{in_layout<T>(c.H, where_), {in_layout<T>(c.even.inverse, where_), c.even.log_det}});
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
void wilson<T, S>::multiply(spinors<T>& out, std::span<const chiral_factor<T>> factors, const spinors<T>& in,
                            int parity, bool add) {
  H_.by().hands.each("clover", std::size_t(where_->half()), [&](std::size_t first, std::size_t end) {
    multiply_blocks(out.lanes(), first, end, out.of(parity), factors, in.of(parity), add);
  });
}

template <class T, class S>
void wilson<T, S>::add_A(spinors<T>& out, const spinors<T>& in, int parity, bool dagger) {
  const chiral_factor<T> A{clover_->H.of(parity), dagger ? -twist() : twist()};
  multiply(out, std::span(&A, 1), in, parity, true);
}

template <class T, class S>
void wilson<T, S>::apply_inverse_A(spinors<T>& out, const spinors<T>& in, bool dagger) {
  const chiral_factor<T> factors[] = {{clover_->even.inverse.of(0), 0},
                                      {clover_->H.of(0), dagger ? twist() : -twist()}};
  multiply(out, std::span(factors).first(twist() == 0 ? 1 : 2), in, 0, false);
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
  const auto whole = [&](const spinors<double>& odd, bool dagger) {
    spinors<double> out(where_);
    std::copy_n(odd.of(1), out.size() / 2, out.of(1));
    H_(out, odd, 0, {dagger, p_.kappa * (clover_ ? chiral<double>(1) : inverse_A(dagger)), nullptr, {}});
    if (clover_) apply_inverse_A(out, out, dagger);
    return out;
  };
  const auto right = whole(X, false), left = whole(Y, true);
  H_.derivative(m, right, left);
  if (clover_) add_tensor_derivative(H_.by(), m, gauge, tensor_of(H_.by(), right, left), p_.csw);
}

template <class T, class S>
void wilson<T, S>::log_det_derivative(links<double>& m, const links<double>& gauge)
  requires std::same_as<T, double>
{
  std::fill_n(m.data(), m.size(), 0.0);
  if (clover_)
    add_tensor_derivative(H_.by(), m, gauge, tensor_of(H_.by(), clover_->H, clover_->even.inverse, twist()), p_.csw);
}

template <class T, class S>
void wilson<T, S>::prepare(spinors<T>& odd, const spinors<T>& eta) {
  if (clover_) {
    apply_inverse_A(even_, eta, false);
  } else {
    H_.by().hands.each("prepare", std::size_t(even_.blocks()), [&](std::size_t first, std::size_t end) {
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

template links<double> with_phases(const links<double>&, const angles&, const std::shared_ptr<const layout>&);
template links<float> with_phases(const links<double>&, const angles&, const std::shared_ptr<const layout>&);
template std::array<std::complex<double>, 4> determinants(const angles&, const coordinates&);
template std::array<std::complex<float>, 4> determinants(const angles&, const coordinates&);
template class wilson<double>;
template class wilson<float>;
template class wilson<float, fixed16>;

}  // namespace plaq::lqcd

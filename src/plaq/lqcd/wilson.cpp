#include "plaq/lqcd/wilson.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "plaq/lqcd/linear_kernel.hpp"

namespace plaq::lqcd {

namespace {

template <class T>
links<T> with_phases(const links<double>& gauge, const angles& theta, const std::shared_ptr<const layout>& where) {
  links<T> out(where);
  std::array<std::complex<double>, 4> phase;
  for (int mu = 0; mu < 4; ++mu)
    phase[mu] = std::polar(1.0, std::numbers::pi * theta[mu] / where->on().extents[mu]);
  each_site(*where, [&](const coordinates& x, layout::place to) {
    const auto from = gauge.where().where(x);
    for (int i = 0; i < 36; ++i) out.set(to, i, std::complex<T>(phase[i / 9] * gauge.get(from, i)));
  });
  return out;
}

}  // namespace

template <class T>
wilson<T>::wilson(engine& by, const links<double>& gauge, const wilson_parameters& p,
                  std::shared_ptr<const layout> where)
    : p_(p),
      where_(std::move(where)),
      H_(by, with_phases<T>(gauge, p.theta, where_)),
      even_(where_, sites::even) {}

template <class T>
wilson<T>::wilson(const wilson<double>& of, std::shared_ptr<const layout> where)
    : p_(of.p_),
      where_(std::move(where)),
      H_(of.H_.by(), with_phases<T>(of.H_.gauge(), {0, 0, 0, 0}, where_)),
      even_(where_, sites::even) {}

template <class T>
chiral<T> wilson<T>::A(bool dagger) const {
  const auto a = chiral<T>(T(1), T(2 * p_.kappa * p_.mu));
  return dagger ? std::conj(a) : a;
}

template <class T>
chiral<T> wilson<T>::inverse_A(bool dagger) const {
  return chiral<T>(1) / A(dagger);
}

template <class T>
void wilson<T>::apply(spinors<T>& out, const spinors<T>& in, bool dagger) {
  for (const int p : {0, 1}) H_(out, in, p, {dagger, T(-p_.kappa), &in, A(dagger)});
}

template <class T>
void wilson<T>::apply_odd(spinors<T>& out, const spinors<T>& in, bool dagger, double twist) {
  const auto shift = chiral<T>(0, T(dagger ? -twist : twist));
  H_(even_, in, 0, {dagger, inverse_A(dagger), nullptr, {}});
  H_(out, even_, 1, {dagger, T(-p_.kappa * p_.kappa), &in, A(dagger) + shift});
}

template <class T>
void wilson<T>::derivative(links<T>& m, const spinors<T>& X, const spinors<T>& Y) {
  // With X_e = kappa A^-1 H_eo X_o and Y_e = kappa A^-1+ (H^+)_eo Y_o both terms of d(H_oe A^-1 H_eo) are those of the
  // whole H.
  const auto whole = [&](const spinors<T>& odd, bool dagger) {
    spinors<T> out(where_);
    std::copy_n(odd.of(1), odd.size() / (odd.which() == sites::all ? 2 : 1), out.of(1));
    H_(out, odd, 0, {dagger, T(p_.kappa) * inverse_A(dagger), nullptr, {}});
    return out;
  };
  H_.derivative(m, whole(X, false), whole(Y, true));
}

template <class T>
void wilson<T>::prepare(spinors<T>& odd, const spinors<T>& eta) {
  H_.by().hands.each("prepare", std::size_t(even_.blocks()), [&](std::size_t first, std::size_t end) {
    const term<T> from{eta.of(0), inverse_A(), std::conj(inverse_A())};
    combine<T>(even_.lanes(), first, end, even_.data(), std::span(&from, 1), nullptr);
  });
  H_(odd, even_, 1, {false, T(p_.kappa), &eta, T(1)});
}

template <class T>
void wilson<T>::complete(spinors<T>& psi, const spinors<T>& eta) {
  H_(psi, psi, 0, {false, T(p_.kappa) * inverse_A(), &eta, inverse_A()});
}

template class wilson<double>;
template class wilson<float>;

}  // namespace plaq::lqcd

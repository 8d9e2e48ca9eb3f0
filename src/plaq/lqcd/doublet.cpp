#include "plaq/lqcd/doublet.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/conjugate_gradient.hpp"
#include "plaq/lqcd/shifted.hpp"

namespace plaq::lqcd {

template <class T>
doublet<T>::doublet(engine& by, const links<double>& gauge, const doublet_parameters& p,
                    std::shared_ptr<const layout> where)
    : p_(p),
      by_(by),
      where_(std::move(where)),
      H_(by, with_phases<T>(gauge, p.theta, where_), determinants<T>(p.theta, where_->on().extents)),
      even_{spinors<T>(where_, sites::even), spinors<T>(where_, sites::even)} {
  if (!(1 + 4 * p.kappa * p.kappa * (p.mu * p.mu - p.epsilon * p.epsilon) > 0))
    throw input_error("a doublet's epsilon must be less than sqrt(mu^2 + 1 / (2 kappa)^2)");
}

template <class T>
chiral<T> doublet<T>::A(bool up, bool dagger) const {
  return {T(1), T((up != dagger ? 2 : -2) * p_.kappa * p_.mu)};
}

template <class T>
void doublet<T>::apply(flavours<T>& out, const flavours<T>& in, bool dagger) {
  const T between(2 * p_.kappa * p_.epsilon);
  for (const int p : {0, 1}) {
    H_(out.up, in.up, p, {dagger, T(-p_.kappa), &in.up, A(true, dagger)});
    H_(out.down, in.down, p, {dagger, T(-p_.kappa), &in.down, A(false, dagger)});
  }
  combine<T>(by_, out.up, {{1, out.up}, {between, in.down}});
  combine<T>(by_, out.down, {{1, out.down}, {between, in.up}});
}

template <class T>
void doublet<T>::divide(flavours<T>& x, bool dagger) {
  const double mu = 2 * p_.kappa * p_.mu, epsilon = 2 * p_.kappa * p_.epsilon, det = 1 + mu * mu - epsilon * epsilon;
  const spinors<T> up(x.up);
  const auto own = [&](bool is_up) { return std::conj(A(is_up, dagger)) / T(det); };
  combine<T>(by_, x.up, {weighted<T>::chiral(own(true), up), {T(-epsilon / det), x.down}});
  combine<T>(by_, x.down, {weighted<T>::chiral(own(false), x.down), {T(-epsilon / det), up}});
}

template <class T>
void doublet<T>::apply_odd(flavours<T>& out, const flavours<T>& in, bool dagger) {
  H_(even_.up, in.up, 0, {.dagger = dagger});
  H_(even_.down, in.down, 0, {.dagger = dagger});
  divide(even_, dagger);
  const T factor(-p_.kappa * p_.kappa), between(2 * p_.kappa * p_.epsilon);
  H_(out.up, even_.up, 1, {dagger, factor, &in.up, A(true, dagger)});
  H_(out.down, even_.down, 1, {dagger, factor, &in.down, A(false, dagger)});
  combine<T>(by_, out.up, {{1, out.up}, {between, in.down}});
  combine<T>(by_, out.down, {{1, out.down}, {between, in.up}});
}

template <class T>
solver_result doublet<T>::solve(flavours<double>& psi, const flavours<double>& eta, const solver_options& how)
  requires std::same_as<T, double>
{
  if (!(how.residual > 0)) throw input_error("a solver's residual must be positive");
  solver_result done{solver_result::ending::converged, 0, 0, 0};
  by_.hands.inside("solve", [&] {
    const double size = std::sqrt(norm2(by_, eta));
    each_flavour([&](auto& to, auto& from) { combine<double>(by_, to, {{0, from}}); }, psi, eta);
    if (size == 0) return;
    const spinors<double> zero(where_, sites::odd);
    flavours<double> x{zero, zero}, d(x), left(psi);
    // psi_e = A^-1 (eta_e + kappa H_eo psi_o), and r = M^^+ of eta - M psi on odd sites
    const auto residual = [&](flavours<double>& r) {
      each_flavour([](auto& to, auto& odd) { std::copy_n(odd.data(), odd.size(), to.of(1)); }, psi, x);
      each_flavour([&](auto& e, auto& all, auto& of) { H_(e, all, 0, {false, p_.kappa, &of, 1.0}); }, even_, psi, eta);
      divide(even_, false);
      each_flavour([](auto& to, auto& e) { std::copy_n(e.data(), e.size(), to.of(0)); }, psi, even_);
      apply(left, psi);
      double norm = 0;
      each_flavour([&](auto& l, auto& of) { norm += combine_norm2<double>(by_, l, {{1, of}, {-1, l}}); }, left, eta);
      each_flavour([](auto& odd, auto& l) { std::copy_n(l.of(1), odd.size(), odd.data()); }, d, left);
      apply_odd(r, d, true);
      done.residual = std::sqrt(norm) / size;
      return std::sqrt(norm);
    };
    done.end = conjugate_gradient(by_, x, x, falling::residual, how.residual * size, how, done, residual,
                                  [&](auto& Ap, auto& Mp, const auto& p) {
                                    apply_odd(Mp, p);
                                    apply_odd(Ap, Mp, true);
                                    return norm2(by_, Mp);
                                  });
  });
  return done;
}

template <class T>
solver_result doublet<T>::solve_shifted(std::vector<flavours<double>>& x, const flavours<double>& phi,
                                        const std::vector<double>& shifts, const solver_options& how)
  requires std::same_as<T, double>
{
  return shifted_cg(by_, x, phi, shifts, how,
                    [&](auto& out, const auto& in, bool dagger) { apply_odd(out, in, dagger); });
}

template <class T>
void doublet<T>::derivative(links<double>& m, const flavours<double>& X, const flavours<double>& Y)
  requires std::same_as<T, double>
{
  // As in wilson::derivative; the hopping matrix, which is all that depends on links, does not mix flavours.
  const auto whole = [&](const flavours<double>& odd, bool dagger) {
    flavours<double> out{spinors<double>(where_), spinors<double>(where_)};
    for (const auto f : {&flavours<double>::up, &flavours<double>::down})
      H_(even_.*f, odd.*f, 0, {dagger, p_.kappa, nullptr, {}});
    divide(even_, dagger);
    for (const auto f : {&flavours<double>::up, &flavours<double>::down}) {
      std::copy_n((even_.*f).data(), (even_.*f).size(), (out.*f).of(0));
      std::copy_n((odd.*f).data(), (odd.*f).size(), (out.*f).of(1));
    }
    return out;
  };
  const auto right = whole(X, false), left = whole(Y, true);
  links<double> of_down(m);
  H_.derivative(m, right.up, left.up);
  H_.derivative(of_down, right.down, left.down);
  std::transform(m.data(), m.data() + m.size(), of_down.data(), m.data(), std::plus<>());
}

template class doublet<double>;
template class doublet<float>;

}  // namespace plaq::lqcd

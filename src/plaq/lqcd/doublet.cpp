#include "plaq/lqcd/doublet.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "plaq/base/error.hpp"
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
solver_result doublet<T>::solve(flavours<T>& psi, const flavours<T>& eta, double residual, int most_steps) {
  if (!(residual > 0)) throw input_error("a solver's residual must be positive");
  using ending = solver_result::ending;
  solver_result done{ending::converged, 0, 0, 0};
  const auto both = [](auto&& f) { f(&flavours<T>::up), f(&flavours<T>::down); };
  const auto add = [&](flavours<T>& y, double a, const flavours<T>& x) {  // y += a x, and |y|^2
    double norm = 0;
    both([&](auto f) { norm += combine_norm2<T>(by_, y.*f, {{1, y.*f}, {T(a), x.*f}}); });
    return norm;
  };
  const auto size_of = [&](const flavours<T>& x) { return norm2(by_, x.up) + norm2(by_, x.down); };
  by_.hands.inside("solve", [&] {
    const double size = size_of(eta);
    both([&](auto f) { combine<T>(by_, psi.*f, {{0, eta.*f}}); });
    if (size == 0) return;
    const auto on_odd = [&] { return flavours<T>{spinors<T>(where_, sites::odd), spinors<T>(where_, sites::odd)}; };
    auto x = on_odd(), b = on_odd(), r = on_odd(), p = on_odd(), Mp = on_odd(), Ap = on_odd();
    // b = eta_o + kappa H_oe A^-1 eta_e, psi_e = A^-1 (eta_e + kappa H_eo psi_o).
    both([&](auto f) { std::copy_n((eta.*f).of(0), (even_.*f).size(), (even_.*f).data()); });
    divide(even_, false);
    both([&](auto f) { H_(b.*f, even_.*f, 1, {false, T(p_.kappa), &(eta.*f), T(1)}); });
    apply_odd(r, b, true);
    p = r;
    double rr = size_of(r), left = size_of(b);
    const double target = residual * residual * size;
    flavours<T> d = b;  // b - M^ x
    while (left > target) {
      if (done.steps++ >= most_steps) {
        done.end = ending::out_of_steps;
        break;
      }
      apply_odd(Mp, p);
      const double alpha = rr / size_of(Mp);
      add(x, alpha, p);
      left = add(d, -alpha, Mp);
      apply_odd(Ap, Mp, true);
      const double before = std::exchange(rr, add(r, -alpha, Ap));
      if (!std::isfinite(rr)) {
        done.end = ending::stalled;
        break;
      }
      both([&](auto f) { combine<T>(by_, p.*f, {{1, r.*f}, {T(rr / before), p.*f}}); });
    }
    both([&](auto f) { std::copy_n((x.*f).data(), (x.*f).size(), (psi.*f).of(1)); });
    both([&](auto f) { H_(even_.*f, psi.*f, 0, {false, T(p_.kappa), &(eta.*f), T(1)}); });
    divide(even_, false);
    both([&](auto f) { std::copy_n((even_.*f).data(), (even_.*f).size(), (psi.*f).of(0)); });
    flavours<T> rest{spinors<T>(where_), spinors<T>(where_)};
    apply(rest, psi);
    done.residual = std::sqrt(add(rest, -1, eta) / size);
    // What the steps believed they lose by rounding, at the end of what the precision can do.
    if (done.end == ending::converged && !(done.residual <= 2 * residual)) done.end = ending::stalled;
  });
  return done;
}

template <class T>
solver_result doublet<T>::solve_shifted(std::vector<flavours<double>>& x, const flavours<double>& phi,
                                        const std::vector<double>& shifts, const solver_options& how)
  requires std::same_as<T, double>
{
  const auto both = [](auto&& f) {
    f([](auto& pair) -> auto& { return pair.up; });
    f([](auto& pair) -> auto& { return pair.down; });
  };
  return shifted_cg(by_, x, phi, shifts, how, both,
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

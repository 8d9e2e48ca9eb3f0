#include "plaq/lqcd/dirac/doublet.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/dirac/clover.hpp"

namespace plaq::lqcd {

template <class T>
doublet<T>::doublet(context& ctx, const links<double>& gauge, const doublet_parameters& p,
                    std::shared_ptr<const site_layout> layout)
    : p_(p),
      layout_(std::move(layout)),
      H_(ctx, apply_phases<T>(check_lanes(gauge), p.theta, layout_, p.open),
         phase_determinants<T>(p.theta, layout_->lattice().extents)),
      even_{spinors<T>(layout_, sites::even), spinors<T>(layout_, sites::even)} {
  if (!(1 + 4 * p.kappa * p.kappa * (p.mu * p.mu - p.epsilon * p.epsilon) > 0))
    throw input_error("a doublet's epsilon must be less than sqrt(mu^2 + 1 / (2 kappa)^2)");
  if (p.shape().is_one()) return;
  const auto h = clover_term(ctx, gauge, p.shape());
  const auto even = invert_squares_on_even_sites(ctx, h, 4 * p.kappa * p.kappa * (p.mu * p.mu - p.epsilon * p.epsilon));
  clover_.emplace(clover{convert_blocks<T>(h, layout_), convert_blocks<T>(even.inverse, layout_), even.log_det});
}

template <class T>
chiral<T> doublet<T>::A(bool up, bool dagger) const {
  return {T(1), T((up != dagger ? 2 : -2) * p_.kappa * p_.mu)};
}

template <class T>
void doublet<T>::add_A(vector& out, const vector& in, int parity, bool dagger) {
  const T* h = clover_->h.of(parity);
  const chiral_factor<T> up{h, T(twist(true, dagger))}, down{h, T(twist(false, dagger))};
  multiply_blocks(ctx(), out.up, std::span(&up, 1), in.up, parity, true);
  multiply_blocks(ctx(), out.down, std::span(&down, 1), in.down, parity, true);
}

template <class T>
void doublet<T>::apply(vector& out, const vector& in, bool dagger) {
  const T coupling(2 * p_.kappa * p_.epsilon);
  for (const int p : {0, 1}) {
    if (clover_) {
      for_each_flavour([&](auto& to, auto& from) { H_(to, from, p, {dagger, T(-p_.kappa), nullptr, {}}); }, out, in);
      add_A(out, in, p, dagger);
      continue;
    }
    H_(out.up, in.up, p, {dagger, T(-p_.kappa), &in.up, A(true, dagger)});
    H_(out.down, in.down, p, {dagger, T(-p_.kappa), &in.down, A(false, dagger)});
  }
  combine<T>(ctx(), out.up, {{1, out.up}, {coupling, in.down}});
  combine<T>(ctx(), out.down, {{1, out.down}, {coupling, in.up}});
}

template <class T>
void doublet<T>::apply_inverse_A(vector& x, bool dagger) {
  const double mu = 2 * p_.kappa * p_.mu, epsilon = 2 * p_.kappa * p_.epsilon, det = 1 + mu * mu - epsilon * epsilon;
  if (clover_) {
    const chiral_factor<T> inverse{clover_->inverse.of(0), 0};
    for_each_flavour([&](auto& f) { multiply_blocks(ctx(), f, std::span(&inverse, 1), f, 0); }, x);
    const vector y(x);
    for (const bool is_up : {true, false}) {
      auto& f = is_up ? x.up : x.down;
      const chiral_factor<T> h{clover_->h.of(0), T(-twist(is_up, dagger))};
      multiply_blocks(ctx(), f, std::span(&h, 1), f, 0);
      combine<T>(ctx(), f, {{1, f}, {T(-epsilon), is_up ? y.down : y.up}});
    }
    return;
  }
  const spinors<T> up(x.up);
  const auto diagonal = [&](bool is_up) { return std::conj(A(is_up, dagger)) / T(det); };
  combine<T>(ctx(), x.up, {linear_term<T>::chiral(diagonal(true), up), {T(-epsilon / det), x.down}});
  combine<T>(ctx(), x.down, {linear_term<T>::chiral(diagonal(false), x.down), {T(-epsilon / det), up}});
}

template <class T>
void doublet<T>::apply_odd(vector& out, const vector& in, bool dagger) {
  H_(even_.up, in.up, 0, {.dagger = dagger});
  H_(even_.down, in.down, 0, {.dagger = dagger});
  apply_inverse_A(even_, dagger);
  const T factor(-p_.kappa * p_.kappa), coupling(2 * p_.kappa * p_.epsilon);
  if (clover_) {
    for_each_flavour([&](auto& to, auto& from) { H_(to, from, 1, {dagger, factor, nullptr, {}}); }, out, even_);
    add_A(out, in, 1, dagger);
  } else {
    H_(out.up, even_.up, 1, {dagger, factor, &in.up, A(true, dagger)});
    H_(out.down, even_.down, 1, {dagger, factor, &in.down, A(false, dagger)});
  }
  combine<T>(ctx(), out.up, {{1, out.up}, {coupling, in.down}});
  combine<T>(ctx(), out.down, {{1, out.down}, {coupling, in.up}});
}

template <class T>
void doublet<T>::complete(vector& psi, const vector& eta) {
  for_each_flavour([&](auto& e, auto& all, auto& rhs) { H_(e, all, 0, {false, T(p_.kappa), &rhs, T(1)}); }, even_, psi,
                   eta);
  apply_inverse_A(even_, false);
  for_each_flavour([](auto& to, auto& e) { std::copy_n(e.data(), e.size(), to.of(0)); }, psi, even_);
}

template <class T>
void doublet<T>::derivative(links<double>& m, const links<double>& gauge, const vector& X, const vector& Y)
  requires std::same_as<T, double>
{
  // As in wilson::derivative: what depends on links, the hopping matrix and h, does not mix flavours.
  const auto extend = [&](const flavours<double>& odd, bool dagger) {
    flavours<double> out{spinors<double>(layout_), spinors<double>(layout_)};
    for (const auto f : {&flavours<double>::up, &flavours<double>::down})
      H_(even_.*f, odd.*f, 0, {dagger, p_.kappa, nullptr, {}});
    apply_inverse_A(even_, dagger);
    for (const auto f : {&flavours<double>::up, &flavours<double>::down}) {
      std::copy_n((even_.*f).data(), (even_.*f).size(), (out.*f).of(0));
      std::copy_n((odd.*f).data(), (odd.*f).size(), (out.*f).of(1));
    }
    return out;
  };
  const auto right = extend(X, false), left = extend(Y, true);
  links<double> of_down(m);
  H_.derivative(m, right.up, left.up);
  H_.derivative(of_down, right.down, left.down);
  std::transform(m.data(), m.data() + m.size(), of_down.data(), m.data(), std::plus<>());
  if (p_.csw == 0) return;
  auto Z = tensor_of(ctx(), gauge, p_.shape(), right.up, left.up);
  const auto Z_of_down = tensor_of(ctx(), gauge, p_.shape(), right.down, left.down);
  for (std::size_t p = 0; p < Z.size(); ++p)
    std::transform(Z[p].data(), Z[p].data() + Z[p].size(), Z_of_down[p].data(), Z[p].data(), std::plus<>());
  add_tensor_derivative(ctx(), m, gauge, Z, p_.csw);
}

template <class T>
void doublet<T>::log_det_derivative(links<double>& m, const links<double>& gauge)
  requires std::same_as<T, double>
{
  // The trace over flavours of A^-1 is 2 h / (h^2 + ...).
  std::fill_n(m.data(), m.size(), 0.0);
  if (p_.csw != 0)
    add_tensor_derivative(ctx(), m, gauge, tensor_of(ctx(), gauge, p_.shape(), clover_->h, clover_->inverse, true),
                          2 * p_.csw);
}

template class doublet<double>;
template class doublet<float>;

}  // namespace plaq::lqcd

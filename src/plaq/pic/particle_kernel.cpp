#include "plaq/pic/particle_kernel.hpp"

#include <algorithm>
#include <type_traits>

namespace plaq::pic {

namespace {

/// The sum of n <= at_once numbers, in one order; changes them.
template <class T>
double sum_of(T* x, int n) {
  std::fill(x + n, x + stages::at_once, T(0));
  for (int half = stages::at_once / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) x[l] += x[l + half];
  return double(x[0]);
}

template <class T>
void add_sums(const T* ux, const T* uy, const T* uz, const T* w, const T* inverse_gamma, int n, sums& to) {
  alignas(64) T x[stages::at_once];
  alignas(64) double weight[stages::at_once];
  for (int l = 0; l < n; ++l) weight[l] = double(w[l]);
  to.weight += sum_of(weight, n);
  for (int l = 0; l < n; ++l) {  // gamma - 1 = u^2 / (gamma + 1)
    const T g = inverse_gamma[l];
    x[l] = w[l] * (ux[l] * ux[l] + uy[l] * uy[l] + uz[l] * uz[l]) * g / (1 + g);
  }
  to.kinetic += sum_of(x, n);
  const T* u[3] = {ux, uy, uz};
  for (int c = 0; c < 3; ++c) {
    for (int l = 0; l < n; ++l) x[l] = w[l] * u[c][l];
    to.momentum[std::size_t(c)] += sum_of(x, n);
  }
}

/// Calls use(turn, what is felt) for all particles, some at a time.
template <class T, class Use>
void in_turns(const block& m, int order, const fields<T>& f, const particles<T>& p, Use use) {
  const auto gather = stages::gather_for<T>(m.dimensions, order);
  stages::felt<T> felt;
  for (std::size_t first = 0; first < p.size(); first += stages::at_once) {
    stages::turn<T> now(m, p, first);
    gather(m, f, now, felt);
    use(now, felt);
  }
}

}  // namespace

template <class T>
sums advance(const block& m, int order, const motion& how, fields<T>& f, particles<T>& p, set_apart& apart) {
  const auto move = stages::move_for<T>(m.dimensions, order);
  sums all;
  in_turns(m, order, f, p, [&](stages::turn<T>& now, const stages::felt<T>& felt) {
    alignas(64) T inverse_gamma[stages::room] = {};
    stages::push(how.by, T(how.charge_per_mass), T(m.dt), felt, now.u[0], now.u[1], now.u[2], now.n, inverse_gamma);
    now.give_back_u(p);
    add_sums(now.u[0], now.u[1], now.u[2], now.w, inverse_gamma, now.n, all);
    move(m, how, f, p, now, inverse_gamma, apart);
  });
  return all;
}

template <class T>
void kick(const block& m, int order, const motion& how, const fields<T>& f, particles<T>& p, double dt) {
  in_turns(m, order, f, p, [&](stages::turn<T>& now, const stages::felt<T>& felt) {
    alignas(64) T inverse_gamma[stages::room];
    stages::push(how.by, T(how.charge_per_mass), T(dt), felt, now.u[0], now.u[1], now.u[2], now.n, inverse_gamma);
    now.give_back_u(p);
  });
}

template sums advance(const block&, int, const motion&, fields<float>&, particles<float>&, set_apart&);
template sums advance(const block&, int, const motion&, fields<double>&, particles<double>&, set_apart&);
template void kick(const block&, int, const motion&, const fields<float>&, particles<float>&, double);
template void kick(const block&, int, const motion&, const fields<double>&, particles<double>&, double);

}  // namespace plaq::pic

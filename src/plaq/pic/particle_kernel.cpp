// A particle's step: what it feels, its momentum, its way and the current of that, in one go for a register of
// particles of a cell. Those that stay in the cell, nearly all, leave their currents in registers until the cell
// is done; the others are put aside and followed one by one.
#include <algorithm>
#include <cmath>
#include <span>

#include "plaq/base/error.hpp"
#include "plaq/pic/currents.hpp"
#include "plaq/pic/gather.hpp"
#include "plaq/pic/kernels.hpp"
#include "plaq/pic/pushers.hpp"
#include "plaq/pic/runs.hpp"
#include "plaq/pic/tables.hpp"

namespace plaq::pic {

namespace {

/// Ways out of a cell, one after the other, until there is no room for a register more.
template <int D, class V>
struct ways_out {
  using T = number_of<V>;
  static constexpr int room = 8 * lanes<V>;
  alignas(64) T from[D][room], by[3][room], charge[room];
  std::size_t number[room];
  int count = 0;

  bool full() const { return count > room - lanes<V>; }
  PLAQ_KERNEL void add(std::size_t first, const V (&x)[D], const V (&step)[3], V q, lane_bits which) {
    for (int d = 0; d < D; ++d) store_packed(from[d] + count, x[d], which);
    for (int c = 0; c < 3; ++c) store_packed(by[c] + count, step[c], which);
    store_packed(charge + count, q, which);
    for (; which; which &= which - 1) number[count++] = first + std::size_t(std::countr_zero(which));
  }
};

template <int D, int Order, class V, class T>
void follow(const block& m, const motion& how, fields<T>& f, particles<T>& p, const point& cell, std::ptrdiff_t at,
            ways_out<D, V>& out, set_apart& apart) {
  bool at_border = false;
  for (int d = 0; d < D; ++d) at_border |= cell[d] <= 0 || cell[d] >= m.cells[d] - 1;
  way_currents<D, Order, T> sum;
  for (int n = 0; n < out.count; ++n) {
    const auto i = out.number[n];
    T from[D], by[3];
    point to = cell;
    for (int c = 0; c < 3; ++c) by[c] = out.by[c][n];
    bool near = true, finite = true, leaves = false, crosses = false;
    for (int d = 0; d < D; ++d) {
      from[d] = out.from[d][n];
      near &= std::abs(by[d]) < 1, finite &= std::isfinite(by[d]);
      to[d] += from[d] + by[d] >= 1 ? 1 : from[d] + by[d] < 0 ? -1 : 0;
    }
    if (!near && !(how.far && finite)) [[unlikely]]
      throw runtime_failure("a particle moves by more than a cell in a step: its momentum or a field is no number");
    if (near && at_border)
      for (int d = 0; d < D; ++d) {
        const bool below = to[d] < 0, above = to[d] >= m.cells[d];
        leaves |= below || above;
        crosses |= (below && how.walls[std::size_t(d)][0]) || (above && how.walls[std::size_t(d)][1]);
      }
    if (crosses || !near) {
      apart.to_follow.push_back(std::uint32_t(i));
      for (int d = 0; d < D; ++d) p.x[std::size_t(d)][i] = from[d];
      continue;
    }
    if (leaves) apart.leaving.push_back(std::uint32_t(i));
    for (int d = 0; d < D; ++d) p.cell[std::size_t(d)][i] = to[d];
    sum.add(m, from, by, out.charge[n]);
  }
  sum.into(m, f, at);
  out.count = 0;
}

template <int D, int Order, class T>
sums advance_all(const block& m, const motion& how, fields<T>& f, particles<T>& p, set_apart& apart) {
  using V = linalg::simd<T, linalg::native_lanes<T>>;
  const T h = T(0.5 * how.charge_per_mass * m.dt), density = T(how.charge / m.volume());
  T per_cell[3], flow[3];
  for (int c = 0; c < 3; ++c) {
    per_cell[c] = T(c < D ? m.dt / m.spacing[std::size_t(c)] : m.dt);
    flow[c] = T(c < D ? m.spacing[std::size_t(c)] / m.dt : 1 / m.dt);
  }
  long_sum<V> weight, kinetic, momentum[3];
  ways_out<D, V> out;
  for_cells<D>(m, p, [&](const point& cell, std::ptrdiff_t at, auto each_register) {
    still_currents<D, Order, V> still;
    each_register([&](std::size_t i, lane_bits some) PLAQ_INLINE {
      V x[D], u[3], e[3], b[3];
      for (int d = 0; d < D; ++d) x[d] = load_some<V>(p.x[std::size_t(d)].data() + i, some);
      for (int c = 0; c < 3; ++c) u[c] = load_some<V>(p.u[std::size_t(c)].data() + i, some);
      const V w = load_some<V>(p.w.data() + i, some);
      const point_weights<D, Order, V> s(x);
      feel(m, f, at, s, e, b);
      accelerate(how.by, h, e, b, u);
      for (int c = 0; c < 3; ++c) store_some(p.u[std::size_t(c)].data() + i, u[c], some);

      const V u2 = squared(u), gamma = root(one<V>() + u2), inverse = T(1) / gamma;
      weight.add(w);
      kinetic.add(w * u2 / (one<V>() + gamma));  // gamma - 1 = u^2 / (gamma + 1)
      for (int c = 0; c < 3; ++c) momentum[c].add(w * u[c]);

      V by[3], to[D], q[3];
      for (int c = 0; c < 3; ++c) by[c] = linalg::mul(u[c] * inverse, linalg::same<V>(per_cell[c]));
      auto stays = x[0] == x[0];
      for (int d = 0; d < D; ++d) {
        to[d] = x[d] + by[d];
        const auto below = to[d] < V{}, above = to[d] >= one<V>();
        stays &= (to[d] >= V{}) & (to[d] < one<V>());
        store_some(p.x[std::size_t(d)].data() + i, to[d] + (below ? one<V>() : V{}) - (above ? one<V>() : V{}), some);
      }
      const lane_bits go = some & ~bits(stays);
      const V charge = density * w, own = only(charge, ~go);
      for (int c = 0; c < 3; ++c) q[c] = c < D ? own * flow[c] : own * (by[c] * flow[c]);
      still.add(s.node, to, q);
      if (go) {
        out.add(i, x, by, charge, go);
        if (out.full()) follow<D, Order>(m, how, f, p, cell, at, out, apart);
      }
    });
    still.into(m, f, at);
    if (out.count > 0) follow<D, Order>(m, how, f, p, cell, at, out, apart);
  });
  return {.weight = weight.all(),
          .kinetic = kinetic.all(),
          .momentum = {momentum[0].all(), momentum[1].all(), momentum[2].all()}};
}

template <int D, int Order, class T>
void kick_all(const block& m, const motion& how, const fields<T>& f, particles<T>& p, double dt) {
  using V = linalg::simd<T, linalg::native_lanes<T>>;
  const T h = T(0.5 * how.charge_per_mass * dt);
  for_cells<D>(m, p, [&](const point&, std::ptrdiff_t at, auto each_register) {
    each_register([&](std::size_t i, lane_bits some) PLAQ_INLINE {
      V x[D], u[3], e[3], b[3];
      for (int d = 0; d < D; ++d) x[d] = load_some<V>(p.x[std::size_t(d)].data() + i, some);
      for (int c = 0; c < 3; ++c) u[c] = load_some<V>(p.u[std::size_t(c)].data() + i, some);
      feel(m, f, at, point_weights<D, Order, V>(x), e, b);
      accelerate(how.by, h, e, b, u);
      for (int c = 0; c < 3; ++c) store_some(p.u[std::size_t(c)].data() + i, u[c], some);
    });
  });
}

}  // namespace

template <class T>
sums advance(const block& m, int order, const motion& how, fields<T>& f, particles<T>& p, set_apart& apart) {
  static constexpr sums (*all[3][3])(const block&, const motion&, fields<T>&, particles<T>&, set_apart&) =
      PLAQ_PIC_TABLE(advance_all);
  return all[m.dimensions - 1][order - 1](m, how, f, p, apart);
}

template <class T>
void kick(const block& m, int order, const motion& how, const fields<T>& f, particles<T>& p, double dt) {
  static constexpr void (*all[3][3])(const block&, const motion&, const fields<T>&, particles<T>&, double) =
      PLAQ_PIC_TABLE(kick_all);
  all[m.dimensions - 1][order - 1](m, how, f, p, dt);
}

template sums advance(const block&, int, const motion&, fields<float>&, particles<float>&, set_apart&);
template sums advance(const block&, int, const motion&, fields<double>&, particles<double>&, set_apart&);
template void kick(const block&, int, const motion&, const fields<float>&, particles<float>&, double);
template void kick(const block&, int, const motion&, const fields<double>&, particles<double>&, double);

}  // namespace plaq::pic

#include "force_ways.hpp"

#include <atomic>
#include <utility>

#include "plaq/lqcd/dirac/half_spinor.hpp"
#include "plaq/lqcd/lattice/widths.hpp"

namespace plaq::bench {

using namespace plaq::lqcd;

namespace {

constexpr int reals = 18;  // of a link

/// U tr_spin (1 -+ gamma_mu) a(x + mu) b(x)^+ with x = group c, to sink(number, value) number by number.
template <class V, int D, bool Dagger, class Sink>
PLAQ_KERNEL void term(const force_setting& s, std::int64_t c, const lane_moves<V>& moves, Sink&& sink) {
  constexpr int n = linalg::lanes<V>, mu = direction_of<D>;
  const site_layout& layout = *s.work.layout;
  auto h = project<V, D, Dagger>((Dagger ? s.Y : s.X) + std::int64_t(layout.neighbours_of(c)[D]) * 24 * n);
  if (layout.edges(c) >> D & 1)
    for (auto& spin : h.at)
      for (auto& z : spin) z = permute(z, moves.from[D]);
  const auto g = project<V, D, Dagger>((Dagger ? s.X : s.Y) + c * 24 * n);
  const auto u = load_link<V, true>(s.work.links + (neighbours * c + D) * 12 * n, s.work.link_determinants[mu]);
  for (int i = 0; i < 3; ++i) {
    cx<V> first, second;
    row_of_product<false>(u, i, h, first, second);
    for (int j = 0; j < 3; ++j) {
      const auto z = fma<true>(g.at[1][j], second, mul<true>(g.at[0][j], first));
      sink((3 * i + j) * 2, z.re), sink((3 * i + j) * 2 + 1, z.im);
    }
  }
}

template <class V>
PLAQ_KERNEL void add_to(double* at, V v) {
  linalg::store(at, linalg::load<V>(at) + v);
}
template <class V>
PLAQ_KERNEL void add_atomically(double* at, V v) {
  double numbers[linalg::lanes<V>];
  linalg::store(numbers, v);
  for (const double x : numbers) std::atomic_ref(*at++).fetch_add(x, std::memory_order_relaxed);
}

template <class V, force_way W>
void add(const force_setting& s, force_piece& p) {
  constexpr int n = linalg::lanes<V>;
  const site_layout& layout = *s.work.layout;
  const std::int64_t half = layout.half();
  const lane_moves<V> moves(layout);
  double* halo = p.halo.data();
  const auto link = [&](std::int64_t c, int mu) { return s.out + (4 * c + mu) * reals * n; };
  for (std::int64_t i = p.begin; i < p.end; ++i)
    for (const std::int64_t b : {i, half + i})
      [&]<int... mu>(std::integer_sequence<int, mu...>) {
        const auto direction = [&]<int D>() {
          const auto sum = [](double* to) {
            return [to](int k, V v) {
              constexpr int n = linalg::lanes<V>;
              W == force_way::atomic ? add_atomically(to + k * n, v) : add_to(to + k * n, v);
            };
          };
          term<V, D, false>(s, b, moves, sum(link(b, D / 2)));
          const std::int64_t c = W == force_way::own ? b : layout.neighbours_of(b)[D + 1], number = c % half;
          if (W != force_way::halo || (p.begin <= number && number < p.end)) {
            term<V, D, true>(s, c, moves, sum(link(c, D / 2)));
          } else {
            term<V, D, true>(s, c, moves, [&](int k, V v) { linalg::store(halo + k * n, v); });
            halo += reals * n;
          }
        };
        (direction.template operator()<2 * mu>(), ...);
      }(std::make_integer_sequence<int, 4>());
}

/// Calls f(group, direction) for the links outside a piece that it adds to, in its order.
template <class F>
void each_outside(const site_layout& layout, const force_piece& p, F&& f) {
  for (std::int64_t i = p.begin; i < p.end; ++i)
    for (const std::int64_t b : {i, layout.half() + i})
      for (int mu = 0; mu < 4; ++mu) {
        const std::int64_t c = layout.neighbours_of(b)[2 * mu + 1], number = c % layout.half();
        if (number < p.begin || p.end <= number) f(c, mu);
      }
}

}  // namespace

const char* name_of(force_way w) {
  return w == force_way::own ? "own" : w == force_way::push ? "push" : w == force_way::atomic ? "atomic" : "halo";
}

std::vector<force_piece> pieces_of(const site_layout& layout, int number) {
  std::vector<force_piece> all;
  for (int k = 0; k < number; ++k) {
    force_piece p{layout.half() * k / number, layout.half() * (k + 1) / number, {}};
    std::size_t links = 0;
    each_outside(layout, p, [&](std::int64_t, int) { ++links; });
    p.halo.resize(links * reals * layout.lanes());
    all.push_back(std::move(p));
  }
  return all;
}

void add_force(force_way w, const force_setting& s, force_piece& p) {
  with_lanes<double>(s.work.layout->lanes(), [&]<int N>() {
    using V = linalg::simd<double, N>;
    if (w == force_way::own) return add<V, force_way::own>(s, p);
    if (w == force_way::push) return add<V, force_way::push>(s, p);
    if (w == force_way::atomic) return add<V, force_way::atomic>(s, p);
    add<V, force_way::halo>(s, p);
  });
}

void add_halo(const force_setting& s, const force_piece& p) {
  const int size = reals * s.work.layout->lanes();
  const double* from = p.halo.data();
  each_outside(*s.work.layout, p, [&](std::int64_t c, int mu) {
    double* to = s.out + (4 * c + mu) * size;
    for (int k = 0; k < size; ++k) to[k] += *from++;
  });
}

}  // namespace plaq::bench

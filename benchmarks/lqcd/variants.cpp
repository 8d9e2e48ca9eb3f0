#include "variants.hpp"

#include <utility>

#include "plaq/lqcd/dirac/half_spinor.hpp"
#include "plaq/lqcd/lattice/widths.hpp"

namespace plaq::bench {

using namespace plaq::lqcd;

namespace {

template <class V>
struct spinor {
  cx<V> at[4][3];
};

template <int D, class V>
PLAQ_KERNEL void reconstruct(spinor<V>& sum, int i, cx<V> first, cx<V> second) {
  const auto spin = [&]<int S>(cx<V> h) {
    constexpr auto e = gamma::e[direction_of<D>][S];
    sum.at[S][i] = add<0>(sum.at[S][i], h);
    auto& low = sum.at[2 + e.column][i];
    low = add<8 - e.phase + sign_phase<D, false>>(low, h);
  };
  spin.template operator()<0>(first);
  spin.template operator()<1>(second);
}

template <class V, bool Adjoint, class T>
PLAQ_KERNEL half_spinor<V> times(const T* u, const half_spinor<V>& h) {
  constexpr int n = 2 * linalg::lanes<V>;
  half_spinor<V> out;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      const auto z = load_cx<V>(u + (Adjoint ? 3 * k + i : 3 * i + k) * n);
      for (int s = 0; s < 2; ++s)
        out.at[s][i] = k ? fma<Adjoint>(z, h.at[s][k], out.at[s][i]) : mul<Adjoint>(z, h.at[s][k]);
    }
  return out;
}

template <class V>
PLAQ_KERNEL void move(half_spinor<V>& h, linalg::lane_numbers<V> from) {
  for (auto& spin : h.at)
    for (auto& z : spin) z = permute(z, from);
}

template <class V, class T>
PLAQ_KERNEL half_spinor<V> load_half(const T* at) {
  half_spinor<V> h;
  for (int i = 0; i < 6; ++i) h.at[i / 3][i % 3] = load_cx<V>(at + i * 2 * linalg::lanes<V>);
  return h;
}
template <class V, class T>
PLAQ_KERNEL void store_half(T* at, const half_spinor<V>& h) {
  for (int i = 0; i < 6; ++i) store_cx<V>(at + i * 2 * linalg::lanes<V>, h.at[i / 3][i % 3]);
}

template <class F>
PLAQ_KERNEL void in_all_directions(F&& f) {
  [&]<int... D>(std::integer_sequence<int, D...>) {
    (f.template operator()<D>(), ...);
  }(std::make_integer_sequence<int, neighbours>());
}

template <class V, way W, class T>
void gather(const setting<T>& s, std::int64_t begin, std::int64_t end) {
  constexpr int n = linalg::lanes<V>;
  const std::int64_t half = s.layout->half(), own = s.parity * half, other = half - own;
  const lane_moves<V> moves(*s.layout);
  for (std::int64_t b = begin; b < end; ++b) {
    const unsigned edges = s.layout->edges(own + b);
    spinor<V> sum = {};
    in_all_directions([&]<int D>() {
      const std::int64_t there = s.layout->neighbours_of(own + b)[D] - other;
      auto h = project<V, D, false>(s.library.in + there * 24 * n);
      constexpr bool copied = W == way::copied;
      // A link looked up behind lies in the lanes where it begins.
      if ((ahead<D> || copied) && edges >> D & 1) move(h, moves.from[D]);
      const T* u = copied     ? s.near + (neighbours * (own + b) + D) * 18 * n
                   : ahead<D> ? s.links[s.parity] + (4 * b + direction_of<D>)*18 * n
                              : s.links[1 - s.parity] + (4 * there + direction_of<D>)*18 * n;
      auto product = times<V, !ahead<D>>(u, h);
      if (!ahead<D> && !copied && edges >> D & 1) move(product, moves.from[D]);
      for (int i = 0; i < 3; ++i) reconstruct<D>(sum, i, product.at[0][i], product.at[1][i]);
    });
    for (int i = 0; i < 12; ++i) store_cx<V>(s.library.out + (b * 12 + i) * 2 * n, sum.at[i / 3][i % 3]);
  }
}

/// From the blocks of `in`: half spinor D is for the block that has this one in direction D, so this one has that
/// in the opposite direction.
template <class V, bool Push, class T>
void project_all(const setting<T>& s, std::int64_t begin, std::int64_t end) {
  constexpr int n = linalg::lanes<V>;
  const std::int64_t half = s.layout->half(), own = s.parity * half, other = half - own;
  const lane_moves<V> moves(*s.layout);
  for (std::int64_t b = begin; b < end; ++b) {
    const unsigned edges = s.layout->edges(other + b);
    in_all_directions([&]<int D>() {
      constexpr int opposite = D ^ 1;
      auto h = project<V, D, false>(s.library.in + b * 24 * n);
      if (!ahead<D>) h = times<V, true>(s.links[1 - s.parity] + (4 * b + direction_of<D>)*18 * n, h);
      if (Push && edges >> opposite & 1) move(h, moves.from[D]);
      const std::int64_t to = Push ? s.layout->neighbours_of(other + b)[opposite] - own : b;
      store_half<V>(s.halves + (neighbours * to + D) * 12 * n, h);
    });
  }
}

template <class V, bool Push, class T>
void sum_all(const setting<T>& s, std::int64_t begin, std::int64_t end) {
  constexpr int n = linalg::lanes<V>;
  const std::int64_t half = s.layout->half(), own = s.parity * half, other = half - own;
  const lane_moves<V> moves(*s.layout);
  for (std::int64_t b = begin; b < end; ++b) {
    const unsigned edges = s.layout->edges(own + b);
    spinor<V> sum = {};
    in_all_directions([&]<int D>() {
      const std::int64_t from = Push ? b : s.layout->neighbours_of(own + b)[D] - other;
      auto h = load_half<V>(s.halves + (neighbours * from + D) * 12 * n);
      if (!Push && edges >> D & 1) move(h, moves.from[D]);
      if (ahead<D>) h = times<V, false>(s.links[s.parity] + (4 * b + direction_of<D>)*18 * n, h);
      for (int i = 0; i < 3; ++i) reconstruct<D>(sum, i, h.at[0][i], h.at[1][i]);
    });
    for (int i = 0; i < 12; ++i) store_cx<V>(s.library.out + (b * 12 + i) * 2 * n, sum.at[i / 3][i % 3]);
  }
}

}  // namespace

const char* name_of(way w) {
  return w == way::gather       ? "gather"
         : w == way::copied     ? "copied"
         : w == way::compressed ? "compressed"
         : w == way::push       ? "push"
                                : "halves";
}

template <class T>
void run(way w, int sweep, const setting<T>& s, std::int64_t begin, std::int64_t end) {
  if (w == way::compressed) {
    const auto& all = s.layout->interior(s.parity);
    return hop(s.library, std::span(all).subspan(std::size_t(begin), std::size_t(end - begin)));
  }
  using V = linalg::simd<T, linalg::native_lanes<T>>;
  check(s.layout->lanes() == linalg::native_lanes<T>, "variants are measured on whole registers");
  if (w == way::gather) gather<V, way::gather>(s, begin, end);
  if (w == way::copied) gather<V, way::copied>(s, begin, end);
  if (w == way::push) sweep ? sum_all<V, true>(s, begin, end) : project_all<V, true>(s, begin, end);
  if (w == way::halves) sweep ? sum_all<V, false>(s, begin, end) : project_all<V, false>(s, begin, end);
}

template <class T>
field<T, 144> near_with_three_rows(const links<T>& gauge) {
  const site_layout& layout = gauge.layout();
  const int n = layout.lanes();
  field<T, 144> near(gauge.shared_layout());
  for (std::int64_t b = 0; b < layout.groups(); ++b)
    for (int d = 0; d < neighbours; ++d) {
      const T* from = gauge.group(d % 2 ? layout.neighbours_of(b)[d] : b) + d / 2 * 18 * n;
      const bool moves = d % 2 && layout.edges(b) >> d & 1;
      for (int i = 0; i < 18; ++i)
        for (int l = 0; l < n; ++l)
          near.group(b)[(18 * d + i) * n + l] = from[i * n + (moves ? layout.lane_from(d)[l] : l)];
    }
  return near;
}

template void run(way, int, const setting<double>&, std::int64_t, std::int64_t);
template void run(way, int, const setting<float>&, std::int64_t, std::int64_t);
template field<double, 144> near_with_three_rows(const links<double>&);
template field<float, 144> near_with_three_rows(const links<float>&);

}  // namespace plaq::bench

#include "plaq/lqcd/dirac/half_spinor.hpp"
#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/lattice/widths.hpp"

namespace plaq::lqcd {

namespace {

/// Adds the term of the link in direction D / 2 at group b.
template <class V, int D, bool Dagger, class T>
PLAQ_KERNEL void add_link_derivative(const derivative_args<T>& w, std::int64_t b, const lane_moves<V>& moves,
                                     unsigned edges) {
  constexpr int mu = direction_of<D>, n = linalg::lanes<V>;
  const auto& hop = w.hopping;
  const std::int64_t half = hop.layout->half(), own = b - hop.parity * half;
  half_spinor<V> h;
  if (edges >> (8 + D) & 1) {
    const T* from = hop.faces[D] + std::int64_t(hop.layout->neighbours_of(b)[D]) * 12 * n;
    for (int s = 0; s < 2; ++s)
      for (int c = 0; c < 3; ++c) h.at[s][c] = load_cx<V>(from + (3 * s + c) * 2 * n);
  } else {
    const std::int64_t there = hop.layout->neighbours_of(b)[D] - (1 - hop.parity) * half;
    h = project<V, D, Dagger>(hop.in + there * 24 * n);
    if (edges >> D & 1)
      for (auto& spin : h.at)
        for (auto& z : spin) z = permute(z, moves.from[D]);
  }
  const auto g = project<V, D, Dagger>(w.left + own * 24 * n);
  const std::int64_t at = (4 * own + mu) * 18 * n;
  const auto u = load_link<V, true>(hop.links + (8 * b + D) * 12 * n, hop.link_determinants[mu]);
  for (int i = 0; i < 3; ++i) {
    cx<V> first, second;
    row_of_product<false>(u, i, h, first, second);
    for (int j = 0; j < 3; ++j) {
      T* to = w.out + at + (3 * i + j) * 2 * n;
      store_cx<V>(to, fma<true>(g.at[1][j], second, fma<true>(g.at[0][j], first, load_cx<V>(to))));
    }
  }
}

template <class V, bool Dagger, class T>
void add_derivatives(const derivative_args<T>& w, std::int64_t first, std::int64_t end) {
  const lane_moves<V> moves(*w.hopping.layout);
  for (std::int64_t b = first; b < end; ++b) {
    const unsigned edges = w.hopping.layout->edges(b);
    add_link_derivative<V, 0, Dagger>(w, b, moves, edges);
    add_link_derivative<V, 2, Dagger>(w, b, moves, edges);
    add_link_derivative<V, 4, Dagger>(w, b, moves, edges);
    add_link_derivative<V, 6, Dagger>(w, b, moves, edges);
  }
}

}  // namespace

template <class T>
void derivative(const derivative_args<T>& args, std::int64_t first, std::int64_t end) {
  with_lanes<T>(args.hopping.layout->lanes(), [&]<int N>() {
    using V = linalg::simd<T, N>;
    args.hopping.dagger ? add_derivatives<V, true>(args, first, end) : add_derivatives<V, false>(args, first, end);
  });
}

template void derivative(const derivative_args<double>&, std::int64_t, std::int64_t);
template void derivative(const derivative_args<float>&, std::int64_t, std::int64_t);

}  // namespace plaq::lqcd

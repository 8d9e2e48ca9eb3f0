#include "plaq/lqcd/half_spinor.hpp"
#include "plaq/lqcd/hopping_kernel.hpp"
#include "plaq/lqcd/widths.hpp"

namespace plaq::lqcd {

namespace {

/// The part of the link in direction D / 2 of block b.
template <class V, int D, bool Dagger, class T>
PLAQ_KERNEL void one_link(const derivative_work<T>& w, std::int64_t b, const lane_moves<V>& moves, unsigned edges) {
  constexpr int mu = direction_of<D>, n = linalg::lanes<V>;
  const auto& hop = w.of;
  const std::int64_t half = hop.where->half(), here = b - hop.parity * half;
  half_spinor<V> h;
  if (edges >> (8 + D) & 1) {
    const T* from = hop.faces[D] + std::int64_t(hop.where->next(b)[D]) * 12 * n;
    for (int s = 0; s < 2; ++s)
      for (int c = 0; c < 3; ++c) h.at[s][c] = load_cx<V>(from + (3 * s + c) * 2 * n);
  } else {
    const std::int64_t there = hop.where->next(b)[D] - (1 - hop.parity) * half;
    h = project<V, D, Dagger>(hop.in + there * 24 * n);
    if (edges >> D & 1)
      for (auto& spin : h.at)
        for (auto& z : spin) z = permute(z, moves.from[D]);
  }
  const auto g = project<V, D, Dagger>(w.here + here * 24 * n);
  const std::int64_t at = (4 * here + mu) * 18 * n;
  const auto u = load_link<V, true>(hop.links + (8 * b + D) * 12 * n, hop.turns[mu]);
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
void all_blocks(const derivative_work<T>& w, std::int64_t first, std::int64_t end) {
  const lane_moves<V> moves(*w.of.where);
  for (std::int64_t b = first; b < end; ++b) {
    const unsigned edges = w.of.where->edges(b);
    one_link<V, 0, Dagger>(w, b, moves, edges);
    one_link<V, 2, Dagger>(w, b, moves, edges);
    one_link<V, 4, Dagger>(w, b, moves, edges);
    one_link<V, 6, Dagger>(w, b, moves, edges);
  }
}

}  // namespace

template <class T>
void derivative(const derivative_work<T>& work, std::int64_t first, std::int64_t end) {
  with_lanes<T>(work.of.where->lanes(), [&]<int N>() {
    using V = linalg::simd<T, N>;
    work.of.dagger ? all_blocks<V, true>(work, first, end) : all_blocks<V, false>(work, first, end);
  });
}

template void derivative(const derivative_work<double>&, std::int64_t, std::int64_t);
template void derivative(const derivative_work<float>&, std::int64_t, std::int64_t);

}  // namespace plaq::lqcd

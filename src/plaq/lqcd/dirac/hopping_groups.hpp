// Template of the hopping kernel. Every precision is compiled in a file of its own.
#pragma once
#include <algorithm>
#include <array>
#include <complex>
#include <concepts>
#include <span>
#include <utility>

#include "plaq/lqcd/dirac/half_spinor.hpp"
#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/lattice/widths.hpp"

namespace plaq::lqcd {

namespace hopping_groups {

template <class V>
struct spinor {
  cx<V> at[4][3];
};

/// Adds the four spins of (1 -+ gamma_mu) psi, whose upper two are h, for colour i.
template <int D, bool Dagger, class V>
PLAQ_KERNEL void reconstruct(spinor<V>& sum, int i, cx<V> first, cx<V> second) {
  const auto spin = [&]<int S>(cx<V> h) {
    constexpr auto e = gamma::e[direction_of<D>][S];
    sum.at[S][i] = add<0>(sum.at[S][i], h);
    auto& low = sum.at[2 + e.column][i];
    low = add<8 - e.phase + sign_phase<D, Dagger>>(low, h);
  };
  spin.template operator()<0>(first);
  spin.template operator()<1>(second);
}

/// Compile-time variant of a kernel, so that a group is computed without a branch.
struct kernel_variant {
  bool dagger;
  bool stored;        ///< third rows of links are read
  bool determinants;  ///< links have determinants, with which third rows are computed
  bool faces;         ///< half spinors may come from other ranks
  bool prefetch;
};

/// Adds the contribution of direction D to group b.
template <class V, int D, kernel_variant K, class T, class S>
PLAQ_KERNEL void add_direction(const hopping_args<T, S>& w, std::int64_t b, const lane_moves<V>& moves, unsigned edges,
                               spinor<V>& sum) {
  constexpr int n = linalg::lanes<V>;
  half_spinor<V> h;
  if (K.faces && edges >> (8 + D) & 1) {
    const T* from = w.faces[D] + std::int64_t(w.layout->neighbours_of(b)[D]) * 12 * n;
    for (int s = 0; s < 2; ++s)
      for (int c = 0; c < 3; ++c) h.at[s][c] = load_cx<V>(from + (3 * s + c) * 2 * n);
    if constexpr (!ahead<D>) {
      for (int i = 0; i < 3; ++i) reconstruct<D, K.dagger>(sum, i, h.at[0][i], h.at[1][i]);
      return;
    }
  } else {
    const std::int64_t there = w.layout->neighbours_of(b)[D] - (1 - w.parity) * w.layout->half();
    h = project<V, D, K.dagger>(w.in + there * 24 * n);
    if (edges >> D & 1)
      for (auto& spin : h.at)
        for (auto& z : spin) z = permute(z, moves.from[D]);
  }
  const auto u = [&] PLAQ_INLINE {
    const std::int64_t at = (neighbours * b + D) * n;
    if constexpr (K.stored)
      return load_link<V>(w.links + 12 * at, w.third_rows + 6 * at);
    else
      return load_link<V, K.determinants>(w.links + 12 * at, w.link_determinants[direction_of<D>]);
  }();
  for (int i = 0; i < 3; ++i) {
    cx<V> first, second;
    row_of_product<!ahead<D>>(u, i, h, first, second);
    reconstruct<D, K.dagger>(sum, i, first, second);
  }
}

/// Fetches a part of the data of the next group b that were not used recently into the first cache: links to direction
/// D, and a quarter of a spinor on another time slice. (Links are read once, but with the non-temporal hint Xeons reach
/// a third of the memory bandwidth.)
template <class V, int D, class T, class S>
PLAQ_KERNEL void prefetch(const hopping_args<T, S>& w, std::int64_t b) {
  constexpr int n = linalg::lanes<V>, line = std::max<int>(1, 64 / sizeof(V)), of_links = 64 / (n * sizeof(S));
  constexpr int read = 0, first_cache = 3, time = D / 4, part = D % 4 * 6;
  const S* u = w.links + (neighbours * b + D) * 12 * n;
  for (int i = 0; i < 12; i += of_links) __builtin_prefetch(u + i * n, read, first_cache);
  if (w.layout->edges(b) >> (8 + time) & 1) return;
  const T* in = w.in + (w.layout->neighbours_of(b)[time] - (1 - w.parity) * w.layout->half()) * 24 * n;
  for (int i = part; i < part + 6; i += line) __builtin_prefetch(in + i * n, read, first_cache);
}

/// Keeps the compiler from moving loads and prefetches over this point: many prefetches at once stall each other.
PLAQ_KERNEL void compiler_barrier() { asm volatile("" ::: "memory"); }

/// Stores c sum + d phi on one site of each lane.
template <class V, bool Add, bool Stream, class T, class S>
PLAQ_KERNEL void finish(const hopping_args<T, S>& w, std::int64_t at, const spinor<V>& sum) {
  constexpr int n = 2 * linalg::lanes<V>;
  const auto factor = [](chiral<T> z, bool upper) {
    return cx<V>{linalg::same<V>(z.real()), linalg::same<V>(upper ? z.imag() : -z.imag())};
  };
  for (const bool upper : {true, false}) {
    const auto c = factor(w.c, upper), d = factor(w.d, upper);
    for (int s = upper ? 0 : 2; s < (upper ? 2 : 4); ++s)
      for (int colour = 0; colour < 3; ++colour) {
        const std::int64_t i = at + (3 * s + colour) * n;
        auto result = mul(c, sum.at[s][colour]);
        if constexpr (Add) result = fma(d, load_cx<V>(w.phi + i), result);
        Stream ? stream_cx<V>(w.out + i, result) : store_cx<V>(w.out + i, result);
      }
  }
}

template <class V, kernel_variant K, class T, class S>
PLAQ_KERNEL void hop_group(const hopping_args<T, S>& w, std::int64_t b, std::int64_t next, const lane_moves<V>& moves) {
  const unsigned edges = w.layout->edges(b);
  spinor<V> sum = {};
  [&]<int... D>(std::integer_sequence<int, D...>) PLAQ_INLINE {
    ((K.prefetch ? (compiler_barrier(), prefetch<V, D>(w, next), compiler_barrier()) : void(),
      add_direction<V, D, K>(w, b, moves, edges, sum)),
     ...);
  }(std::make_integer_sequence<int, neighbours>());
  const std::int64_t at = (b - w.parity * w.layout->half()) * 24 * linalg::lanes<V>;
  if (K.prefetch && w.stream)
    w.phi ? finish<V, true, K.prefetch>(w, at, sum) : finish<V, false, K.prefetch>(w, at, sum);
  else
    w.phi ? finish<V, true, false>(w, at, sum) : finish<V, false, false>(w, at, sum);
}

/// Computes any group in the general variant: multiplying by determinants that are one changes nothing.
template <class V, bool Dagger, class T, class S>
[[gnu::noinline]] void hop_any_group(const hopping_args<T, S>& w, std::int64_t b) {
  constexpr kernel_variant general{
      .dagger = Dagger, .stored = false, .determinants = true, .faces = true, .prefetch = false};
  hop_group<V, general>(w, b, b, lane_moves<V>(*w.layout));
}

/// Computes groups in variant K, and in the general one at edges of the rank and with fewer lanes than a register has:
/// the first are few, the second occur on small lattices only.
template <class V, kernel_variant K, class T, class S>
void hop_groups(const hopping_args<T, S>& w, std::span<const std::int32_t> groups) {
  const lane_moves<V> moves(*w.layout);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::int64_t b = groups[i];
    if constexpr (linalg::lanes<V> == linalg::native_lanes<T>)
      if (!(w.layout->edges(b) >> 8)) {
        hop_group<V, K>(w, b, groups[std::min(i + 1, groups.size() - 1)], moves);
        continue;
      }
    hop_any_group<V, K.dagger>(w, b);
  }
  if (K.prefetch && w.stream) stream_fence();
}

}  // namespace hopping_groups

template <class T, class S>
void hop(const hopping_args<T, S>& args, std::span<const std::int32_t> groups) {
  with_lanes<T>(args.layout->lanes(), [&]<int N>() {
    using V = linalg::simd<T, N>;
    const auto run = [&]<bool Stored, bool Determinants, bool Prefetch>() {
      using hopping_groups::hop_groups, hopping_groups::kernel_variant;
      args.dagger ? hop_groups<V, kernel_variant{true, Stored, Determinants, false, Prefetch}>(args, groups)
                  : hop_groups<V, kernel_variant{false, Stored, Determinants, false, Prefetch}>(args, groups);
    };
    // Fewer lanes than a register has occur on small lattices only; links of 16 bits are for large ones.
    if constexpr (N == linalg::native_lanes<T> && !std::same_as<S, T>) {
      return run.template operator()<false, true, true>();
    } else if constexpr (N == linalg::native_lanes<T>) {
      const bool determinants = args.link_determinants != std::array<std::complex<T>, 4>{1, 1, 1, 1};
      if (determinants && args.prefetch) return run.template operator()<false, true, true>();
      if (args.prefetch) return run.template operator()<false, false, true>();
      if (args.third_rows) return run.template operator()<true, false, false>();
    }
    run.template operator()<false, true, false>();
  });
}

template <class T>
void compute_third_rows(const hopping_args<T>& args, std::int64_t first, std::int64_t end, T* out) {
  with_lanes<T>(args.layout->lanes(), [&]<int N>() {
    for (std::int64_t i = first * neighbours; i < end * neighbours; ++i) {
      const auto u =
          load_link<linalg::simd<T, N>, true>(args.links + i * 12 * N, args.link_determinants[i % neighbours / 2]);
      for (int j = 0; j < 3; ++j) store_cx(out + (i * 3 + j) * 2 * N, u.at[2][j]);
    }
  });
}

}  // namespace plaq::lqcd

#include "plaq/lqcd/hopping_kernel.hpp"

#include <algorithm>
#include <concepts>

#include "plaq/lqcd/half_spinor.hpp"
#include "plaq/lqcd/widths.hpp"

namespace plaq::lqcd {

namespace {

template <class V>
struct spinor {
  cx<V> at[4][3];
};

/// sum += (1 -+ gamma_mu) applied to what has the upper spins h, of colour i.
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

/// What a kernel is compiled for, so that a block is worked on without a branch.
struct kind {
  bool dagger;
  bool whole;   ///< links have third rows in memory
  bool turned;  ///< links have determinants, and no third rows
  bool faces;   ///< half spinors may have come from other ranks
  bool prefetch;
};

/// What came from direction D for block b.
template <class V, int D, kind K, class T, class S>
PLAQ_KERNEL void one_direction(const hop_work<T, S>& w, std::int64_t b, const lane_moves<V>& moves, unsigned edges,
                               spinor<V>& sum) {
  constexpr int n = linalg::lanes<V>;
  half_spinor<V> h;
  if (K.faces && edges >> (8 + D) & 1) {
    const T* from = w.faces[D] + std::int64_t(w.where->next(b)[D]) * 12 * n;
    for (int s = 0; s < 2; ++s)
      for (int c = 0; c < 3; ++c) h.at[s][c] = load_cx<V>(from + (3 * s + c) * 2 * n);
    if constexpr (!ahead<D>) {
      for (int i = 0; i < 3; ++i) reconstruct<D, K.dagger>(sum, i, h.at[0][i], h.at[1][i]);
      return;
    }
  } else {
    const std::int64_t there = w.where->next(b)[D] - (1 - w.parity) * w.where->half();
    h = project<V, D, K.dagger>(w.in + there * 24 * n);
    if (edges >> D & 1)
      for (auto& spin : h.at)
        for (auto& z : spin) z = permute(z, moves.from[D]);
  }
  const auto u = [&] {
    const auto at = neighbours * b + D;
    if constexpr (K.whole)
      return load_link<V>(w.links + at * 12 * n, w.third_rows + at * 6 * n);
    else
      return load_link<V, K.turned>(w.links + at * 12 * n, w.turns[direction_of<D>]);
  }();
  for (int i = 0; i < 3; ++i) {
    cx<V> first, second;
    row_of_product<!ahead<D>>(u, i, h, first, second);
    reconstruct<D, K.dagger>(sum, i, first, second);
  }
}

/// Fetched so far ahead of their use. Into the second cache: the first does not hold what two blocks need.
constexpr std::size_t blocks_ahead = 2;

/// Fetches a part of what block b needs and was not used a moment ago: links to direction D, and a quarter of a spinor
/// from another time. (Links are read once, but with the hint that says so memory gives Xeons a third of its
/// bandwidth.)
template <class V, int D, class T, class S>
PLAQ_KERNEL void prefetch(const hop_work<T, S>& w, std::int64_t b) {
  constexpr int n = linalg::lanes<V>, line = std::max<int>(1, 64 / sizeof(V)), of_links = 64 / (n * sizeof(S));
  constexpr int read = 0, second_cache = 2, time = D / 4, part = D % 4 * 6;
  const S* u = w.links + (neighbours * b + D) * 12 * n;
  for (int i = 0; i < 12; i += of_links) __builtin_prefetch(u + i * n, read, second_cache);
  if (w.where->edges(b) >> (8 + time) & 1) return;
  const T* in = w.in + (w.where->next(b)[time] - (1 - w.parity) * w.where->half()) * 24 * n;
  for (int i = part; i < part + 6; i += line) __builtin_prefetch(in + i * n, read, second_cache);
}

/// Keeps the compiler from moving loads and prefetches over this point: many prefetches at once wait for each other.
PLAQ_KERNEL void one_after_the_other() { asm volatile("" ::: "memory"); }

/// c sum + d phi on one site of each lane.
template <class V, bool Add, bool Stream, class T, class S>
PLAQ_KERNEL void finish(const hop_work<T, S>& w, std::int64_t at, const spinor<V>& sum) {
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

template <class V, kind K, class T, class S>
PLAQ_KERNEL void one_block(const hop_work<T, S>& w, std::int64_t b, std::int64_t later, const lane_moves<V>& moves) {
  const unsigned edges = w.where->edges(b);
  spinor<V> sum = {};
  [&]<int... D>(std::integer_sequence<int, D...>) PLAQ_INLINE {
    ((K.prefetch ? (one_after_the_other(), prefetch<V, D>(w, later), one_after_the_other()) : void(),
      one_direction<V, D, K>(w, b, moves, edges, sum)),
     ...);
  }(std::make_integer_sequence<int, neighbours>());
  const std::int64_t at = (b - w.parity * w.where->half()) * 24 * linalg::lanes<V>;
  if (K.prefetch && w.stream)
    w.phi ? finish<V, true, K.prefetch>(w, at, sum) : finish<V, false, K.prefetch>(w, at, sum);
  else
    w.phi ? finish<V, true, false>(w, at, sum) : finish<V, false, false>(w, at, sum);
}

/// One block of any kind: multiplying by determinants that are one changes nothing.
template <class V, bool Dagger, class T, class S>
[[gnu::noinline]] void any_block(const hop_work<T, S>& w, std::int64_t b) {
  constexpr kind any{.dagger = Dagger, .whole = false, .turned = true, .faces = true, .prefetch = false};
  one_block<V, any>(w, b, b, lane_moves<V>(*w.where));
}

/// Blocks at an edge of the rank are few, and a lattice that is too small for all lanes is too small for more care.
template <class V, kind K, class T, class S>
void all_blocks(const hop_work<T, S>& w, std::span<const std::int32_t> blocks) {
  const lane_moves<V> moves(*w.where);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::int64_t b = blocks[i];
    if constexpr (linalg::lanes<V> == linalg::native_lanes<T>)
      if (!(w.where->edges(b) >> 8)) {
        one_block<V, K>(w, b, blocks[std::min(i + blocks_ahead, blocks.size() - 1)], moves);
        continue;
      }
    any_block<V, K.dagger>(w, b);
  }
  if (K.prefetch && w.stream) streamed();
}

/// Half spinors for the blocks of a face, from the blocks there in direction D, with U^+ where they are behind.
template <class V, int D, bool Dagger, class T, class S>
void pack(const hop_work<T, S>& w, std::size_t first_block, std::size_t end, T* send) {
  constexpr int mu = direction_of<D>, n = linalg::lanes<V>;
  const layout& where = *w.where;
  const lane_moves<V> moves(where);
  const auto& lanes = where.lanes_at_edge(D);
  const auto& face = where.face(w.parity, D);
  for (std::size_t f = first_block; f < end; ++f) {
    const std::int64_t there = face[f] - (1 - w.parity) * where.half();
    auto h = project<V, D, Dagger>(w.in + there * 24 * n);
    if constexpr (!ahead<D>) {
      // The link that leads from there ahead.
      half_spinor<V> product;
      const auto u = load_link<V, true>(w.links + (neighbours * std::int64_t(face[f]) + D - 1) * 12 * n, w.turns[mu]);
      for (int i = 0; i < 3; ++i) row_of_product<true>(u, i, h, product.at[0][i], product.at[1][i]);
      h = product;
    }
    // Moved to its lane: what lies at the edge is the other rank's, all else ours.
    T* ours = w.faces[D] + f * 12 * n;
    T* theirs = send + f * 12 * lanes.size();
    for (int s = 0; s < 2; ++s)
      for (int c = 0; c < 3; ++c) store_cx<V>(ours + (3 * s + c) * 2 * n, permute(h.at[s][c], moves.from[D]));
    for (int i = 0; i < 12; ++i)
      for (std::size_t l = 0; l < lanes.size(); ++l) *theirs++ = ours[i * n + lanes[l]];
  }
}

}  // namespace

template <class T, class S>
void hop(const hop_work<T, S>& work, std::span<const std::int32_t> blocks) {
  with_lanes<T>(work.where->lanes(), [&]<int N>() {
    using V = linalg::simd<T, N>;
    const auto run = [&]<bool Whole, bool Turned, bool Prefetch>() {
      work.dagger ? all_blocks<V, kind{true, Whole, Turned, false, Prefetch}>(work, blocks)
                  : all_blocks<V, kind{false, Whole, Turned, false, Prefetch}>(work, blocks);
    };
    // A lattice that is too small for all lanes is too small for more care; links of 16 bits are for large ones.
    if constexpr (N == linalg::native_lanes<T> && !std::same_as<S, T>) {
      return run.template operator()<false, true, true>();
    } else if constexpr (N == linalg::native_lanes<T>) {
      const bool turned = work.turns != std::array<std::complex<T>, 4>{1, 1, 1, 1};
      if (turned && work.prefetch) return run.template operator()<false, true, true>();
      if (work.prefetch) return run.template operator()<false, false, true>();
      if (work.third_rows) return run.template operator()<true, false, false>();
    }
    run.template operator()<false, true, false>();
  });
}

template <class T>
void work_out(third_rows<T>& out, const near_links<T>& links, const std::array<std::complex<T>, 4>& turns,
              std::int64_t first, std::int64_t end) {
  with_lanes<T>(links.lanes(), [&]<int N>() {
    using V = linalg::simd<T, N>;
    for (std::int64_t b = first; b < end; ++b)
      for (int d = 0; d < neighbours; ++d) {
        const auto u = load_link<V, true>(links.block(b) + d * 12 * N, turns[d / 2]);
        for (int j = 0; j < 3; ++j) store_cx<V>(out.block(b) + (3 * d + j) * 2 * N, u.at[2][j]);
      }
  });
}

template <class T, class S>
void pack_face(const hop_work<T, S>& work, int d, std::size_t first, std::size_t end, T* send) {
  with_lanes<T>(work.where->lanes(), [&]<int N>() {
    [&]<int... D>(std::integer_sequence<int, D...>) {
      using V = linalg::simd<T, N>;
      ((d == D ? work.dagger ? pack<V, D, true>(work, first, end, send) : pack<V, D, false>(work, first, end, send)
               : void()),
       ...);
    }(std::make_integer_sequence<int, neighbours>());
  });
}

template <class T, class S>
void unpack_face(const hop_work<T, S>& work, int d, std::size_t first, std::size_t end, const T* came) {
  const int n = work.where->lanes();
  const auto& lanes = work.where->lanes_at_edge(d);
  came += first * 12 * lanes.size();
  for (T* to = work.faces[d] + first * 12 * n; to != work.faces[d] + end * 12 * n; to += n)
    for (const int l : lanes) to[l] = *came++;
}

template <class T>
int widest() {
  return linalg::native_lanes<T>;
}

template void hop(const hop_work<double>&, std::span<const std::int32_t>);
template void hop(const hop_work<float>&, std::span<const std::int32_t>);
template void hop(const hop_work<float, fixed16>&, std::span<const std::int32_t>);
template void work_out(third_rows<double>&, const near_links<double>&, const std::array<std::complex<double>, 4>&,
                       std::int64_t, std::int64_t);
template void work_out(third_rows<float>&, const near_links<float>&, const std::array<std::complex<float>, 4>&,
                       std::int64_t, std::int64_t);
template void pack_face(const hop_work<double>&, int, std::size_t, std::size_t, double*);
template void pack_face(const hop_work<float>&, int, std::size_t, std::size_t, float*);
template void pack_face(const hop_work<float, fixed16>&, int, std::size_t, std::size_t, float*);
template void unpack_face(const hop_work<double>&, int, std::size_t, std::size_t, const double*);
template void unpack_face(const hop_work<float>&, int, std::size_t, std::size_t, const float*);
template void unpack_face(const hop_work<float, fixed16>&, int, std::size_t, std::size_t, const float*);
template int widest<double>();
template int widest<float>();

}  // namespace plaq::lqcd

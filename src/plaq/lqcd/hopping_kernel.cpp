#include "plaq/lqcd/hopping_kernel.hpp"

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

/// What came from direction D for block b.
template <class V, int D, bool Dagger, bool Edges, class T>
PLAQ_KERNEL void one_direction(const hop_work<T>& w, std::int64_t b, const lane_moves<V>& moves, unsigned edges,
                               spinor<V>& sum) {
  constexpr int mu = direction_of<D>, n = linalg::lanes<V>;
  const std::int64_t half = w.where->half();
  half_spinor<V> h;
  if (Edges && edges >> (8 + D) & 1) {
    const T* from = w.faces[D] + std::int64_t(w.where->next(b)[D]) * 12 * n;
    for (int s = 0; s < 2; ++s)
      for (int c = 0; c < 3; ++c) h.at[s][c] = load_cx<V>(from + (3 * s + c) * 2 * n);
    if constexpr (!ahead<D>) {
      for (int i = 0; i < 3; ++i) reconstruct<D, Dagger>(sum, i, h.at[0][i], h.at[1][i]);
      return;
    }
  } else {
    const std::int64_t there = w.where->next(b)[D] - (1 - w.parity) * half;
    h = project<V, D, Dagger>(w.in + there * 24 * n);
    if constexpr (!ahead<D>) {
      const T* u = w.links[1 - w.parity] + (4 * there + mu) * 18 * n;
      for (int i = 0; i < 3; ++i) {
        cx<V> first, second;
        row_of_product<V, true>(u, i, h, first, second);
        if (Edges && edges >> D & 1)
          first = permute(first, moves.from[D]), second = permute(second, moves.from[D]);
        reconstruct<D, Dagger>(sum, i, first, second);
      }
      return;
    }
    if (Edges && edges >> D & 1)
      for (auto& spin : h.at)
        for (auto& z : spin) z = permute(z, moves.from[D]);
  }
  const T* u = w.links[w.parity] + (4 * (b - w.parity * half) + mu) * 18 * n;
  for (int i = 0; i < 3; ++i) {
    cx<V> first, second;
    row_of_product<V, false>(u, i, h, first, second);
    reconstruct<D, Dagger>(sum, i, first, second);
  }
}

template <class V, bool Dagger, bool Edges, class T>
PLAQ_KERNEL void one_block(const hop_work<T>& w, std::int64_t b, const lane_moves<V>& moves, unsigned edges) {
  constexpr int n = 2 * linalg::lanes<V>;
  spinor<V> sum = {};
  [&]<int... D>(std::integer_sequence<int, D...>) {
    (one_direction<V, D, Dagger, Edges>(w, b, moves, edges, sum), ...);
  }
  (std::make_integer_sequence<int, neighbours>());

  const std::int64_t at = (b - w.parity * w.where->half()) * 12 * n;
  for (int s = 0; s < 4; ++s)
    for (int c = 0; c < 3; ++c) {
      const int i = (3 * s + c) * n;
      const auto factor = [&](chiral<T> z) {
        return cx<V>{linalg::same<V>(z.real()), linalg::same<V>(s < 2 ? z.imag() : -z.imag())};
      };
      auto result = mul(factor(w.c), sum.at[s][c]);
      if (w.phi) result = fma(factor(w.d), load_cx<V>(w.phi + at + i), result);
      store_cx<V>(w.out + at + i, result);
    }
}

template <class V, bool Dagger, class T>
void all_blocks(const hop_work<T>& w, std::span<const std::int32_t> blocks) {
  const lane_moves<V> moves(*w.where);
  for (const auto b : blocks) {
    const unsigned edges = w.where->edges(b);
    if (edges)
      one_block<V, Dagger, true>(w, b, moves, edges);
    else
      one_block<V, Dagger, false>(w, b, moves, 0);
  }
}

/// Half spinors for the blocks of a face, from the blocks there in direction D, with U^+ where they are behind.
template <class V, int D, bool Dagger, class T>
void pack(const hop_work<T>& w, std::size_t first_block, std::size_t end, T* send) {
  constexpr int mu = direction_of<D>, n = linalg::lanes<V>;
  const layout& where = *w.where;
  const lane_moves<V> moves(where);
  const auto& lanes = where.lanes_at_edge(D);
  const auto& face = where.face(w.parity, D);
  for (std::size_t f = first_block; f < end; ++f) {
    const std::int64_t there = face[f] - (1 - w.parity) * where.half();
    auto h = project<V, D, Dagger>(w.in + there * 24 * n);
    if constexpr (!ahead<D>) {
      half_spinor<V> product;
      const T* u = w.links[1 - w.parity] + (4 * there + mu) * 18 * n;
      for (int i = 0; i < 3; ++i) row_of_product<V, true>(u, i, h, product.at[0][i], product.at[1][i]);
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

template <class T>
void hop(const hop_work<T>& work, std::span<const std::int32_t> blocks) {
  with_lanes<T>(work.where->lanes(), [&]<int N>() {
    using V = linalg::simd<T, N>;
    work.dagger ? all_blocks<V, true>(work, blocks) : all_blocks<V, false>(work, blocks);
  });
}

template <class T>
void pack_face(const hop_work<T>& work, int d, std::size_t first, std::size_t end, T* send) {
  with_lanes<T>(work.where->lanes(), [&]<int N>() {
    [&]<int... D>(std::integer_sequence<int, D...>) {
      using V = linalg::simd<T, N>;
      ((d == D ? work.dagger ? pack<V, D, true>(work, first, end, send) : pack<V, D, false>(work, first, end, send)
               : void()),
       ...);
    }
    (std::make_integer_sequence<int, neighbours>());
  });
}

template <class T>
void unpack_face(const hop_work<T>& work, int d, std::size_t first, std::size_t end, const T* came) {
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
template void pack_face(const hop_work<double>&, int, std::size_t, std::size_t, double*);
template void pack_face(const hop_work<float>&, int, std::size_t, std::size_t, float*);
template void unpack_face(const hop_work<double>&, int, std::size_t, std::size_t, const double*);
template void unpack_face(const hop_work<float>&, int, std::size_t, std::size_t, const float*);
template int widest<double>();
template int widest<float>();

}  // namespace plaq::lqcd

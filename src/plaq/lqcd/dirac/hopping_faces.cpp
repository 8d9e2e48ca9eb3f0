// Half spinors of the hopping matrix that go from rank to rank.
#include "plaq/lqcd/dirac/half_spinor.hpp"
#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/lattice/widths.hpp"

namespace plaq::lqcd {

namespace {

/// Computes the half spinors for the groups of a face from their neighbours in direction D, with U^+ if these are
/// behind.
template <class V, int D, bool Dagger, class T, class S>
void pack(const hopping_args<T, S>& w, std::size_t first_group, std::size_t end, T* send) {
  constexpr int mu = direction_of<D>, n = linalg::lanes<V>;
  const site_layout& layout = *w.layout;
  const lane_moves<V> moves(layout);
  const auto& lanes = layout.lanes_at_edge(D);
  const auto& face = layout.face(w.parity, D);
  for (std::size_t f = first_group; f < end; ++f) {
    const std::int64_t there = face[f] - (1 - w.parity) * layout.half();
    auto h = project<V, D, Dagger>(w.in + there * 24 * n);
    if constexpr (!ahead<D>) {
      // The link from the neighbour ahead.
      half_spinor<V> product;
      const auto u =
          load_link<V, true>(w.links + (neighbours * std::int64_t(face[f]) + D - 1) * 12 * n, w.link_determinants[mu]);
      for (int i = 0; i < 3; ++i) row_of_product<true>(u, i, h, product.at[0][i], product.at[1][i]);
      h = product;
    }
    // Permuted to their lanes, numbers at the edge belong to the other rank, all others to this one.
    T* own_lanes = w.faces[D] + f * 12 * n;
    T* sent = send + f * 12 * lanes.size();
    for (int s = 0; s < 2; ++s)
      for (int c = 0; c < 3; ++c) store_cx<V>(own_lanes + (3 * s + c) * 2 * n, permute(h.at[s][c], moves.from[D]));
    for (int i = 0; i < 12; ++i)
      for (std::size_t l = 0; l < lanes.size(); ++l) *sent++ = own_lanes[i * n + lanes[l]];
  }
}

}  // namespace

template <class T, class S>
void pack_face(const hopping_args<T, S>& args, int d, std::size_t first, std::size_t end, T* send) {
  with_lanes<T>(args.layout->lanes(), [&]<int N>() {
    [&]<int... D>(std::integer_sequence<int, D...>) {
      using V = linalg::simd<T, N>;
      ((d == D ? args.dagger ? pack<V, D, true>(args, first, end, send) : pack<V, D, false>(args, first, end, send)
               : void()),
       ...);
    }(std::make_integer_sequence<int, neighbours>());
  });
}

template <class T, class S>
void unpack_face(const hopping_args<T, S>& args, int d, std::size_t first, std::size_t end, const T* received) {
  const int n = args.layout->lanes();
  const auto& lanes = args.layout->lanes_at_edge(d);
  received += first * 12 * lanes.size();
  for (T* to = args.faces[d] + first * 12 * n; to != args.faces[d] + end * 12 * n; to += n)
    for (const int l : lanes) to[l] = *received++;
}

template <class T>
int max_lanes() {
  return linalg::native_lanes<T>;
}

template void pack_face(const hopping_args<double>&, int, std::size_t, std::size_t, double*);
template void pack_face(const hopping_args<float>&, int, std::size_t, std::size_t, float*);
template void pack_face(const hopping_args<float, fixed16>&, int, std::size_t, std::size_t, float*);
template void unpack_face(const hopping_args<double>&, int, std::size_t, std::size_t, const double*);
template void unpack_face(const hopping_args<float>&, int, std::size_t, std::size_t, const float*);
template void unpack_face(const hopping_args<float, fixed16>&, int, std::size_t, std::size_t, const float*);
template int max_lanes<double>();
template int max_lanes<float>();

}  // namespace plaq::lqcd

// E and B at particles. Particles of a cell use the same points of the mesh, so that each point is loaded once for a
// register of particles.
#pragma once
#include "plaq/pic/mesh/fields.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/particles/shapes.hpp"

namespace plaq::pic {

/// Weights of the points around a register of particles, in the dimensions that are used.
template <int D, int Order, class V>
struct point_weights {
  using points = shape<Order>;
  V node[D][points::nodes], half[D][points::halves];

  PLAQ_KERNEL explicit point_weights(const V (&x)[D]) {
    using T = linalg::number_of<V>;
    for (int d = 0; d < D; ++d) {
      splines<Order>(x[d], T(points::first_node), node[d]);
      splines<Order>(x[d], T(points::first_half) + T(0.5), half[d]);
    }
  }
};

/// Returns the sum of w_x w_y w_z f, for a component that lies half a cell on where the bit of a dimension is set in
/// Halves.
template <int Halves, int D, int Order, class V, class T>
PLAQ_KERNEL V interpolate(const T* f, const std::ptrdiff_t* stride, const point_weights<D, Order, V>& s) {
  using points = shape<Order>;
  constexpr int nx = Halves & 1 ? points::halves : points::nodes,
                ny = D < 2        ? 1
                     : Halves & 2 ? points::halves
                                  : points::nodes,
                nz = D < 3        ? 1
                     : Halves & 4 ? points::halves
                                  : points::nodes;
  const V *wx = Halves & 1 ? s.half[0] : s.node[0], *wy = wx, *wz = wx;
  f += Halves & 1 ? points::first_half : points::first_node;
  if constexpr (D > 1)
    wy = Halves & 2 ? s.half[1] : s.node[1], f += (Halves & 2 ? points::first_half : points::first_node) * stride[1];
  if constexpr (D > 2)
    wz = Halves & 4 ? s.half[2] : s.node[2], f += (Halves & 4 ? points::first_half : points::first_node) * stride[2];
  V sum{};
  for (int k = 0; k < nz; ++k) {
    V plane{};
    for (int j = 0; j < ny; ++j) {
      const T* row = f + (D > 1 ? j * stride[1] : 0) + (D > 2 ? k * stride[2] : 0);
      V line = wx[0] * row[0];
      for (int i = 1; i < nx; ++i) line += wx[i] * row[i];
      plane = D > 1 ? plane + wy[j] * line : line;
    }
    sum = D > 2 ? sum + wz[k] * plane : plane;
  }
  return sum;
}

/// Gathers the E and B that a motion needs at a register of particles of the cell `at`; E is 0 across the dimensions of
/// the mesh where the motion is not transverse.
template <int D, int Order, class V, class T>
PLAQ_KERNEL void gather_fields(const patch_grid& m, const fields<T>& f, std::ptrdiff_t at,
                               const point_weights<D, Order, V>& s, const motion& by, V (&e)[3], V (&b)[3]) {
  const auto stride = m.stride.data();
  if (by.at_nodes) [[unlikely]] {
    for (int c = 0; c < 3; ++c) {
      e[c] = interpolate<0>(f.e[c].data() + at, stride, s);
      b[c] = interpolate<0>(f.b[c].data() + at, stride, s);
    }
    return;
  }
  e[0] = interpolate<1>(f.e[0].data() + at, stride, s);
  e[1] = D > 1 || by.transverse ? interpolate<2>(f.e[1].data() + at, stride, s) : V{};
  e[2] = D > 2 || by.transverse ? interpolate<4>(f.e[2].data() + at, stride, s) : V{};
  if (!by.magnetic) return;
  b[0] = interpolate<6>(f.b[0].data() + at, stride, s);
  b[1] = interpolate<5>(f.b[1].data() + at, stride, s);
  b[2] = interpolate<3>(f.b[2].data() + at, stride, s);
}

/// Adds E and B of the modes m >= 1 of a cylinder at a register of particles with these cosines and sines of the
/// azimuth.
template <int Order, class V, class T>
PLAQ_KERNEL void add_modes(const patch_grid& m, const fields<T>& f, std::ptrdiff_t at,
                           const point_weights<2, Order, V>& s, V cosine, V sine, V (&e)[3], V (&b)[3]) {
  V factor[2] = {cosine, sine};
  for (std::size_t q = 0; q < f.modes.size(); q += 2) {
    for (std::size_t part = 0; part < 2; ++part) {
      V e_part[3], b_part[3];
      gather_fields(m, f.modes[q + part], at, s, motion{}, e_part, b_part);
      for (int c = 0; c < 3; ++c) e[c] += factor[part] * e_part[c], b[c] += factor[part] * b_part[c];
    }
    const V before = factor[0];
    factor[0] = before * cosine - factor[1] * sine;
    factor[1] = factor[1] * cosine + before * sine;
  }
}

}  // namespace plaq::pic

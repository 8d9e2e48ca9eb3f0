// E and B at particles: those of a cell use the same points of the mesh, so each is loaded once for a register of them.
#include "plaq/pic/particle_kernel.hpp"
#include "plaq/pic/windows.hpp"

namespace plaq::pic::stages {

namespace {

/// Weights of a register of particles in the dimensions that are used.
template <int D, int Order, class V>
struct stencil {
  using at = window<Order>;
  V node[D][at::nodes], half[D][at::halves];

  PLAQ_KERNEL explicit stencil(const V (&x)[D]) {
    using T = linalg::number_of<V>;
    for (int d = 0; d < D; ++d) {
      splines<Order>(x[d], T(at::first_node), node[d]);
      splines<Order>(x[d], T(at::first_half) + T(0.5), half[d]);
    }
  }
};

/// sum of w_x w_y w_z f, for a component that lies half a cell on where the bit of a dimension is set in Halves.
template <int D, int Order, int Halves, class V, class T>
PLAQ_KERNEL V interpolate(const T* f, const std::ptrdiff_t* stride, const stencil<D, Order, V>& s) {
  using at = window<Order>;
  constexpr int nx = Halves & 1 ? at::halves : at::nodes, ny = D < 2 ? 1 : Halves & 2 ? at::halves : at::nodes,
                nz = D < 3 ? 1 : Halves & 4 ? at::halves : at::nodes;
  const V *wx = Halves & 1 ? s.half[0] : s.node[0], *wy = wx, *wz = wx;
  f += Halves & 1 ? at::first_half : at::first_node;
  if constexpr (D > 1) wy = Halves & 2 ? s.half[1] : s.node[1], f += (Halves & 2 ? at::first_half : at::first_node) * stride[1];
  if constexpr (D > 2) wz = Halves & 4 ? s.half[2] : s.node[2], f += (Halves & 4 ? at::first_half : at::first_node) * stride[2];
  V sum{};
  for (int k = 0; k < nz; ++k) {
    V plane{};
    for (int j = 0; j < ny; ++j) {
      const T* from = f + (D > 1 ? j * stride[1] : 0) + (D > 2 ? k * stride[2] : 0);
      V line = wx[0] * from[0];
      for (int i = 1; i < nx; ++i) line += wx[i] * from[i];
      plane = D > 1 ? plane + wy[j] * line : line;
    }
    sum = D > 2 ? sum + wz[k] * plane : plane;
  }
  return sum;
}

template <int D, int Order, class T>
void gather_all(const block& m, const fields<T>& f, const turn<T>& now, felt<T>& out) {
  using V = linalg::simd<T, linalg::native_lanes<T>>;
  const auto stride = m.stride.data();
  for_runs(now, [&](int begin, int end, std::ptrdiff_t at) {
    for (int l = begin; l < end; l += linalg::lanes<V>) {  // what is after the end is done again by the next run
      V x[D];
      for (int d = 0; d < D; ++d) x[d] = linalg::load<V>(now.x[d] + l);
      const stencil<D, Order, V> s(x);
      linalg::store(out.e[0] + l, interpolate<D, Order, 1>(f.e[0].data() + at, stride, s));
      linalg::store(out.e[1] + l, interpolate<D, Order, 2>(f.e[1].data() + at, stride, s));
      linalg::store(out.e[2] + l, interpolate<D, Order, 4>(f.e[2].data() + at, stride, s));
      linalg::store(out.b[0] + l, interpolate<D, Order, 6>(f.b[0].data() + at, stride, s));
      linalg::store(out.b[1] + l, interpolate<D, Order, 5>(f.b[1].data() + at, stride, s));
      linalg::store(out.b[2] + l, interpolate<D, Order, 3>(f.b[2].data() + at, stride, s));
    }
  });
}

}  // namespace

template <class T>
gather<T> gather_for(int dimensions, int order) {
  static constexpr gather<T> all[3][3] = {{gather_all<1, 1>, gather_all<1, 2>, gather_all<1, 3>},
                                          {gather_all<2, 1>, gather_all<2, 2>, gather_all<2, 3>},
                                          {gather_all<3, 1>, gather_all<3, 2>, gather_all<3, 3>}};
  return all[dimensions - 1][order - 1];
}

template gather<float> gather_for(int, int);
template gather<double> gather_for(int, int);

}  // namespace plaq::pic::stages

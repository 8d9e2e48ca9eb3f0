#include "plaq/base/error.hpp"
#include "plaq/pic/particle_kernel.hpp"
#include "plaq/pic/shapes.hpp"

namespace plaq::pic::stages {

namespace {

/// Weights in the dimensions that are used; 1 in others.
template <int D, int Order, class T>
struct stencil {
  weights<Order, T> node[D], half[D];
};

/// sum of w_x w_y w_z f, for a component that lies half a cell on where the bit of a dimension is set in Halves.
template <int D, int Order, int Halves, class T>
PLAQ_KERNEL T interpolate(const T* f, const std::ptrdiff_t* stride, const stencil<D, Order, T>& s) {
  const auto& x = Halves & 1 ? s.half[0] : s.node[0];
  const auto line = [&](const T* at) {
    T sum = 0;
    for (int i = 0; i <= Order; ++i) sum += x.at[i] * at[i];
    return sum;
  };
  f += x.base;
  if constexpr (D == 1) {
    return line(f);
  } else {
    const auto& y = Halves & 2 ? s.half[1] : s.node[1];
    const auto plane = [&](const T* at) {
      T sum = 0;
      for (int j = 0; j <= Order; ++j) sum += y.at[j] * line(at + j * stride[1]);
      return sum;
    };
    f += y.base * stride[1];
    if constexpr (D == 2) {
      return plane(f);
    } else {
      const auto& z = Halves & 4 ? s.half[2] : s.node[2];
      f += z.base * stride[2];
      T sum = 0;
      for (int k = 0; k <= Order; ++k) sum += z.at[k] * plane(f + k * stride[2]);
      return sum;
    }
  }
}

template <int D, int Order, class T>
void gather_all(const block& m, const fields<T>& f, const particles<T>& p, std::size_t first, int n, felt<T>& out) {
  const std::ptrdiff_t origin = m.origin();
  for (int l = 0; l < n; ++l) {
    const std::size_t i = first + std::size_t(l);
    std::ptrdiff_t at = origin;
    stencil<D, Order, T> s;
    for (int d = 0; d < D; ++d) {
      at += p.cell[d][i] * m.stride[d];
      s.node[d] = at_nodes<Order>(p.x[d][i]);
      s.half[d] = at_halves<Order>(p.x[d][i]);
    }
    const auto stride = m.stride.data();
    out.e[0][l] = interpolate<D, Order, 1>(f.e[0].data() + at, stride, s);
    out.e[1][l] = interpolate<D, Order, 2>(f.e[1].data() + at, stride, s);
    out.e[2][l] = interpolate<D, Order, 4>(f.e[2].data() + at, stride, s);
    out.b[0][l] = interpolate<D, Order, 6>(f.b[0].data() + at, stride, s);
    out.b[1][l] = interpolate<D, Order, 5>(f.b[1].data() + at, stride, s);
    out.b[2][l] = interpolate<D, Order, 3>(f.b[2].data() + at, stride, s);
  }
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

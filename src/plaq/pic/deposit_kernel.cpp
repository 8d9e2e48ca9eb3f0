// What single ways, and particles that stand still, leave on the mesh.
#include "plaq/pic/currents.hpp"
#include "plaq/pic/kernels.hpp"
#include "plaq/pic/runs.hpp"
#include "plaq/pic/tables.hpp"

namespace plaq::pic {

namespace {

template <int D, int Order, class T>
void deposit_one(const block& m, fields<T>& f, const way<T>& along, T charge) {
  way_currents<D, Order, T> sum;
  sum.add(m, along.from.data(), along.by.data(), charge);
  sum.into(m, f, m.index(along.cell));
}

template <int D, int Order, class T>
void charge_of_all(const block& m, fields<T>& f, const particles<T>& p, T density) {
  using V = linalg::simd<T, linalg::native_lanes<T>>;
  constexpr int n = window<Order>::nodes, ny = D > 1 ? n : 1, nz = D > 2 ? n : 1;
  for_cells<D>(m, p, [&](const point&, std::ptrdiff_t at, auto each_register) {
    V sum[n * ny * nz] = {};
    each_register([&](std::size_t i, lane_bits some) PLAQ_INLINE {
      V s[D][n];
      for (int d = 0; d < D; ++d)
        splines<Order>(load_some<V>(p.x[std::size_t(d)].data() + i, some), T(window<Order>::first_node), s[d]);
      const V q = density * load_some<V>(p.w.data() + i, some);
      for (int l = 0; l < nz; ++l)
        for (int k = 0; k < ny; ++k) {
          V w = q;
          if constexpr (D > 1) w *= s[1][k];
          if constexpr (D > 2) w *= s[2][l];
          for (int j = 0; j < n; ++j) sum[j + n * (k + n * l)] += w * s[0][j];
        }
    });
    alignas(64) T all[n * ny * nz];
    sums_of_lanes(sum, all);
    T* rho =
        f.rho.data() + at + window<Order>::first_node * (1 + (D > 1 ? m.stride[1] : 0) + (D > 2 ? m.stride[2] : 0));
    for (int l = 0; l < nz; ++l)
      for (int k = 0; k < ny; ++k)
        for (int j = 0; j < n; ++j) rho[j + k * m.stride[1] + l * m.stride[2]] += all[j + n * (k + n * l)];
  });
}

}  // namespace

template <class T>
void deposit(const block& m, int order, fields<T>& f, const way<T>& along, double charge) {
  static constexpr void (*all[3][3])(const block&, fields<T>&, const way<T>&, T) = PLAQ_PIC_TABLE(deposit_one);
  all[m.dimensions - 1][order - 1](m, f, along, T(charge / m.volume()));
}

template <class T>
void deposit_charge(const block& m, int order, fields<T>& f, const particles<T>& p, double charge) {
  static constexpr void (*all[3][3])(const block&, fields<T>&, const particles<T>&, T) = PLAQ_PIC_TABLE(charge_of_all);
  all[m.dimensions - 1][order - 1](m, f, p, T(charge / m.volume()));
}

template void deposit(const block&, int, fields<float>&, const way<float>&, double);
template void deposit(const block&, int, fields<double>&, const way<double>&, double);
template void deposit_charge(const block&, int, fields<float>&, const particles<float>&, double);
template void deposit_charge(const block&, int, fields<double>&, const particles<double>&, double);

}  // namespace plaq::pic

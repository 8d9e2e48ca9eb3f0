// Current of single paths and charge of particles.
#include "plaq/pic/particles/cell_runs.hpp"
#include "plaq/pic/particles/current_deposition.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/particles/rings.hpp"
#include "plaq/pic/particles/tables.hpp"

namespace plaq::pic {

namespace {

template <int D, int Order, bool Rings, class T>
void deposit_path_in(const patch_grid& m, fields<T>& f, const path<T>& along, T charge) {
  path_current<D, Order, T, Rings> sum{m.first[1] + along.cell[1]};
  sum.add(m, along.start.data(), along.displacement.data(), charge);
  sum.add_to(m, f, m.index(along.cell));
}

template <int D, int Order, class T>
void deposit_path_kernel(const patch_grid& m, fields<T>& f, const path<T>& along, T charge) {
  if constexpr (D == 2)
    if (m.cylinder) return deposit_path_in<D, Order, true>(m, f, along, charge);
  deposit_path_in<D, Order, false>(m, f, along, charge);
}

template <int D, int Order, bool Rings, class T>
void deposit_charge_in(const patch_grid& m, fields<T>& f, const particles<T>& p, T density) {
  using V = linalg::simd<T, linalg::native_lanes<T>>;
  constexpr int n = shape<Order>::nodes, ny = D > 1 ? n : 1, nz = D > 2 ? n : 1;
  for_each_cell_run<D>(m, p, [&](const point& cell, std::ptrdiff_t at, auto for_each_register) {
    V sum[n * ny * nz] = {};
    [[maybe_unused]] const T correction = T(Rings ? ring_correction(Order, m.first[1] + cell[1]) : 0);
    for_each_register([&](std::size_t i, lane_mask mask) PLAQ_INLINE {
      V s[D][n];
      for (int d = 0; d < D; ++d) {
        const V x = load_masked<V>(p.x[std::size_t(d)].data() + i, mask);
        splines<Order>(x, T(shape<Order>::first_node), s[d]);
        if constexpr (Rings)
          if (d == 1) correct_for_rings(correction, x, s[d], -shape<Order>::first_node);
      }
      const V q = density * load_masked<V>(p.w.data() + i, mask);
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
    T* rho = f.rho.data() + at + shape<Order>::first_node * (1 + (D > 1 ? m.stride[1] : 0) + (D > 2 ? m.stride[2] : 0));
    for (int l = 0; l < nz; ++l)
      for (int k = 0; k < ny; ++k)
        for (int j = 0; j < n; ++j) rho[j + k * m.stride[1] + l * m.stride[2]] += all[j + n * (k + n * l)];
  });
}

template <int D, int Order, class T>
void deposit_charge_kernel(const patch_grid& m, fields<T>& f, const particles<T>& p, T density) {
  if constexpr (D == 2)
    if (m.cylinder) return deposit_charge_in<D, Order, true>(m, f, p, density);
  deposit_charge_in<D, Order, false>(m, f, p, density);
}

}  // namespace

template <class T>
void deposit_path(const patch_grid& m, int order, fields<T>& f, const path<T>& along, double charge) {
  static constexpr void (*all[3][3])(const patch_grid&, fields<T>&, const path<T>&, T) =
      PLAQ_PIC_TABLE(deposit_path_kernel);
  all[m.dimensions - 1][order - 1](m, f, along, T(charge / m.volume()));
}

template <class T>
void deposit_charge(const patch_grid& m, int order, fields<T>& f, const particles<T>& p, double charge) {
  static constexpr void (*all[3][3])(const patch_grid&, fields<T>&, const particles<T>&, T) =
      PLAQ_PIC_TABLE(deposit_charge_kernel);
  all[m.dimensions - 1][order - 1](m, f, p, T(charge / m.volume()));
}

template void deposit_path(const patch_grid&, int, fields<float>&, const path<float>&, double);
template void deposit_path(const patch_grid&, int, fields<double>&, const path<double>&, double);
template void deposit_charge(const patch_grid&, int, fields<float>&, const particles<float>&, double);
template void deposit_charge(const patch_grid&, int, fields<double>&, const particles<double>&, double);

}  // namespace plaq::pic

// Current of single paths, charge of particles.
#include <algorithm>
#include <complex>

#include "plaq/pic/particles/cell_runs.hpp"
#include "plaq/pic/particles/current_deposition.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/particles/mode_deposition.hpp"
#include "plaq/pic/particles/rings.hpp"
#include "plaq/pic/particles/tables.hpp"

namespace plaq::pic {

namespace {

template <int D, int Order, bool Rings, class T>
void deposit_path_in(const patch_grid& m, fields<T>& f, const path<T>& along, T charge) {
  path_current<D, Order, T, Rings> sum{m.first[1] + along.cell[1]};
  sum.add(m, along.start.data(), along.displacement.data(), charge);
  sum.add_to(m, f, m.index(along.cell));
  if constexpr (Rings)
    add_mode_currents<Order>(m, f, m.index(along.cell), m.first[1] + along.cell[1],
                             ring_path<T>{{along.start[0], along.start[1]},
                                          {along.displacement[0], along.displacement[1]},
                                          {along.azimuth_before[0], along.azimuth_before[1]},
                                          {along.azimuth_after[0], along.azimuth_after[1]}},
                             charge);
}

template <int D, int Order, class T>
void deposit_path_kernel(const patch_grid& m, fields<T>& f, const path<T>& along, T charge) {
  if constexpr (D == 2)
    if (m.cylinder) return deposit_path_in<D, Order, true>(m, f, along, charge);
  deposit_path_in<D, Order, false>(m, f, along, charge);
}

/// `factor`: of the charge in the part of the fields.
template <int D, int Order, class T>
void contract_in_part(const patch_grid& m, fields<T>& part, std::ptrdiff_t cell, const T (&shapes)[3][6], T factor) {
  constexpr int first = shape<Order>::first_node, last = first + shape<Order>::nodes - 1;
  T s[3][6];
  std::copy_n(&shapes[0][0], 18, &s[0][0]);
  const std::ptrdiff_t stride[3] = {1, m.stride[1], m.stride[2]};
  for (int d = 0; d < D; ++d) {
    const int a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2;
    T below[6] = {}, above[6] = {};  // what passes the half point behind a node, up or down
    for (int i = first; i < 0; ++i) below[i - first] = s[d][i - first] + (i > first ? below[i - first - 1] : 0);
    for (int i = last - 1; i > 0; --i) above[i - first] = s[d][i + 1 - first] + above[i + 1 - first];
    const T rate = factor * T(m.spacing[std::size_t(d)] / m.dt);
    T* j = part.j[std::size_t(d)].data() + cell;
    for (int l = b < D ? first : 0; l <= (b < D ? last : 0); ++l)
      for (int k = a < D ? first : 0; k <= (a < D ? last : 0); ++k) {
        const T weight = rate * (a < D ? s[a][k - first] : 1) * (b < D ? s[b][l - first] : 1);
        for (int i = first; i < last && weight != 0; ++i)
          j[i * stride[d] + k * stride[a] + l * stride[b]] += weight * (below[i - first] - above[i - first]);
      }
    if constexpr (first < 0) s[d][-first] += below[-1 - first];
    s[d][1 - first] += above[1 - first];
    for (int i = first; i <= last; ++i)
      if (i < 0 || i > 1) s[d][i - first] = 0;
  }
}

template <int D, int Order, class T>
void deposit_contraction_kernel(const patch_grid& m, fields<T>& f, const path<T>& at, T charge) {
  constexpr int first = shape<Order>::first_node;
  T s[3][6] = {};
  for (int d = 0; d < D; ++d) {
    T weights[shape<Order>::nodes];
    splines<Order>(at.start[std::size_t(d)], T(first), weights);
    std::copy_n(weights, shape<Order>::nodes, s[d]);
  }
  if (m.cylinder) correct_for_rings(T(ring_correction(Order, m.first[1] + at.cell[1])), at.start[1], s[1], -first);
  const std::ptrdiff_t cell = m.index(at.cell);
  contract_in_part<D, Order>(m, f, cell, s, charge);
  std::complex<T> phase = 2 * charge;
  for (std::size_t q = 0; q < f.modes.size(); q += 2) {
    phase *= std::complex<T>(at.azimuth_after[0], at.azimuth_after[1]);
    contract_in_part<D, Order>(m, f.modes[q], cell, s, phase.real());
    contract_in_part<D, Order>(m, f.modes[q + 1], cell, s, phase.imag());
  }
}

template <int D, int Order, bool Rings, class T>
void deposit_charge_in(const patch_grid& m, std::vector<T>& density_at, const particles<T>& p, const std::vector<T>& w,
                       T density) {
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
      const V q = density * load_masked<V>(w.data() + i, mask);
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
        density_at.data() + at + shape<Order>::first_node * (1 + (D > 1 ? m.stride[1] : 0) + (D > 2 ? m.stride[2] : 0));
    for (int l = 0; l < nz; ++l)
      for (int k = 0; k < ny; ++k)
        for (int j = 0; j < n; ++j) rho[j + k * m.stride[1] + l * m.stride[2]] += all[j + n * (k + n * l)];
  });
}

/// Adds the charge of all modes: of m >= 1 with the factor 2 exp(i m theta).
template <int Order, class T>
void deposit_ring_charge(const patch_grid& m, fields<T>& f, const particles<T>& p, T density) {
  deposit_charge_in<2, Order, true>(m, f.rho, p, p.w, density);
  std::vector<std::complex<T>> phase(f.modes.empty() ? 0 : p.size());
  for (std::size_t i = 0; i < phase.size(); ++i) phase[i] = 2 * p.w[i];
  std::vector<T> w(phase.size());
  for (std::size_t q = 0; q < f.modes.size(); q += 2) {
    for (std::size_t i = 0; i < w.size(); ++i) phase[i] *= std::complex<T>(p.azimuth[0][i], p.azimuth[1][i]);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = phase[i].real();
    deposit_charge_in<2, Order, true>(m, f.modes[q].rho, p, w, density);
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = phase[i].imag();
    deposit_charge_in<2, Order, true>(m, f.modes[q + 1].rho, p, w, density);
  }
}

template <int D, int Order, class T>
void deposit_charge_kernel(const patch_grid& m, fields<T>& f, const particles<T>& p, T density) {
  if constexpr (D == 2)
    if (m.cylinder) return deposit_ring_charge<Order>(m, f, p, density);
  deposit_charge_in<D, Order, false>(m, f.rho, p, p.w, density);
}

}  // namespace

template <class T>
void deposit_path(const patch_grid& m, int order, fields<T>& f, const path<T>& along, double charge) {
  static constexpr void (*all[3][3])(const patch_grid&, fields<T>&, const path<T>&, T) =
      PLAQ_PIC_TABLE(deposit_path_kernel);
  all[m.dimensions - 1][order - 1](m, f, along, T(charge / m.volume()));
}

template <class T>
void deposit_contraction(const patch_grid& m, int order, fields<T>& f, const path<T>& at, double charge) {
  static constexpr void (*all[3][3])(const patch_grid&, fields<T>&, const path<T>&, T) =
      PLAQ_PIC_TABLE(deposit_contraction_kernel);
  all[m.dimensions - 1][order - 1](m, f, at, T(charge / m.volume()));
}

template <class T>
void deposit_charge(const patch_grid& m, int order, fields<T>& f, const particles<T>& p, double charge) {
  static constexpr void (*all[3][3])(const patch_grid&, fields<T>&, const particles<T>&, T) =
      PLAQ_PIC_TABLE(deposit_charge_kernel);
  all[m.dimensions - 1][order - 1](m, f, p, T(charge / m.volume()));
}

template void deposit_path(const patch_grid&, int, fields<float>&, const path<float>&, double);
template void deposit_path(const patch_grid&, int, fields<double>&, const path<double>&, double);
template void deposit_contraction(const patch_grid&, int, fields<float>&, const path<float>&, double);
template void deposit_contraction(const patch_grid&, int, fields<double>&, const path<double>&, double);
template void deposit_charge(const patch_grid&, int, fields<float>&, const particles<float>&, double);
template void deposit_charge(const patch_grid&, int, fields<double>&, const particles<double>&, double);

}  // namespace plaq::pic

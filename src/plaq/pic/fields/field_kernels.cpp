// Yee's equations (1966), second order: dB/dt = -curl E, dE/dt = curl B - J.
#include "plaq/pic/fields/field_kernels.hpp"

#include "plaq/pic/fields/differences.hpp"

namespace plaq::pic {

namespace {

/// Returns 1 / spacing; 0 in dimensions that are not used.
template <class T>
std::array<T, 3> inverse_spacing(const patch_grid& m) {
  std::array<T, 3> out{};
  for (int d = 0; d < m.dimensions; ++d) out[d] = T(1 / m.spacing[d]);
  return out;
}

/// Advances B with differences of other stencils than Yee's, where the guard cells around exist.
template <class T>
void advance_b_smoothed(const patch_grid& m, fields<T>& f, double dt) {
  const region r = difference_region(m);
  for (int c = 0; c < 3; ++c) {
    const int d1 = (c + 1) % 3, d2 = (c + 2) % 3;
    for_each_row(m, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i)
        f.b[c][i] += T(dt) * (difference(m, d2, f.e[d1].data() + i) - difference(m, d1, f.e[d2].data() + i));
    });
  }
}

}  // namespace

template <class T>
void advance_b(const patch_grid& m, fields<T>& f, double dt) {
  if (m.smoothed) return advance_b_smoothed(m, f, dt);
  const auto over = inverse_spacing<T>(m);
  const region r = difference_region(m);
  for (int c = 0; c < 3; ++c) {
    const int d1 = (c + 1) % 3, d2 = (c + 2) % 3;
    const T a = T(dt) * over[d1], b = T(dt) * over[d2];
    const auto s1 = m.stride[d1], s2 = m.stride[d2];
    for_each_row(m, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      T* __restrict out = f.b[c].data() + at;
      const T* __restrict e1 = f.e[d1].data() + at;
      const T* __restrict e2 = f.e[d2].data() + at;
      for (std::ptrdiff_t i = 0; i < n; ++i) out[i] += b * (e1[i + s2] - e1[i]) - a * (e2[i + s1] - e2[i]);
    });
  }
}

template <class T>
void advance_e(const patch_grid& m, fields<T>& f, double dt) {
  const auto over = inverse_spacing<T>(m);
  for (int c = 0; c < 3; ++c) {
    const int d1 = (c + 1) % 3, d2 = (c + 2) % 3;
    const T a = T(dt) * over[d1], b = T(dt) * over[d2], t = T(dt);
    const auto s1 = m.stride[d1], s2 = m.stride[d2];
    for_each_row(m, own_cells(m), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      T* __restrict out = f.e[c].data() + at;
      const T* __restrict b1 = f.b[d1].data() + at;
      const T* __restrict b2 = f.b[d2].data() + at;
      const T* __restrict j = f.j[c].data() + at;
      for (std::ptrdiff_t i = 0; i < n; ++i) out[i] += a * (b2[i] - b2[i - s1]) - b * (b1[i] - b1[i - s2]) - t * j[i];
    });
  }
}

template <class T>
std::array<double, 6> field_energies(const patch_grid& m, const region& r, const fields<T>& f) {
  std::array<double, 6> out{};
  for (int c = 0; c < 6; ++c) {
    const T* field = (c < 3 ? f.e[c] : f.b[c - 3]).data();
    double sum = 0;
    for_each_row(m, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = 0; i < n; ++i) sum += double(field[at + i]) * double(field[at + i]);
    });
    out[c] = 0.5 * m.volume() * sum;
  }
  return out;
}

template <class T>
std::vector<T> gauss_residual(const patch_grid& m, const region& r, const fields<T>& f) {
  const auto over = inverse_spacing<T>(m);
  std::vector<T> out;
  out.reserve(r.size());
  for_each_row(m, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = at; i < at + n; ++i) {
      T div = 0;
      for (int d = 0; d < m.dimensions; ++d) div += over[d] * (f.e[d][i] - f.e[d][i - m.stride[d]]);
      out.push_back(div - f.rho[i]);
    }
  });
  return out;
}

#define PLAQ_PIC_FOR(T)                                                                              \
  template void advance_b(const patch_grid&, fields<T>&, double);                                    \
  template void advance_e(const patch_grid&, fields<T>&, double);                                    \
  template std::array<double, 6> field_energies(const patch_grid&, const region&, const fields<T>&); \
  template std::vector<T> gauss_residual(const patch_grid&, const region&, const fields<T>&);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic

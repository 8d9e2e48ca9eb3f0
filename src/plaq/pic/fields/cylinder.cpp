#include "plaq/pic/fields/cylinder.hpp"

#include <algorithm>
#include <utility>

namespace plaq::pic {

namespace {

/// Row j of a region.
region row(region r, int j) {
  r.low[1] = j, r.high[1] = j + 1;
  return r;
}

/// Sets the points behind the axis to sign times those before it; points at nodes (0 on the axis where the sign is -1),
/// or half a cell on.
template <class T>
void mirror(const patch_grid& m, T sign, bool halves, std::vector<T>& field) {
  const region all = with_guards(m);
  for (int j = 0; j < m.guard[1]; ++j) {
    const int before = halves ? j : j + 1, behind = -1 - j;
    const std::ptrdiff_t distance = (before - behind) * m.stride[1];
    for_each_row(m, row(all, behind), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i) field[std::size_t(i)] = sign * field[std::size_t(i + distance)];
    });
  }
  if (sign < 0 && !halves)
    for_each_row(m, row(all, 0),
                 [&](std::ptrdiff_t at, std::ptrdiff_t n) { std::fill_n(field.begin() + at, n, T(0)); });
}

}  // namespace

template <class T>
void divide_by_rings(const patch_grid& m, fields<T>& f) {
  const region all = with_guards(m);
  for (int j = 1; j <= m.guard[1] && m.on_axis(); ++j)
    for_each_row(m, row(all, -j), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i)
        f.rho[std::size_t(i + 2 * j * m.stride[1])] += std::exchange(f.rho[std::size_t(i)], T(0));
    });
  for (int j = all.low[1]; j < all.high[1]; ++j) {
    const T factor = T(m.volume() / m.node_volume(j));
    for_each_row(m, row(all, j), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i) f.rho[std::size_t(i)] *= factor;
    });
  }
}

template <class T>
void mirror_at_axis(const patch_grid& m, fields<T>& f) {
  if (!m.on_axis()) return;
  mirror(m, T(1), false, f.e[0]);
  mirror(m, T(-1), true, f.e[1]);
  mirror(m, T(-1), false, f.e[2]);
  mirror(m, T(1), true, f.b[0]);
  mirror(m, T(-1), false, f.b[1]);
  mirror(m, T(-1), true, f.b[2]);
}

template <class T>
std::array<double, 6> ring_energies(const patch_grid& m, const region& r, const fields<T>& f) {
  std::array<double, 6> out{};
  for (int c = 0; c < 6; ++c) {
    const T* field = (c < 3 ? f.e[c] : f.b[c - 3]).data();
    const bool half_in_r = c == 1 || c == 3 || c == 5;
    for (int j = r.low[1]; j < r.high[1]; ++j) {
      double sum = 0;
      for_each_row(m, row(r, j), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
        for (std::ptrdiff_t i = 0; i < n; ++i) sum += double(field[at + i]) * double(field[at + i]);
      });
      out[std::size_t(c)] += 0.5 * (half_in_r ? m.cell_volume(j) : m.node_volume(j)) * sum;
    }
  }
  return out;
}

template <class T>
std::vector<T> ring_gauss_residual(const patch_grid& m, const region& r, const fields<T>& f) {
  std::vector<T> out;
  out.reserve(r.size());
  for (int j = r.low[1]; j < r.high[1]; ++j) {
    const bool disc = m.first[1] + j == 0;
    const double over = 1 / (m.node_volume(j) * m.spacing[1]);
    const T z = T(1 / m.spacing[0]), above = T(m.cell_volume(j) * over),
            below = T(disc ? 0 : m.cell_volume(j - 1) * over);
    for_each_row(m, row(r, j), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i)
        out.push_back(z * (f.e[0][i] - f.e[0][i - m.stride[0]]) + above * f.e[1][i] - below * f.e[1][i - m.stride[1]] -
                      f.rho[i]);
    });
  }
  return out;
}

#define PLAQ_PIC_FOR(T)                                                                             \
  template void divide_by_rings(const patch_grid&, fields<T>&);                                     \
  template void mirror_at_axis(const patch_grid&, fields<T>&);                                      \
  template std::array<double, 6> ring_energies(const patch_grid&, const region&, const fields<T>&); \
  template std::vector<T> ring_gauss_residual(const patch_grid&, const region&, const fields<T>&);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic

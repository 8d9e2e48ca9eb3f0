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

/// Calls use(behind, before) for the values of all points behind the axis and their images before it; points at nodes,
/// or half a cell on.
template <class T, class Use>
void for_each_image(const patch_grid& m, bool halves, std::vector<T>& field, Use use) {
  const region all = with_guards(m);
  for (int j = 0; j < m.guard[1]; ++j) {
    const int before = halves ? j : j + 1, behind = -1 - j;
    const std::ptrdiff_t distance = (before - behind) * m.stride[1];
    for_each_row(m, row(all, behind), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i) use(field[std::size_t(i)], field[std::size_t(i + distance)]);
    });
  }
}

/// Adds what is behind the axis, times sign, to its images, on an axis that the patch has.
template <class T>
void fold(const patch_grid& m, T sign, bool halves, std::vector<T>& field) {
  if (!m.on_axis()) return;
  for_each_image(m, halves, field, [&](T& behind, T& before) { before += sign * std::exchange(behind, T(0)); });
}

/// Divides values per area of a cell in the plane of z and r by the lengths of rings.
template <class T>
void scale(const patch_grid& m, const region& r, bool halves, std::vector<T>& field) {
  for (int j = r.low[1]; j < r.high[1]; ++j) {
    const T factor = T(m.volume() / (halves ? m.cell_volume(j) : m.node_volume(j)));
    for_each_row(m, row(r, j), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
      for (std::ptrdiff_t i = at; i < at + n; ++i) field[std::size_t(i)] *= factor;
    });
  }
}

/// Sets the points behind the axis to sign times those before it; nodes on the axis to 0 where the sign is -1.
template <class T>
void mirror(const patch_grid& m, T sign, bool halves, std::vector<T>& field) {
  const region all = with_guards(m);
  for_each_image(m, halves, field, [&](T& behind, T& before) { behind = sign * before; });
  if (sign < 0 && !halves)
    for_each_row(m, row(all, 0),
                 [&](std::ptrdiff_t at, std::ptrdiff_t n) { std::fill_n(field.begin() + at, n, T(0)); });
}

}  // namespace

template <class T>
void divide_by_rings(const patch_grid& m, fields<T>& f) {
  fold(m, T(1), false, f.rho);
  scale(m, with_guards(m), false, f.rho);
}

template <class T>
void fold_current_at_axis(const patch_grid& m, fields<T>& f) {
  fold(m, T(1), false, f.j[0]);
  fold(m, T(-1), true, f.j[1]);
  fold(m, T(-1), false, f.j[2]);
}

template <class T>
void divide_current_by_rings(const patch_grid& m, fields<T>& f) {
  for (int c = 0; c < 3; ++c) scale(m, own_cells(m), c == 1, f.j[std::size_t(c)]);
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
  template void fold_current_at_axis(const patch_grid&, fields<T>&);                                \
  template void divide_current_by_rings(const patch_grid&, fields<T>&);                             \
  template void mirror_at_axis(const patch_grid&, fields<T>&);                                      \
  template std::array<double, 6> ring_energies(const patch_grid&, const region&, const fields<T>&); \
  template std::vector<T> ring_gauss_residual(const patch_grid&, const region&, const fields<T>&);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic

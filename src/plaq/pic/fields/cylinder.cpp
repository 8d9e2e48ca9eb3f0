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

/// Sets the points behind the axis to sign times those before it.
template <class T>
void mirror(const patch_grid& m, T sign, bool halves, std::vector<T>& field) {
  for_each_image(m, halves, field, [&](T& behind, T& before) { behind = sign * before; });
}

/// Sets the points on the axis to 0.
template <class T>
void clear_axis(const patch_grid& m, std::vector<T>& field) {
  for_each_row(m, row(with_guards(m), 0),
               [&](std::ptrdiff_t at, std::ptrdiff_t n) { std::fill_n(field.begin() + at, n, T(0)); });
}

/// Returns the parity in r of components along z.
int parity(int m) { return m % 2 ? -1 : 1; }

/// Sets E_theta and B_r of the mode 1 on the axis; to_axis: the even field half a cell on, to the fourth order.
template <class T>
void set_on_axis(const patch_grid& m, fields<T>& f) {
  fields<T>&cosine = f.modes[0], &sine = f.modes[1];
  const auto to_axis = [&](const std::vector<T>& of, std::ptrdiff_t i) {
    return (9 * of[std::size_t(i)] - of[std::size_t(i + m.stride[1])]) / 8;
  };
  for_each_row(m, row(with_guards(m), 0), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = at; i < at + n; ++i) {
      const auto on = std::size_t(i);
      cosine.e[2][on] = to_axis(sine.e[1], i), sine.e[2][on] = -to_axis(cosine.e[1], i);
      cosine.b[1][on] = -to_axis(sine.b[2], i), sine.b[1][on] = to_axis(cosine.b[2], i);
    }
  });
}

}  // namespace

template <class T>
void divide_by_rings(const patch_grid& m, fields<T>& f) {
  for_each_mode(f, [&](fields<T>& part, int mode, auto&, double) {
    fold(m, T(parity(mode)), false, part.rho);
    scale(m, with_guards(m), false, part.rho);
  });
}

template <class T>
void fold_current_at_axis(const patch_grid& m, fields<T>& f) {
  for_each_mode(f, [&](fields<T>& part, int mode, auto&, double) {
    const T sign = T(parity(mode));
    fold(m, sign, false, part.j[0]);
    fold(m, -sign, true, part.j[1]);
    fold(m, mode > 0 ? sign : -sign, false, part.j[2]);
  });
}

template <class T>
void divide_current_by_rings(const patch_grid& m, fields<T>& f) {
  const region own = own_cells(m);
  for_each_mode(f, [&](fields<T>& part, int mode, auto&, double) {
    for (int c = 0; c < 3; ++c) scale(m, own, c == 1, part.j[std::size_t(c)]);
    for (int j = 0; j < m.cells[1] && mode > 0; ++j)
      for_each_row(m, row(own, j), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
        for (std::ptrdiff_t i = at; i < at + n; ++i) part.j[2][std::size_t(i)] *= T(m.radius(j));
      });
  });
}

template <class T>
void mirror_at_axis(const patch_grid& m, fields<T>& f) {
  if (!m.on_axis()) return;
  for_each_mode(f, [&](fields<T>& part, int mode, auto&, double) {
    const T sign = T(parity(mode));
    mirror(m, sign, false, part.e[0]);
    mirror(m, -sign, true, part.e[1]);
    mirror(m, -sign, false, part.e[2]);
    mirror(m, sign, true, part.b[0]);
    mirror(m, -sign, false, part.b[1]);
    mirror(m, -sign, true, part.b[2]);
    if (mode != 0) clear_axis(m, part.e[0]);
    if (mode != 1) clear_axis(m, part.e[2]), clear_axis(m, part.b[1]);
  });
  if (!f.modes.empty()) set_on_axis(m, f);
}

template <class T>
std::array<double, 6> ring_energies(const patch_grid& m, const region& r, const fields<T>& f) {
  std::array<double, 6> out{};
  for (std::size_t part = 0; part <= f.modes.size(); ++part) {
    const fields<T>& of = part ? f.modes[part - 1] : f;
    for (int c = 0; c < 6; ++c) {
      const T* field = (c < 3 ? of.e[c] : of.b[c - 3]).data();
      const bool half_in_r = c == 1 || c == 3 || c == 5;
      for (int j = r.low[1]; j < r.high[1]; ++j) {
        double sum = 0;
        for_each_row(m, row(r, j), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
          for (std::ptrdiff_t i = 0; i < n; ++i) sum += double(field[at + i]) * double(field[at + i]);
        });
        out[std::size_t(c)] += (part ? 0.25 : 0.5) * (half_in_r ? m.cell_volume(j) : m.node_volume(j)) * sum;
      }
    }
  }
  return out;
}

template <class T>
std::vector<T> ring_gauss_residual(const patch_grid& m, const region& r, fields<T>& f) {
  std::vector<T> out;
  out.reserve(r.size() * (1 + f.modes.size()));
  for_each_mode(f, [&](const fields<T>& part, int mode, const fields<T>& other, double derivative) {
    for (int j = r.low[1]; j < r.high[1]; ++j) {
      const bool disc = m.first[1] + j == 0;
      const double over = 1 / (m.node_volume(j) * m.spacing[1]);
      const T z = T(1 / m.spacing[0]), above = T(m.cell_volume(j) * over),
              below = T(disc ? 0 : m.cell_volume(j - 1) * over), round = T(disc ? 0 : derivative / m.radius(j)),
              counts = T(disc && mode > 0 ? 0 : 1);
      for_each_row(m, row(r, j), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
        for (std::ptrdiff_t i = at; i < at + n; ++i)
          out.push_back(counts * (z * (part.e[0][i] - part.e[0][i - m.stride[0]]) + above * part.e[1][i] -
                                  below * part.e[1][i - m.stride[1]] + round * other.e[2][i] - part.rho[i]));
      });
    }
  });
  return out;
}

#define PLAQ_PIC_FOR(T)                                                                             \
  template void divide_by_rings(const patch_grid&, fields<T>&);                                     \
  template void fold_current_at_axis(const patch_grid&, fields<T>&);                                \
  template void divide_current_by_rings(const patch_grid&, fields<T>&);                             \
  template void mirror_at_axis(const patch_grid&, fields<T>&);                                      \
  template std::array<double, 6> ring_energies(const patch_grid&, const region&, const fields<T>&); \
  template std::vector<T> ring_gauss_residual(const patch_grid&, const region&, fields<T>&);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic

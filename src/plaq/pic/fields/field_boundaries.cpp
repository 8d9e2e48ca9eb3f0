#include "plaq/pic/fields/field_boundaries.hpp"

#include <algorithm>
#include <array>

namespace plaq::pic {

namespace {

/// Returns the plane of cells `at` in dimension d, guard cells of the other dimensions included.
region plane(const patch_grid& m, int d, int at) {
  region r = with_guards(m);
  r.low[d] = at, r.high[d] = at + 1;
  return r;
}

/// Calls use(behind, before) for every pair of planes behind and before the wall at a side that are images of each
/// other, of points at nodes or half way: -1 - k and k, -k and k, and so on.
template <class Use>
void for_each_image(const patch_grid& m, int d, int side, bool halves, Use use) {
  for (int k = 0; k < m.guard[d]; ++k) {
    const int inside = halves ? k : k + 1, outside = -1 - k;
    if (side == 0)
      use(outside, inside);
    else if (halves)
      use(m.cells[d] + k, m.cells[d] - 1 - k);
    else if (k + 1 < m.guard[d])
      use(m.cells[d] + k + 1, m.cells[d] - k - 1);
  }
}

/// Calls use(behind, before) for the values of all cells of the two planes.
template <class T, class Use>
void for_each_pair(const patch_grid& m, int d, int behind, int before, std::vector<T>& field, Use use) {
  const std::ptrdiff_t distance = (before - behind) * m.stride[d];
  for_each_row(m, plane(m, d, behind), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = at; i < at + n; ++i) use(field[std::size_t(i)], field[std::size_t(i + distance)]);
  });
}

/// Calls use(dimension, side) for every wall.
template <class Use>
void for_each_wall(const patch_grid& m, const sides& walls, Use use) {
  for (int d = 0; d < m.dimensions; ++d)
    for (int side = 0; side < 2; ++side)
      if (walls[d][side]) use(d, side);
}

/// Returns the share of a wall across d in the charge of a node. With images a node counts as the product of its signs
/// s, 1 before a wall, 0 on it, -1 behind it. What is missing to 1 is the walls': across d it is
/// (1 - s_d) int_0^1 prod_{t != d} (1 - t (1 - s_t)) dt, which is 1 - s_d away from other walls and alike for all of
/// them.
double share_of_wall(const patch_grid& m, const sides& walls, int d, const point& at) {
  std::array<double, 3> missing{};  // 1 - s
  for (int t = 0; t < m.dimensions; ++t) {
    if (walls[t][0] && at[t] <= 0) missing[std::size_t(t)] = at[t] < 0 ? 2 : 1;
    if (walls[t][1] && at[t] >= m.cells[t]) missing[std::size_t(t)] = at[t] > m.cells[t] ? 2 : 1;
  }
  const double a = missing[std::size_t((d + 1) % 3)], b = missing[std::size_t((d + 2) % 3)];
  return missing[std::size_t(d)] * (1 - (a + b) / 2 + a * b / 3);
}

/// Returns the wall's plane of nodes.
int wall_plane(const patch_grid& m, int d, int side) { return side == 0 ? 0 : m.cells[d]; }

}  // namespace

template <class T>
void fold_image_current(const patch_grid& m, const sides& walls, fields<T>& f) {
  for_each_wall(m, walls, [&](int d, int side) {
    for (int c = 0; c < 3; ++c) {
      const T sign = c == d ? 1 : -1;
      for_each_image(m, d, side, c == d, [&](int behind, int before) {
        for_each_pair(m, d, behind, before, f.j[c], [&](T& out, T& in) { in += sign * out, out = 0; });
      });
    }
  });
}

template <class T>
void fold_image_charge(const patch_grid& m, const sides& walls, fields<T>& f) {
  for_each_wall(m, walls, [&](int d, int side) {
    for_each_image(m, d, side, false, [&](int behind, int before) {
      for_each_pair(m, d, behind, before, f.rho, [&](T& out, T& in) { in -= out, out = 0; });
    });
  });
}

template <class T>
void mirror_current(const patch_grid& m, const sides& walls, fields<T>& f) {
  for_each_wall(m, walls, [&](int d, int side) {
    for (int c = 0; c < 3; ++c) {
      const T sign = c == d ? 1 : -1;
      if (c != d)
        for_each_pair(m, d, wall_plane(m, d, side), wall_plane(m, d, side), f.j[c], [](T& on, T&) { on = 0; });
      for_each_image(m, d, side, c == d, [&](int behind, int before) {
        for_each_pair(m, d, behind, before, f.j[c], [&](T& out, T& in) { out = sign * in; });
      });
    }
  });
}

template <class T>
void mirror_charge(const patch_grid& m, const sides& walls, fields<T>& f) {
  for_each_wall(m, walls, [&](int d, int side) {
    for_each_pair(m, d, wall_plane(m, d, side), wall_plane(m, d, side), f.rho, [](T& on, T&) { on = 0; });
    for_each_image(m, d, side, false, [&](int behind, int before) {
      for_each_pair(m, d, behind, before, f.rho, [&](T& out, T& in) { out = -in; });
    });
  });
}

template <class T>
std::vector<double> charge_on_walls(const patch_grid& m, const sides& walls, const fields<T>& f) {
  std::vector<double> out(std::size_t(2 * m.dimensions));
  for_each_wall(m, walls, [&](int d, int side) {
    for (int k = 0; k < m.guard[d] + (side == 0); ++k) {
      for_each_point(m, plane(m, d, side == 0 ? -k : m.cells[d] + k), [&](const point& at, std::ptrdiff_t i) {
        if (const double charge = double(f.rho[std::size_t(i)]); charge != 0)
          out[std::size_t(2 * d + side)] += share_of_wall(m, walls, d, at) * m.volume() * charge;
      });
    }
  });
  return out;
}

template <class T>
void mirror_fields(const patch_grid& m, const sides& walls, fields<T>& f) {
  for_each_wall(m, walls, [&](int d, int side) {
    const int wall = wall_plane(m, d, side);
    for (int c = 0; c < 3; ++c) {
      if (c == d) {
        for_each_image(m, d, side, true, [&](int behind, int before) {
          for_each_pair(m, d, behind, before, f.e[c], [](T& out, T& in) { out = in; });
        });
        // The constant field of a magnet passes through the wall; its change is odd.
        for_each_image(m, d, side, false, [&](int behind, int before) {
          const std::ptrdiff_t to_wall = (wall - behind) * m.stride[d];
          for_each_pair(m, d, behind, before, f.b[c], [&](T& out, T& in) { out = 2 * (&out)[to_wall] - in; });
        });
      } else {
        for_each_pair(m, d, wall, wall, f.e[c], [](T& on, T&) { on = 0; });
        for_each_image(m, d, side, false, [&](int behind, int before) {
          for_each_pair(m, d, behind, before, f.e[c], [](T& out, T& in) { out = -in; });
        });
        for_each_image(m, d, side, true, [&](int behind, int before) {
          for_each_pair(m, d, behind, before, f.b[c], [](T& out, T& in) { out = in; });
        });
      }
    }
  });
}

template <class T>
void close_b(const patch_grid& m, const sides& walls, fields<T>& f, int from_x) {
  // Area of a face across c in row j, over that of a cell; in a cylinder proportional to its radius.
  const auto area = [&](int c, int j) { return T(m.cylinder ? m.radius(c == 1 ? j : j + 0.5) : 1); };
  for (int d = 0; d < m.dimensions; ++d) {
    if (!walls[d][1]) continue;
    region r = plane(m, d, m.cells[d] - 1);
    for (int t = 0; t < m.dimensions; ++t)
      if (t != d) --r.high[t];
    r.low[0] = std::max(r.low[0], from_x);
    for_each_point(m, r, [&](const point& at, std::ptrdiff_t i) {
      T others = 0;
      for (int t = 0; t < m.dimensions; ++t) {
        if (t == d) continue;
        // On another wall B is not known yet: take the cell before.
        const int before = t > d && walls[t][1] && at[t] == m.cells[t] - 1;
        const std::ptrdiff_t j = i - before * m.stride[t];
        const int row = at[1] - (t == 1) * before;
        others += (area(t, row + (t == 1)) * f.b[t][j + m.stride[t]] - area(t, row) * f.b[t][j]) / T(m.spacing[t]);
      }
      f.b[d][i + m.stride[d]] = (area(d, at[1]) * f.b[d][i] - T(m.spacing[d]) * others) / area(d, at[1] + (d == 1));
    });
  }
}

#define PLAQ_PIC_FOR(T)                                                                            \
  template void fold_image_current(const patch_grid&, const sides&, fields<T>&);                   \
  template void fold_image_charge(const patch_grid&, const sides&, fields<T>&);                    \
  template void mirror_current(const patch_grid&, const sides&, fields<T>&);                       \
  template void mirror_charge(const patch_grid&, const sides&, fields<T>&);                        \
  template std::vector<double> charge_on_walls(const patch_grid&, const sides&, const fields<T>&); \
  template void mirror_fields(const patch_grid&, const sides&, fields<T>&);                        \
  template void close_b(const patch_grid&, const sides&, fields<T>&, int);
PLAQ_PIC_FOR(float)
PLAQ_PIC_FOR(double)
#undef PLAQ_PIC_FOR

}  // namespace plaq::pic

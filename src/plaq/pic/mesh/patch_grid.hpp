// Cells of a patch, with the guard cells around them, and how they lie in memory: x fastest.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include "plaq/base/portion.hpp"
#include "plaq/pic/mesh/plan.hpp"
#include "plaq/pic/mesh/stencil.hpp"

namespace plaq::pic {

/// Point of the mesh of patches or of a patch's cells.
using point = std::array<int, 3>;

/// Flag for the low and high side of each dimension of a patch.
using sides = std::array<std::array<bool, 2>, 3>;
/// Returns the sides of a patch that are walls of the box.
sides box_sides(const plan& p, const point& patch);

/// Grid of a patch. Cells 0 ... cells - 1 are the patch's own, those from -guard and up to cells + guard - 1 belong to
/// other patches. Dimensions that are not used have one cell, no guard, and a stride of 0.
struct patch_grid {
  int dimensions = 0;
  bool cylinder = false;  ///< of z and r, see plan.hpp
  int modes = 1;          ///< azimuthal ones, of a cylinder
  point first{}, cells{1, 1, 1}, guard{};
  std::array<std::ptrdiff_t, 3> stride{};
  std::array<double, 3> spacing{1, 1, 1};
  double dt = 0;
  bool smoothed = false;  ///< curl E has differences by `weights`
  int reach = 1;          ///< of differences in x, in cells
  std::array<stencil_weights, 3> weights{};

  patch_grid() = default;
  patch_grid(const plan& p, const point& patch)
      : dimensions(p.dimensions),
        cylinder(p.cylinder),
        modes(p.modes),
        dt(p.dt),
        smoothed(p.curl == stencil::lehe || (p.curl == stencil::cowan && p.dimensions > 1)),
        reach(p.curl == stencil::lehe ? 2 : 1),
        weights(difference_weights(p)) {
    std::ptrdiff_t step = 1;
    for (int d = 0; d < dimensions; ++d) {
      const portion part{patch[d], p.patches[d]};
      first[d] = int(part.begin(std::size_t(p.cells[d])));
      cells[d] = int(part.end(std::size_t(p.cells[d]))) - first[d];
      guard[d] = p.guard();
      spacing[d] = p.spacing(d);
      stride[d] = step;
      step *= extent(d);
    }
  }

  int extent(int d) const { return cells[d] + 2 * guard[d]; }
  std::size_t size() const { return std::size_t(extent(0)) * std::size_t(extent(1)) * std::size_t(extent(2)); }
  /// Index of cell (0, 0, 0).
  std::ptrdiff_t origin() const { return guard[0] * stride[0] + guard[1] * stride[1] + guard[2] * stride[2]; }
  std::ptrdiff_t index(const point& i) const {
    return origin() + i[0] * stride[0] + i[1] * stride[1] + i[2] * stride[2];
  }
  /// Returns the point in the box of a point of the patch.
  point in_box(point at) const {
    for (int d = 0; d < dimensions; ++d) at[d] += first[d];
    return at;
  }
  double volume() const { return spacing[0] * spacing[1] * spacing[2]; }
  /// Whether nodes j = 0 lie on the axis of a cylinder.
  bool on_axis() const { return cylinder && first[1] == 0; }
  /// Radius of a point of a cylinder, its j counted in cells of the patch.
  double radius(double j) const { return std::abs(first[1] + j) * spacing[1]; }
  /// Volume of the cells with this j, or of the rings around points half a cell on in r.
  double cell_volume(int j) const { return cylinder ? 2 * std::numbers::pi * radius(j + 0.5) * volume() : volume(); }
  /// Volume that belongs to the nodes with this j: of a cylinder that of a ring from half a cell before to half a cell
  /// behind, on the axis of a disc.
  double node_volume(int j) const {
    if (!cylinder) return volume();
    return std::numbers::pi * (first[1] + j == 0 ? 0.25 * spacing[1] : 2 * radius(j)) * volume();
  }
};

/// Cells from low to high - 1 of a patch grid.
struct region {
  point low, high;
  std::size_t size() const {
    return std::size_t(high[0] - low[0]) * std::size_t(high[1] - low[1]) * std::size_t(high[2] - low[2]);
  }
};

/// Region of the patch's own cells.
inline region own_cells(const patch_grid& m) { return {{0, 0, 0}, m.cells}; }
/// Region of all cells.
inline region with_guards(const patch_grid& m) {
  region r;
  for (int d = 0; d < 3; ++d) r.low[d] = -m.guard[d], r.high[d] = m.cells[d] + m.guard[d];
  return r;
}

/// Calls use(index of the first cell, length) for every row of a region.
template <class Use>
void for_each_row(const patch_grid& m, const region& r, Use use) {
  const std::ptrdiff_t n = r.high[0] - r.low[0];
  std::ptrdiff_t plane = m.index(r.low);
  for (int k = r.low[2]; k < r.high[2]; ++k, plane += m.stride[2])
    for (std::ptrdiff_t j = r.low[1], at = plane; j < r.high[1]; ++j, at += m.stride[1]) use(at, n);
}

/// Calls use(point, index) for every cell of a region, or the node at its lower corner.
template <class Use>
void for_each_point(const patch_grid& m, const region& r, Use use) {
  point at;
  for (at[2] = r.low[2]; at[2] < r.high[2]; ++at[2])
    for (at[1] = r.low[1]; at[1] < r.high[1]; ++at[1])
      for (at[0] = r.low[0]; at[0] < r.high[0]; ++at[0]) use(std::as_const(at), m.index(at));
}

/// Appends the values of a region to a list.
template <class T>
void append(const patch_grid& m, const region& r, const std::vector<T>& from, std::vector<T>& to) {
  const std::size_t before = to.size();
  to.resize(before + r.size());
  T* next = to.data() + before;
  for_each_row(m, r, [&next, all = from.data()](std::ptrdiff_t at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = 0; i < n; ++i) next[i] = all[at + i];
    next += n;
  });
}
/// Writes what `append` has read into a region of the same size; returns the end of the values used.
template <class T>
const T* put(const patch_grid& m, const region& r, const T* from, std::vector<T>& to) {
  for_each_row(m, r, [&from, all = to.data()](std::ptrdiff_t at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = 0; i < n; ++i) all[at + i] = from[i];
    from += n;
  });
  return from;
}
/// Adds what `append` has read to a region of the same size; returns the end of the values used.
template <class T>
const T* add(const patch_grid& m, const region& r, const T* from, std::vector<T>& to) {
  for_each_row(m, r, [&from, all = to.data()](std::ptrdiff_t at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = 0; i < n; ++i) all[at + i] += from[i];
    from += n;
  });
  return from;
}

// A message goes to the neighbour that lies at `shift` from its sender, each coordinate -1, 0 or 1.

/// Region of the sender's guard cells that are the receiver's own.
inline region guards_towards(const patch_grid& m, const point& shift) {
  region r = own_cells(m);
  for (int d = 0; d < m.dimensions; ++d) {
    if (shift[d] < 0) r.low[d] = -m.guard[d], r.high[d] = 0;
    if (shift[d] > 0) r.low[d] = m.cells[d], r.high[d] = m.cells[d] + m.guard[d];
  }
  return r;
}
/// Region of own cells that are guards of that neighbour.
inline region edge_towards(const patch_grid& m, const point& shift) {
  region r = own_cells(m);
  for (int d = 0; d < m.dimensions; ++d) {
    if (shift[d] < 0) r.high[d] = m.guard[d];
    if (shift[d] > 0) r.low[d] = m.cells[d] - m.guard[d];
  }
  return r;
}
/// Shift from the receiver to the sender.
inline point opposite(const point& shift) { return {-shift[0], -shift[1], -shift[2]}; }

}  // namespace plaq::pic

// The cells of a patch, with the guard cells around them, and how they lie in memory: x fastest.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "plaq/base/portion.hpp"
#include "plaq/pic/plan.hpp"

namespace plaq::pic {

/// A point of the mesh of patches or of a patch's cells.
using point = std::array<int, 3>;

/// The difference along a dimension d of a field, over dx: alpha of the one in its line, beta[t] of those in the
/// lines before and behind in a dimension t across, gamma of those at the four corners (see plan.hpp, stencil).
struct slope {
  double alpha = 0, gamma = 0;
  std::array<double, 3> beta{};
};
std::array<slope, 3> slopes_of(const plan& p);

/// Cells 0 ... cells - 1 are the patch's own, those from -guard and up to cells + guard - 1 belong to others. In
/// dimensions that are not used there is one cell, no guard, and a stride of 0.
struct block {
  int dimensions = 0;
  point first{}, cells{1, 1, 1}, guard{};
  std::array<std::ptrdiff_t, 3> stride{};
  std::array<double, 3> spacing{1, 1, 1};
  double dt = 0;
  bool smoothed = false;  ///< curl E across, by `along`
  std::array<slope, 3> along{};

  block() = default;
  block(const plan& p, const point& patch)
      : dimensions(p.dimensions),
        dt(p.dt),
        smoothed(p.curl == stencil::cowan && p.dimensions > 1),
        along(slopes_of(p)) {
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
  /// Where cell (0, 0, 0) is.
  std::ptrdiff_t origin() const { return guard[0] * stride[0] + guard[1] * stride[1] + guard[2] * stride[2]; }
  std::ptrdiff_t index(const point& i) const {
    return origin() + i[0] * stride[0] + i[1] * stride[1] + i[2] * stride[2];
  }
  double volume() const { return spacing[0] * spacing[1] * spacing[2]; }
};

/// Cells from low to high - 1 of a block.
struct region {
  point low, high;
  std::size_t size() const {
    return std::size_t(high[0] - low[0]) * std::size_t(high[1] - low[1]) * std::size_t(high[2] - low[2]);
  }
};

/// The patch's own cells.
inline region own(const block& m) { return {{0, 0, 0}, m.cells}; }
inline region with_guards(const block& m) {
  region r;
  for (int d = 0; d < 3; ++d) r.low[d] = -m.guard[d], r.high[d] = m.cells[d] + m.guard[d];
  return r;
}

/// Calls use(index of the first cell, length) for every row of a region.
template <class Use>
void each_row(const block& m, const region& r, Use use) {
  for (int k = r.low[2]; k < r.high[2]; ++k)
    for (int j = r.low[1]; j < r.high[1]; ++j) use(m.index({r.low[0], j, k}), std::ptrdiff_t(r.high[0] - r.low[0]));
}

template <class T>
void append(const block& m, const region& r, const std::vector<T>& from, std::vector<T>& to) {
  each_row(m, r,
           [&](std::ptrdiff_t at, std::ptrdiff_t n) { to.insert(to.end(), from.begin() + at, from.begin() + at + n); });
}
/// Puts what `append` took into a region of the same size, or adds it; returns the end of what was used.
template <class T>
const T* put(const block& m, const region& r, const T* from, std::vector<T>& to) {
  each_row(m, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = 0; i < n; ++i) to[std::size_t(at + i)] = *from++;
  });
  return from;
}
template <class T>
const T* add(const block& m, const region& r, const T* from, std::vector<T>& to) {
  each_row(m, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = 0; i < n; ++i) to[std::size_t(at + i)] += *from++;
  });
  return from;
}

// A message goes to the neighbour that lies at `shift` from its sender, each coordinate -1, 0 or 1.

/// Guard cells of the sender that are the receiver's own.
inline region guards_towards(const block& m, const point& shift) {
  region r = own(m);
  for (int d = 0; d < m.dimensions; ++d) {
    if (shift[d] < 0) r.low[d] = -m.guard[d], r.high[d] = 0;
    if (shift[d] > 0) r.low[d] = m.cells[d], r.high[d] = m.cells[d] + m.guard[d];
  }
  return r;
}
/// Own cells that are guards of the neighbour there.
inline region edge_towards(const block& m, const point& shift) {
  region r = own(m);
  for (int d = 0; d < m.dimensions; ++d) {
    if (shift[d] < 0) r.high[d] = m.guard[d];
    if (shift[d] > 0) r.low[d] = m.cells[d] - m.guard[d];
  }
  return r;
}
inline point back(const point& shift) { return {-shift[0], -shift[1], -shift[2]}; }

}  // namespace plaq::pic

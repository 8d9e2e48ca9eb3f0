// Differences of E, smoothed across their direction.
#pragma once
#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {

/// Returns dF/dx_d half a cell on from the cell at `f`.
template <class T>
inline T difference(const patch_grid& m, int d, const T* f) {
  if (d >= m.dimensions) return T(0);
  const stencil_weights& w = m.weights[std::size_t(d)];
  const auto s = m.stride[d], a = m.stride[(d + 1) % 3], b = m.stride[(d + 2) % 3];
  const auto step = [&](std::ptrdiff_t to) { return f[to + s] - f[to]; };
  T sum = T(w.alpha) * step(0);
  if (a) sum += T(w.beta[std::size_t((d + 1) % 3)]) * (step(a) + step(-a));
  if (b) sum += T(w.beta[std::size_t((d + 2) % 3)]) * (step(b) + step(-b));
  if (a && b) sum += T(w.gamma) * (step(a + b) + step(a - b) + step(-a + b) + step(-a - b));
  return sum;
}

}  // namespace plaq::pic

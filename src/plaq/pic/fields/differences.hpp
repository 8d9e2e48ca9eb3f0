// Differences of E by the weights of a stencil.
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
  if (d == 0 && m.reach > 1) sum += T(w.delta) * (f[2 * s] - f[-s]);
  return sum;
}

/// Returns the region where differences are known, for the B around own cells.
inline region difference_region(const patch_grid& m) {
  region r = with_guards(m);
  for (int d = 0; d < m.dimensions; ++d) {
    if (m.smoothed) ++r.low[d];
    r.high[d] -= d == 0 ? m.reach : 1;
  }
  return r;
}

}  // namespace plaq::pic

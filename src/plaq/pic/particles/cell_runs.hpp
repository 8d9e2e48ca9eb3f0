// Runs of particles that follow each other in one cell, a register at a time.
#pragma once
#include "plaq/pic/particles/particles.hpp"
#include "plaq/pic/particles/registers.hpp"

namespace plaq::pic {

/// Returns the mask of the particles from the i-th on that are in a cell, at most a register of T.
template <int D, class T>
PLAQ_KERNEL lane_mask lanes_in_cell(const particles<T>& p, std::size_t i, const point& cell) {
  constexpr int n = linalg::native_lanes<T>;
  using C = linalg::simd<std::int32_t, n>;
  const std::size_t rest = p.size() - i;
  if (rest < std::size_t(n)) [[unlikely]] {
    int count = 0;
    for (bool same = true; same && count < int(rest); count += same)
      for (int d = 0; d < D; ++d) same = same && p.cell[std::size_t(d)][i + std::size_t(count)] == cell[std::size_t(d)];
    return low_lanes(count);
  }
  C other{};
  for (int d = 0; d < D; ++d) other |= linalg::load<C>(p.cell[std::size_t(d)].data() + i) ^ cell[std::size_t(d)];
  const lane_mask elsewhere = mask_of(other != C{});
  return elsewhere ? (elsewhere & -elsewhere) - 1 : low_lanes(n);
}

/// Calls use(cell, its index in the fields, for_each_register) for every run. for_each_register(f) calls f(i, mask) for
/// the particles of the mask from the i-th on.
template <int D, class T, class Use>
PLAQ_KERNEL void for_each_cell_run(const patch_grid& m, const particles<T>& p, Use use) {
  constexpr int n = linalg::native_lanes<T>;
  for (std::size_t i = 0; i < p.size();) {
    point cell{};
    std::ptrdiff_t at = m.origin();
    for (int d = 0; d < D; ++d) {
      cell[std::size_t(d)] = p.cell[std::size_t(d)][i];
      at += cell[std::size_t(d)] * m.stride[std::size_t(d)];
    }
    use(cell, at, [&](auto&& f) PLAQ_INLINE {
      for (lane_mask mask = low_lanes(n); mask == low_lanes(n) && i < p.size();) {
        mask = lanes_in_cell<D>(p, i, cell);
        if (mask == 0) break;
        f(i, mask);
        i += std::size_t(std::popcount(mask));
      }
    });
  }
}

}  // namespace plaq::pic

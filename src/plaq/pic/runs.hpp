// Particles that follow each other in one cell, a register at a time.
#pragma once
#include "plaq/pic/particles.hpp"
#include "plaq/pic/registers.hpp"

namespace plaq::pic {

/// How many from the i-th on are in a cell, at most a register of T, as bits.
template <int D, class T>
PLAQ_KERNEL lane_bits in_cell(const particles<T>& p, std::size_t i, const point& cell) {
  constexpr int n = linalg::native_lanes<T>;
  using C = linalg::simd<std::int32_t, n>;
  const std::size_t left = p.size() - i;
  if (left < std::size_t(n)) [[unlikely]] {
    int count = 0;
    for (bool same = true; same && count < int(left); count += same)
      for (int d = 0; d < D; ++d) same = same && p.cell[std::size_t(d)][i + std::size_t(count)] == cell[std::size_t(d)];
    return first_bits(count);
  }
  C other{};
  for (int d = 0; d < D; ++d) other |= linalg::load<C>(p.cell[std::size_t(d)].data() + i) ^ cell[std::size_t(d)];
  const lane_bits elsewhere = bits(other != C{});
  return elsewhere ? (elsewhere & -elsewhere) - 1 : first_bits(n);
}

/// Calls use(cell, where that is in the fields, each_register) for every run; each_register(f) calls f(i, bits)
/// for particles from the i-th on, those with a bit.
template <int D, class T, class Use>
PLAQ_KERNEL void for_cells(const block& m, const particles<T>& p, Use use) {
  constexpr int n = linalg::native_lanes<T>;
  for (std::size_t i = 0; i < p.size();) {
    point cell{};
    std::ptrdiff_t at = m.origin();
    for (int d = 0; d < D; ++d) {
      cell[std::size_t(d)] = p.cell[std::size_t(d)][i];
      at += cell[std::size_t(d)] * m.stride[std::size_t(d)];
    }
    use(cell, at, [&](auto&& f) PLAQ_INLINE {
      for (lane_bits some = first_bits(n); some == first_bits(n) && i < p.size();) {
        some = in_cell<D>(p, i, cell);
        if (some == 0) break;
        f(i, some);
        i += std::size_t(std::popcount(some));
      }
    });
  }
}

}  // namespace plaq::pic

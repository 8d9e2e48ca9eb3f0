// Storage of numbers between -1 and 1 in 16 bits, for arithmetic in single precision: kernels on large lattices are
// limited by memory bandwidth.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "plaq/lqcd/lattice/su3.hpp"

namespace plaq::lqcd {

/// Integer k that represents k / 32767, in steps of 3e-5.
using fixed16 = std::int16_t;
inline constexpr int fixed16_one = 32767;

inline fixed16 to_fixed16(double x) { return fixed16(std::lround(std::clamp(x, -1.0, 1.0) * fixed16_one)); }

template <class V>
PLAQ_KERNEL V load_fixed16(const fixed16* from) {
  constexpr int n = linalg::lanes<V>;
  static_assert(sizeof(linalg::number_of<V>) == 4);
  V v;
  if constexpr (n == 1) {
    v = V(*from);
  } else {
    linalg::simd<fixed16, n> bits;
    std::memcpy(&bits, from, sizeof bits);
    v = __builtin_convertvector(__builtin_convertvector(bits, linalg::lane_numbers<V>), V);
  }
  return linalg::mul(v, linalg::same<V>(1.0f / fixed16_one));
}

template <class V>
PLAQ_KERNEL cx<V> load_cx(const fixed16* at) {
  return {load_fixed16<V>(at), load_fixed16<V>(at + linalg::lanes<V>)};
}

}  // namespace plaq::lqcd

// Loads of numbers in 16 bits into registers of single precision.
#pragma once
#include <cstring>

#include "plaq/lqcd/lattice/fixed16.hpp"
#include "plaq/lqcd/lattice/su3.hpp"

namespace plaq::lqcd {

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

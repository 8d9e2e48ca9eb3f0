// Storage of numbers between -1 and 1 in 16 bits, for arithmetic in single precision: kernels on large lattices are
// limited by memory bandwidth.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace plaq::lqcd {

/// Integer k that represents k / 32767, in steps of 3e-5.
using fixed16 = std::int16_t;
inline constexpr int fixed16_one = 32767;

inline fixed16 to_fixed16(double x) { return fixed16(std::lround(std::clamp(x, -1.0, 1.0) * fixed16_one)); }

}  // namespace plaq::lqcd

// Dispatch from the lanes of a layout to kernels compiled for them.
#pragma once
#include "plaq/base/error.hpp"
#include "plaq/linalg/simd.hpp"

namespace plaq::lqcd {

/// Calls f.operator()<N>() for N = lanes: one, or a power of two up to a register of T.
template <class T, class F>
auto with_lanes(int lanes, F&& f) {
  constexpr int most = linalg::native_lanes<T>;
  if constexpr (most >= 16)
    if (lanes == 16) return f.template operator()<16>();
  if constexpr (most >= 8)
    if (lanes == 8) return f.template operator()<8>();
  if constexpr (most >= 4)
    if (lanes == 4) return f.template operator()<4>();
  if (lanes == 2) return f.template operator()<2>();
  check(lanes == 1, "a layout has more lanes than the kernels of this program");
  return f.template operator()<1>();
}

}  // namespace plaq::lqcd

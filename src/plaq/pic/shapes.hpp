// Shapes of particles: B-splines of order 1, 2, 3, at nodes and half way between them.
#pragma once
#include "plaq/linalg/simd.hpp"

namespace plaq::pic {

/// Weights of nodes base ... base + Order, counted from the particle's cell.
template <int Order, class T>
struct weights {
  T at[Order + 1];
  int base;
};

template <int Order, class T>
PLAQ_KERNEL void spline(T x, T (&w)[Order + 1]) {
  if constexpr (Order == 1) {  // x in [0, 1] from the left node
    w[0] = 1 - x, w[1] = x;
  } else if constexpr (Order == 2) {  // x in [-1/2, 1/2] from the middle node
    const T a = T(0.5) - x, b = T(0.5) + x;
    w[0] = T(0.5) * a * a, w[1] = T(0.75) - x * x, w[2] = T(0.5) * b * b;
  } else {  // x in [0, 1] from the second node
    const T y = 1 - x, third = T(2) / 3, sixth = T(1) / 6;
    w[0] = sixth * y * y * y, w[1] = third - x * x * (1 - T(0.5) * x);
    w[2] = third - y * y * (1 - T(0.5) * y), w[3] = sixth * x * x * x;
  }
}

/// x: where in the cell, in [0, 1].
template <int Order, class T>
PLAQ_KERNEL weights<Order, T> at_nodes(T x) {
  weights<Order, T> w;
  if constexpr (Order == 2) {
    const int right = x >= T(0.5);
    w.base = right - 1;
    spline<Order>(x - T(right), w.at);
  } else {
    w.base = -(Order - 1) / 2;
    spline<Order>(x, w.at);
  }
  return w;
}
/// Node n stands for n + 1/2.
template <int Order, class T>
PLAQ_KERNEL weights<Order, T> at_halves(T x) {
  weights<Order, T> w;
  if constexpr (Order == 2) {
    w.base = -1;
    spline<Order>(x - T(0.5), w.at);
  } else {
    const int right = x >= T(0.5);
    w.base = right - 1 - (Order - 1) / 2;
    spline<Order>(x + T(0.5) - T(right), w.at);
  }
  return w;
}

}  // namespace plaq::pic

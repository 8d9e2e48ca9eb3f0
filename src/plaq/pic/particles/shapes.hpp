// Shapes of particles on nodes that are the same for all particles of a cell, so that lanes of a register are
// particles.
#pragma once
#include "plaq/linalg/simd.hpp"

namespace plaq::pic {

/// Points that a particle anywhere in cell 0 reaches: nodes, half points n + 1/2, and nodes after a step of up to a
/// cell.
template <int Order>
struct shape {
  static constexpr bool odd = Order % 2;
  static constexpr int first_node = -(Order / 2), nodes = odd ? Order + 1 : Order + 2;
  static constexpr int first_half = -((Order + 1) / 2), halves = odd ? Order + 2 : Order + 1;
  static constexpr int first_moved = first_node - 1, moved = nodes + 2;
};

/// Returns x where it is above 0, else 0.
template <class V>
PLAQ_KERNEL V positive_part(V x) {
  return x > V{} ? x : V{};
}

/// Returns the B-spline at a distance: truncated powers, without a branch.
template <int Order, class V>
PLAQ_KERNEL V spline(V d) {
  using T = linalg::number_of<V>;
  d = d < V{} ? -d : d;
  if constexpr (Order == 1) {
    return positive_part(linalg::same<V>(1) - d);
  } else if constexpr (Order == 2) {
    const V t = positive_part(linalg::same<V>(T(1.5)) - d), u = positive_part(linalg::same<V>(T(0.5)) - d);
    return T(0.5) * t * t - T(1.5) * u * u;
  } else {
    const V t = positive_part(linalg::same<V>(2) - d), u = positive_part(linalg::same<V>(1) - d);
    return T(1) / 6 * t * t * t - T(2) / 3 * u * u * u;
  }
}

/// Computes the weights of `Count` points at first, first + 1, ...
template <int Order, int Count, class V>
PLAQ_KERNEL void splines(V x, linalg::number_of<V> first, V (&w)[Count]) {
  for (int i = 0; i < Count; ++i) w[i] = spline<Order>(x - linalg::same<V>(first + linalg::number_of<V>(i)));
}

}  // namespace plaq::pic

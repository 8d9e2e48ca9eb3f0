// Particles that are rings about the axis of a cylinder: their motion and their shape in r.
#pragma once
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "plaq/pic/particles/registers.hpp"

namespace plaq::pic {

/// Turn of a particle about the axis in a step: the change of r, and cosine and sine of the angle.
template <class V>
struct turn {
  V change, cosine, sine;

  /// Replaces the components in r and theta of a vector where the path began by those where it ends.
  PLAQ_KERNEL void apply(V& r, V& theta) const {
    const V before = r;
    r = before * cosine + theta * sine;
    theta = theta * cosine - before * sine;
  }
  /// The inverse of apply.
  PLAQ_KERNEL void undo(V& r, V& theta) const {
    const V after = r;
    r = after * cosine - theta * sine;
    theta = theta * cosine + after * sine;
  }
};

/// Returns the turn of a particle that moves from r on a straight line, `along` r and `across` it, towards theta.
template <class V>
PLAQ_KERNEL turn<V> turn_of(V r, V along, V across) {
  using T = number_of<V>;
  const V x = r + along, square = x * x + across * across;
  V to;
  if constexpr (std::is_floating_point_v<V>)
    to = std::sqrt(square);
  else
    to = square_root(square);
  const V over = to > V{} ? to : linalg::same<V>(1);
  return {.change = (2 * r * along + along * along + across * across) /
                    (to + r + linalg::same<V>(std::numeric_limits<T>::min())),
          .cosine = to > V{} ? x / over : linalg::same<V>(1),
          .sine = across / over};
}

/// Returns exp(i theta) after a turn, of modulus 1 to rounding.
template <class T>
std::complex<T> turned(std::complex<T> azimuth, T cosine, T sine) {
  const std::complex<T> out(azimuth.real() * cosine - azimuth.imag() * sine,
                            azimuth.imag() * cosine + azimuth.real() * sine);
  return out * (T(1.5) - T(0.5) * std::norm(out));
}

/// Returns beta of a cell in r, counted from the axis: a particle at s in [0, 1] of it gives beta s (1 - s) of its
/// charge not to the node before it but to the one behind it. A uniform density then gives each node the charge of its
/// ring, also that on the axis (Ruyten, J. Comput. Phys. 105 (1993) 224, who has order 1).
constexpr double ring_correction(int order, int cell) {
  // By which the charge of a uniform density at the nodes up to this one exceeds that of their rings, over pi n dr^2 dz
  const double excess = cell > 0 || order == 1 ? order / 12.0 : order == 2 ? 5.0 / 32 : 13.0 / 60;
  return 6 * excess / (2 * cell + 1);
}
/// Moves the charge of a particle at x in [0, 1] of a cell by its ring_correction; `node`: place of the cell's node in
/// w.
template <class V, class W>
PLAQ_KERNEL void correct_for_rings(number_of<V> correction, V x, W& w, int node) {
  const V moved = correction * x * (linalg::same<V>(1) - x);
  w[node] -= moved, w[node + 1] += moved;
}

}  // namespace plaq::pic

// Pushers: momenta from t - dt/2 to t + dt/2. All three begin with half of the electric field.
#pragma once
#include "plaq/pic/mesh/plan.hpp"
#include "plaq/pic/particles/registers.hpp"

namespace plaq::pic {

/// Returns u.u.
template <class V>
PLAQ_KERNEL V squared(const V (&u)[3]) {
  return u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
}
/// Returns a.b.
template <class V>
PLAQ_KERNEL V product(const V (&a)[3], const V (&b)[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
/// Returns 1 in all lanes.
template <class V>
PLAQ_KERNEL V unit() {
  return linalg::same<V>(1);
}

/// Boris (1970): half of E, a rotation about B with tan(angle/2) = (q/m) |B| dt / (2 gamma), half of E. h = (q/m)
/// dt / 2.
template <class V>
PLAQ_KERNEL void boris(number_of<V> h, const V (&e)[3], const V (&b)[3], V (&u)[3]) {
  // First half-push for E
  for (int c = 0; c < 3; ++c) u[c] += h * e[c];
  // Magnetic rotation: u' = u + u x t, u += u' x s
  const V scale = h / square_root(unit<V>() + squared(u));
  const V t[3] = {scale * b[0], scale * b[1], scale * b[2]};
  const V s = number_of<V>(2) / (unit<V>() + squared(t));
  const V p[3] = {u[0] + (u[1] * t[2] - u[2] * t[1]), u[1] + (u[2] * t[0] - u[0] * t[2]),
                  u[2] + (u[0] * t[1] - u[1] * t[0])};
  // and second half-push for E
  u[0] += s * (p[1] * t[2] - p[2] * t[1]) + h * e[0];
  u[1] += s * (p[2] * t[0] - p[0] * t[2]) + h * e[1];
  u[2] += s * (p[0] * t[1] - p[1] * t[0]) + h * e[2];
}

/// Returns gamma of the momentum in the middle, where w is u after half of the kick and tau = q B dt / (2 m): eq. (11)
/// of Vay, Phys. Plasmas 15 (2008) 056701, and (20) of Higuera and Cary, Phys. Plasmas 24 (2017) 052104.
template <class V>
PLAQ_KERNEL V middle_gamma(const V (&w)[3], const V (&tau)[3]) {
  using T = number_of<V>;
  const V tau2 = squared(tau), along = product(w, tau), s = unit<V>() + squared(w) - tau2;
  return square_root(T(0.5) * (s + square_root(s * s + T(4) * (tau2 + along * along))));
}
/// Computes u = (w + (w.t) t + w x t) / (1 + t^2).
template <class V>
PLAQ_KERNEL void rotate(const V (&w)[3], const V (&t)[3], V (&u)[3]) {
  const V s = number_of<V>(1) / (unit<V>() + squared(t)), along = product(w, t);
  u[0] = s * (w[0] + along * t[0] + (w[1] * t[2] - w[2] * t[1]));
  u[1] = s * (w[1] + along * t[1] + (w[2] * t[0] - w[0] * t[2]));
  u[2] = s * (w[2] + along * t[2] + (w[0] * t[1] - w[1] * t[0]));
}

/// Vay (2008): E and v x B of the old velocity for half a step, then implicit; drifts of E x B are exact.
template <class V>
PLAQ_KERNEL void vay(number_of<V> h, const V (&e)[3], const V (&b)[3], V (&u)[3]) {
  // First half: E and v x B of the old velocity, and the other half of E
  const V g = h / square_root(unit<V>() + squared(u));
  const V w[3] = {u[0] + 2 * h * e[0] + g * (u[1] * b[2] - u[2] * b[1]),
                  u[1] + 2 * h * e[1] + g * (u[2] * b[0] - u[0] * b[2]),
                  u[2] + 2 * h * e[2] + g * (u[0] * b[1] - u[1] * b[0])};
  // Second half: implicit v x B, a rotation with gamma of the new momentum
  const V tau[3] = {h * b[0], h * b[1], h * b[2]};
  const V inverse = number_of<V>(1) / middle_gamma(w, tau);
  const V t[3] = {tau[0] * inverse, tau[1] * inverse, tau[2] * inverse};
  rotate(w, t, u);
}

/// Higuera and Cary (2017): as Boris, with gamma of the momentum in the middle; keeps volumes and drifts.
template <class V>
PLAQ_KERNEL void higuera_cary(number_of<V> h, const V (&e)[3], const V (&b)[3], V (&u)[3]) {
  // First half-push for E
  const V w[3] = {u[0] + h * e[0], u[1] + h * e[1], u[2] + h * e[2]}, tau[3] = {h * b[0], h * b[1], h * b[2]};
  // Magnetic rotation with gamma of the momentum in the middle
  const V inverse = number_of<V>(1) / middle_gamma(w, tau);
  const V t[3] = {tau[0] * inverse, tau[1] * inverse, tau[2] * inverse};
  V middle[3];
  rotate(w, t, middle);
  // Second half-push for E
  for (int c = 0; c < 3; ++c) u[c] = 2 * middle[c] - w[c] + h * e[c];
}

/// Advances a register of momenta by the scheme; without B if not `magnetic`, where all schemes agree.
template <class V>
PLAQ_KERNEL void accelerate(pusher scheme, bool magnetic, number_of<V> h, const V (&e)[3], const V (&b)[3], V (&u)[3]) {
  if (!magnetic) {
    for (int c = 0; c < 3; ++c) u[c] = (u[c] + h * e[c]) + h * e[c];
    return;
  }
  switch (scheme) {
    case pusher::boris: return boris(h, e, b, u);
    case pusher::vay: return vay(h, e, b, u);
    case pusher::higuera_cary: return higuera_cary(h, e, b, u);
  }
}

}  // namespace plaq::pic

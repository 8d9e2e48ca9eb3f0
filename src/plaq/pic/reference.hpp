// Slow, readable reference kernels for the tests: in double, on points of the box.
#pragma once
#include <array>
#include <cmath>
#include <functional>

#include "plaq/pic/mesh/fields.hpp"
#include "plaq/pic/particles/particles.hpp"

namespace plaq::pic::reference {

/// Returns the B-spline of an order at a distance from its centre, in cells: Cox and de Boor's recursion.
inline double spline(int order, double x) {
  if (order == 0) return x >= -0.5 && x < 0.5 ? 1 : 0;
  const double half = 0.5 * (order + 1);
  return ((half + x) * spline(order - 1, x + 0.5) + (half - x) * spline(order - 1, x - 0.5)) / order;
}

/// Position in cells of a patch.
using position = std::array<double, 3>;

/// Returns the weight of the point (i + half) of a mesh for a particle at `at`: the product of splines.
inline double weight(const patch_grid& m, int order, const position& at, const point& i, const point& half = {}) {
  double w = 1;
  for (int d = 0; d < m.dimensions; ++d) w *= spline(order, at[d] - i[d] - 0.5 * half[d]);
  return w;
}

/// Point of component c of E (or of B) in a cell: half a cell on in these dimensions.
inline point half_of(int c, bool magnetic) {
  point h{};
  for (int d = 0; d < 3; ++d) h[d] = (d == c) != magnetic;
  return h;
}

/// Calls use(i) for all cells of a patch grid, guards included.
inline void for_each_cell(const patch_grid& m, const std::function<void(const point&)>& use) {
  const region r = with_guards(m);
  for (int k = r.low[2]; k < r.high[2]; ++k)
    for (int j = r.low[1]; j < r.high[1]; ++j)
      for (int i = r.low[0]; i < r.high[0]; ++i) use({i, j, k});
}

/// Returns a field at a position: the sum of weights times values over all points.
template <class T>
double interpolate(const patch_grid& m, int order, const std::vector<T>& f, const position& at, const point& half) {
  double sum = 0;
  for_each_cell(m, [&](const point& i) { sum += weight(m, order, at, i, half) * double(f[std::size_t(m.index(i))]); });
  return sum;
}

/// Returns rho of a charge at a position.
inline std::vector<double> charge(const patch_grid& m, int order, const position& at, double q) {
  std::vector<double> rho(m.size());
  for_each_cell(m, [&](const point& i) { rho[std::size_t(m.index(i))] = q * weight(m, order, at, i) / m.volume(); });
  return rho;
}

/// Integrates du/dt = q/m (E + v x B) over dt by many small steps of the classical Runge-Kutta method.
inline std::array<double, 3> motion(std::array<double, 3> u, double charge_per_mass, const std::array<double, 3>& e,
                                    const std::array<double, 3>& b, double dt, int steps) {
  using vector = std::array<double, 3>;
  const auto rate = [&](const vector& p) {
    const double g = std::sqrt(1 + p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    vector out;
    for (int c = 0; c < 3; ++c) {
      const int d1 = (c + 1) % 3, d2 = (c + 2) % 3;
      out[c] = charge_per_mass * (e[c] + (p[d1] * b[d2] - p[d2] * b[d1]) / g);
    }
    return out;
  };
  const auto plus = [](const vector& p, double h, const vector& k) {
    return vector{p[0] + h * k[0], p[1] + h * k[1], p[2] + h * k[2]};
  };
  const double h = dt / steps;
  for (int n = 0; n < steps; ++n) {
    const vector a = rate(u), k2 = rate(plus(u, h / 2, a)), k3 = rate(plus(u, h / 2, k2)), k4 = rate(plus(u, h, k3));
    for (int c = 0; c < 3; ++c) u[c] += h / 6 * (a[c] + 2 * k2[c] + 2 * k3[c] + k4[c]);
  }
  return u;
}

/// Returns u after Boris' step: half of E, a rotation about B, half of E.
inline std::array<double, 3> boris(std::array<double, 3> u, double charge_per_mass, const std::array<double, 3>& e,
                                   const std::array<double, 3>& b, double dt) {
  using vector = std::array<double, 3>;
  const auto cross = [](const vector& p, const vector& q) {
    return vector{p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]};
  };
  const double h = 0.5 * charge_per_mass * dt;
  // First half-push for E
  for (int c = 0; c < 3; ++c) u[c] += h * e[c];
  // Magnetic rotation, and second half-push for E
  const double g = std::sqrt(1 + u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  const vector t{h * b[0] / g, h * b[1] / g, h * b[2] / g};
  vector rotated = cross(u, t);
  for (int c = 0; c < 3; ++c) rotated[c] += u[c];
  const vector by = cross(rotated, t);
  for (int c = 0; c < 3; ++c) u[c] += 2 / (1 + t[0] * t[0] + t[1] * t[1] + t[2] * t[2]) * by[c] + h * e[c];
  return u;
}

/// Returns div J at a node, from J half a cell on.
template <class T>
double divergence(const patch_grid& m, const std::array<std::vector<T>, 3>& j, const point& i) {
  double out = 0;
  const auto at = m.index(i);
  for (int d = 0; d < m.dimensions; ++d)
    out += (double(j[d][std::size_t(at)]) - double(j[d][std::size_t(at - m.stride[d])])) / m.spacing[d];
  return out;
}

}  // namespace plaq::pic::reference

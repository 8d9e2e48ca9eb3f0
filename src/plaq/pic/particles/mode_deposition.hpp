// Currents of the azimuthal modes m >= 1 of a cylinder: A. Davidson et al., J. Comput. Phys. 281 (2015) 1063. In each
// mode the current's divergence is exactly the change of the charge density.
#pragma once
#include <cmath>
#include <complex>

#include "plaq/pic/mesh/fields.hpp"
#include "plaq/pic/particles/rings.hpp"
#include "plaq/pic/particles/shapes.hpp"

namespace plaq::pic {

/// Path of a particle of a cylinder in a step: in cells of z and r, and exp(i theta) before and after it.
template <class T>
struct ring_path {
  T start[2], displacement[2];
  std::complex<T> before, after;
};

/// Returns the middle of two points of the unit circle.
template <class T>
std::complex<T> middle_of(std::complex<T> a, std::complex<T> b) {
  const std::complex<T> sum = a + b;
  const T size = std::sqrt(std::norm(sum));
  return size > T(1e-3) ? sum / size : std::complex<T>(-a.imag(), a.real());
}

/// Adds J_z, J_r and the angular current J_theta / r of a path to the modes m >= 1, per area of a cell in the plane of
/// z and r. `at`: index of the cell where it begins; `ring`: its number from the axis. J_z and J_r are those of the
/// mode 0 times 2 exp(i m theta) of the middle; J_theta / r is what is missing to the change of 2 exp(i m theta) S,
/// over i m.
template <int Order, class T>
void add_mode_currents(const patch_grid& m, fields<T>& f, std::ptrdiff_t at, int ring, const ring_path<T>& path,
                       T charge) {
  constexpr int n = shape<Order>::moved, first = shape<Order>::first_moved;
  T s[2][n], c[2][n], flow[2][n];
  for (int d = 0; d < 2; ++d) {
    const T to = path.start[d] + path.displacement[d];
    splines<Order>(path.start[d], T(first), s[d]);
    splines<Order>(to, T(first), c[d]);
    if (d == 1) {
      const int over = to >= 1 ? 1 : to < 0 ? -1 : 0;
      correct_for_rings(T(ring_correction(Order, ring)), path.start[1], s[1], -first);
      correct_for_rings(T(ring_correction(Order, ring + over)), to - T(over), c[1], over - first);
    }
    T sum = 0;
    for (int i = 0; i < n; ++i) {
      c[d][i] -= s[d][i];
      flow[d][i] = T(m.spacing[std::size_t(d)]) * (sum -= c[d][i]);
    }
  }
  const T rate = 2 * charge / T(m.dt);
  const std::complex<T> middle = middle_of(path.before, path.after);
  std::complex<T> before = 1, half = 1, after = 1;
  at += first * (1 + m.stride[1]);
  for (std::size_t q = 0; q < f.modes.size(); q += 2) {
    before *= path.before, half *= middle, after *= path.after;
    const T turn = rate / T(q / 2 + 1);
    const std::complex<T> gain(turn * (after - half).imag(), -turn * (after - half).real()),
        loss(turn * (before - half).imag(), -turn * (before - half).real());
    const T cosine[3] = {rate * half.real(), gain.real(), loss.real()},
            sine[3] = {rate * half.imag(), gain.imag(), loss.imag()};
    for (std::size_t part = 0; part < 2; ++part) {
      const T* factor = part ? sine : cosine;
      auto& j = f.modes[q + part].j;
      for (int k = 0; k < n; ++k) {
        const std::ptrdiff_t row = at + k * m.stride[1];
        const T mean_r = factor[0] * (s[1][k] + T(0.5) * c[1][k]), flow_r = factor[0] * flow[1][k];
        const T old_r = factor[2] * s[1][k], new_r = factor[1] * (s[1][k] + c[1][k]);
        for (int i = 0; i < n; ++i) {
          const std::size_t to = std::size_t(row + i);
          j[0][to] += mean_r * flow[0][i];
          j[1][to] += flow_r * (s[0][i] + T(0.5) * c[0][i]);
          j[2][to] += new_r * (s[0][i] + c[0][i]) - old_r * s[0][i];
        }
      }
    }
  }
}

}  // namespace plaq::pic

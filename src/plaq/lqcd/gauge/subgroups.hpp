// SU(2) subgroups of SU(3), for updates of single links.
#pragma once
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

#include "plaq/base/random.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"

namespace plaq::lqcd {

/// Quaternion q_0 + i q . sigma.
using quaternion = std::array<double, 4>;

inline quaternion conj(const quaternion& q) { return {q[0], -q[1], -q[2], -q[3]}; }
inline quaternion operator*(const quaternion& a, const quaternion& b) {
  return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] - a[2] * b[3] + a[3] * b[2],
          a[0] * b[2] + a[2] * b[0] - a[3] * b[1] + a[1] * b[3], a[0] * b[3] + a[3] * b[0] - a[1] * b[2] + a[2] * b[1]};
}

/// Rows i and j of the three subgroups.
inline constexpr std::array<std::array<int, 2>, 3> subgroups = {{{0, 1}, {0, 2}, {1, 2}}};

/// Part r of a 2 x 2 block of w that is a multiple of SU(2): Re tr (a w) = 2 (a r)_0 for a in SU(2).
inline quaternion su2_part(const su3_matrix& w, int i, int j) {
  const auto a = w[4 * i], b = w[3 * i + j], c = w[3 * j + i], d = w[4 * j];
  return {(a.real() + d.real()) / 2, (b.imag() + c.imag()) / 2, (b.real() - c.real()) / 2, (a.imag() - d.imag()) / 2};
}

/// Computes u = a u in rows i and j.
inline void multiply_rows(su3_matrix& u, const quaternion& a, int i, int j) {
  const std::complex<double> d(a[0], a[3]), o(a[2], a[1]);
  for (int c = 0; c < 3; ++c) {
    const auto x = u[3 * i + c], y = u[3 * j + c];
    u[3 * i + c] = d * x + o * y;
    u[3 * j + c] = -std::conj(o) * x + std::conj(d) * y;
  }
}

/// Draws b in SU(2) with weight exp(alpha b_0): b_0 with the density sqrt(1 - b_0^2) exp(alpha b_0), and a random
/// direction. Takes numbers of the stream from `index` up, at most 2^32.
inline quaternion heat_bath_quaternion(double alpha, const stream_id& stream, std::uint64_t index) {
  double b0 = 0;
  for (bool accepted = false; !accepted; ++index) {
    const auto w = random_words(stream, index);
    const auto positive = [](std::uint64_t word) { return 1 - unit_interval(word); };  // in (0, 1]
    if (alpha > 1.5) {                                                                 // Kennedy and Pendleton
      const double c = std::cos(2 * std::numbers::pi * unit_interval(w[2]));
      const double delta = -(std::log(positive(w[0])) + std::log(positive(w[1])) * c * c) / alpha;
      const double r = unit_interval(w[3]);
      accepted = r * r <= 1 - delta / 2;
      b0 = 1 - delta;
    } else {  // Creutz
      const double r = unit_interval(w[0]);
      b0 = alpha < 1e-8 ? 2 * r - 1 : 1 + std::log(std::exp(-2 * alpha) + r * -std::expm1(-2 * alpha)) / alpha;
      const double s = unit_interval(w[1]);
      accepted = s * s <= 1 - b0 * b0;
    }
  }
  const auto w = random_words(stream, index);
  const double cosine = 2 * unit_interval(w[0]) - 1, phi = 2 * std::numbers::pi * unit_interval(w[1]);
  const double length = std::sqrt(std::max(0.0, 1 - b0 * b0)), across = length * std::sqrt(1 - cosine * cosine);
  return {b0, across * std::cos(phi), across * std::sin(phi), length * cosine};
}

}  // namespace plaq::lqcd

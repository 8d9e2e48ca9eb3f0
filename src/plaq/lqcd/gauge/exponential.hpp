// Exponential of antihermitian matrices.
#pragma once
#include <array>
#include <complex>

#include "plaq/lqcd/gauge/site_matrix.hpp"

namespace plaq::lqcd {

/// Returns exp(a) of a traceless antihermitian matrix, to rounding: the series of a / 2^n with |a| / 2^n <= 1, squared
/// n times. Powers of the series stay below three by Cayley and Hamilton's a^3 = t a + d (t = tr a^2 / 2, d = det a).
inline su3_matrix exponential(su3_matrix a) {
  constexpr int last = 18;  // 1 / 19! is below the last bit
  double square = 0;
  for (const auto& z : a) square += std::norm(z);
  int halvings = 0;
  for (; square > 1 && halvings < 64; ++halvings) {
    square /= 4;
    for (auto& z : a) z /= 2.0;
  }
  const auto a2 = times(a, a);
  const double t = -square / 2;
  const auto d =
      a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
  std::array<double, last + 1> inverse_factorial{1};
  for (int n = 1; n <= last; ++n) inverse_factorial[n] = inverse_factorial[n - 1] / n;
  std::complex<double> q0 = inverse_factorial[last], q1 = 0, q2 = 0;  // q0 + q1 a + q2 a^2
  for (int n = last - 1; n >= 0; --n) {
    const auto constant = inverse_factorial[n] + q2 * d, linear = q0 + q2 * t;
    q2 = q1, q1 = linear, q0 = constant;
  }
  su3_matrix out;
  for (int i = 0; i < 9; ++i) out[i] = q1 * a[i] + q2 * a2[i] + (i % 4 == 0 ? q0 : 0.0);
  for (int n = 0; n < halvings; ++n) out = times(out, out);
  return out;
}

}  // namespace plaq::lqcd

// e^{i w_n tau} for many times at once, written so that the compiler vectorises it.
#pragma once
#include <cmath>

#include "plaq/base/anywhere.hpp"

namespace plaq::dca {

/// Computes cosine + i sine = exp(2 pi i turns), absolute error below 4e-7.
PLAQ_ANYWHERE inline void fourier_phase(double turns, float& cosine, float& sine) {
  // Half the angle, |x| <= pi/2, by Taylor series; the rest by doubling.
  const float x = float((turns - std::nearbyint(turns)) * M_PI);
  const float y = x * x;
  const float c =
      1 + y * (-1.f / 2 +
               y * (1.f / 24 + y * (-1.f / 720 + y * (1.f / 40320 + y * (-1.f / 3628800 + y * (1.f / 479001600))))));
  const float s =
      x * (1 + y * (-1.f / 6 + y * (1.f / 120 + y * (-1.f / 5040 + y * (1.f / 362880 + y * (-1.f / 39916800))))));
  cosine = c * c - s * s;
  sine = 2 * s * c;
}

/// Computes cosine[i] + i sine[i] = exp(i n pi tau[i] / beta) for odd n, absolute error below 4e-7 for any n.
inline void fourier_phases(int count, const double* tau, double beta, int n, float* cosine, float* sine) {
  const double turns_per_time = n / (2 * beta);
  for (int i = 0; i < count; ++i) fourier_phase(tau[i] * turns_per_time, cosine[i], sine[i]);
}

}  // namespace plaq::dca

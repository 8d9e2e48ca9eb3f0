// Kinetic energy of a particle.
#pragma once
#include <array>
#include <cmath>

namespace plaq::pic {

/// Returns m (gamma - 1) of a momentum per mass, also where it is small.
inline double kinetic_energy(const std::array<double, 3>& u, double mass) {
  const double u2 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  return mass * u2 / (1 + std::sqrt(1 + u2));
}

}  // namespace plaq::pic

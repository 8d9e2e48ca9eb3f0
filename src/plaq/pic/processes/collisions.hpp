// Coulomb collisions of the particles in a cell.
#pragma once
#include <array>
#include <cstdint>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Two particles that collide: masses m, charges q, momenta per mass u.
struct particle_pair {
  std::array<double, 2> mass, charge;
  std::array<std::array<double, 3>, 2> u;
};
/// Returns the momenta after the sum of many small deflections: Perez, Gremillet, Decoster, Drouin, Lefebvre, Phys.
/// Plasmas 19 (2012) 083104, after Nanbu, Phys. Rev. E 55 (1997) 4642. The first two words are random numbers.
///
/// `density_time` is n_1 n_2 dt / n_12. `limit` times the relative velocity bounds s, where particles are closer than
/// the distance of a deflection by 90 degrees.
std::array<std::array<double, 3>, 2> scatter_pair(const plan& p, double logarithm, const particle_pair& pair,
                                                  double density_time, double limit,
                                                  const std::array<std::uint64_t, 4>& words);
/// Returns the cosine of the scattering angle of s collisions, from a number u of [0, 1): Nanbu's fit.
double scattering_cosine(double s, double u);

/// Collides all pairs of species of the plan, in every cell, every `every` steps. Of particles of different weights the
/// heavier one is deflected with the probability of the ratio of weights: momentum and energy are conserved in the
/// mean, and exactly for equal weights.
template <class T>
void collide_particles(const plan& p, patch<T>& self);

}  // namespace plaq::pic

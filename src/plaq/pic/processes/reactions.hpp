// Reactions of the particles of two species.
//
// In every cell the particles of both species are paired at random, each of the more numerous once. A pair reacts in a
// step with the probability k(E) dt n_1 n_2 V / sum min(w_1, w_2), the sum over all pairs, so that the mean number of
// reactions is k n_1 n_2 per volume and time. The lighter particle of a pair vanishes, the heavier one loses its
// weight.
#pragma once
#include <array>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Two particles: masses m and momenta per mass u.
struct particle_couple {
  std::array<double, 2> mass;
  std::array<std::array<double, 3>, 2> u;
};
/// Returns the kinetic energy in the centre of mass.
double centre_energy(const particle_couple& of);
/// Returns the momenta per mass of the products: of one with the momentum of both, of two in opposite directions in the
/// centre of mass, with its kinetic energy `energy`; `direction` is that of the first.
std::array<std::array<double, 3>, 2> product_momenta(const particle_couple& of, const std::vector<double>& masses,
                                                     double energy, const std::array<double, 3>& direction);

/// Carries out all reactions of a step, in the order of the plan. Throws runtime_failure where more than one in a pair
/// would happen in a step.
template <class T>
void react(const plan& p, patch<T>& self);

}  // namespace plaq::pic

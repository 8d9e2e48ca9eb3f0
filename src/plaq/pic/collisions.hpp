// Coulomb collisions of the particles in a cell.
#pragma once
#include <array>
#include <cstdint>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Two particles of masses m and charges q that meet.
struct meeting_of_two {
  std::array<double, 2> mass, charge;
  std::array<std::array<double, 3>, 2> u;
};
/// Many small deflections in a time in one, as Perez, Gremillet, Decoster, Drouin, Lefebvre, Phys. Plasmas 19
/// (2012) 083104, sum them up, after Nanbu, Phys. Rev. E 55 (1997) 4642: momenta after it, by two of the words.
/// `dense` is n_1 n_2 dt / n_12, `limit` what makes the relative velocity the most that s can be: where particles
/// are closer than a deflection by 90 degrees.
std::array<std::array<double, 3>, 2> deflected(const plan& p, double logarithm, const meeting_of_two& who, double dense,
                                               double limit, const std::array<std::uint64_t, 4>& words);
/// The cosine of the angle that s collisions' sum has, with a number of [0, 1): Nanbu's fit.
double deflection(double s, double u);

/// All pairs of species that the plan says, in every cell, every so many steps. Of particles of different
/// weights the heavier one is deflected as often as the weights' ratio says: momentum and energy are kept in the
/// mean, and always where weights are the same.
template <class T>
void collide(const plan& p, patch<T>& me);

}  // namespace plaq::pic

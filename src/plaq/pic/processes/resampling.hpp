// Merging and splitting: fewer or more macro-particles for the same plasma.
//
// In a cell with too many particles packets of three or four with close momenta become two particles each, in one with
// too few heavy particles become two. Weight, momentum and kinetic energy do not change. With Maxwell's equations the
// particles move to their new places by a current, so that Gauss's law holds.
#pragma once
#include <array>
#include <span>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Returns the momenta per mass of two particles of equal weights with the momentum and energy of a packet, mean + d e
/// and mean - d e: d^2 = (g^2 - 1 - |mean|^2) / (1 - (mean e)^2/g^2), g being the mean gamma. e is the direction of one
/// particle from the mean, chosen by `chance` in [0, 1) with the probability w |u - mean|^2: at low velocities the mean
/// of many packets has their tensor of temperature. With e across the mean they are those of Vranic et al., Comput.
/// Phys. Commun. 191 (2015) 65. The first particle is the one at mean + d e.
struct merged_momenta {
  std::array<std::array<double, 3>, 2> u;
  std::array<double, 3> direction;  ///< e, or 0 where all momenta are equal
};
merged_momenta merge_momenta(std::span<const double> w, std::span<const std::array<double, 3>> u, double chance);

/// Merges and splits the particles of a patch, sorted by cell, where the plan says so in this step, and adds the
/// current of their displacement to J. Returns whether any did.
template <class T>
bool resample(const plan& p, patch<T>& self);

}  // namespace plaq::pic

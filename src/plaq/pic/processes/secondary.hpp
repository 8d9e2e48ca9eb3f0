// Emission of particles by impacts on sides of the box.
#pragma once
#include <array>
#include <cstdint>

#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Returns the mean number of particles that an impact of this energy and cosine emits: linear in both between the
/// entries of the table, outside as at its ends.
double mean_number(const secondary_emission& by, double energy, double cosine);

/// Impact of a particle of species s on a side: its place, momentum and weight, and its number among those that were
/// followed in this step.
struct impact {
  std::size_t s;
  int d, side;
  point cell;
  std::array<double, 3> x, u;
  double weight;
  std::uint64_t number;
};
/// Emits particles with the weight of the one that arrived, in whole numbers of the mean that is asked for, from the
/// place of the impact with momenta of a flux.
template <class T>
void emit_secondaries(const plan& p, patch<T>& self, const impact& of);

/// Returns a momentum of the flux that a wall of temperature sqrt(spread) emits into the box: along the normal with
/// density ~ u exp(-u^2 / 2 spread^2), normal along the wall. (Not relativistic.)
std::array<double, 3> wall_momentum(double spread, const std::array<std::uint64_t, 4>& word, int d, int side);

}  // namespace plaq::pic

// Record of every step: the columns of a row.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "plaq/pic/mesh/plan.hpp"

namespace plaq::pic {

/// Columns of a row: time, energies of E and B, then those of each species, then "gauss", then three for each process
/// in a gas: the number of particles that had it, their weight, and the kinetic energy that they and new particles have
/// less; then two for each field ionisation: number and weight; then four for each reaction, three for each circuit and
/// two for each merging or splitting.
struct record {
  static constexpr std::size_t time = 0, energies = 1, first_species = 7;
  /// Columns within a species: number and weight after the step; kinetic energy and momentum at time - dt/2, of those
  /// that began the step; particles that left at the sides x low, x high, y low, ...; particles that came from plates,
  /// from sides, from a gas or with a window; particles absorbed by conductors in the box; kinetic energy
  /// that sides took (thermal ones less what they gave back), that conductors took, and of particles from plates and
  /// sides.
  enum of_species : std::size_t {
    number,
    weight,
    kinetic,
    momentum,
    left = momentum + 3,
    left_weight = left + 6,
    emitted = left_weight + 6,
    emitted_weight,
    absorbed,
    absorbed_weight,
    left_energy,
    absorbed_energy,
    emitted_energy,
    per_species
  };

  /// Column of a quantity of a species.
  static std::size_t at(std::size_t species, std::size_t quantity) {
    return first_species + species * per_species + quantity;
  }
  /// Column of the largest residual of Gauss's law.
  static std::size_t gauss(const plan& p) { return at(p.species_list.size(), 0); }
  /// First column of process k of a scattering in a gas.
  static std::size_t process(const plan& p, std::size_t scattering, std::size_t k) {
    for (std::size_t n = 0; n < scattering; ++n) k += p.scatterings[n].processes.size();
    return gauss(p) + 1 + 3 * k;
  }
  /// First column of a field ionisation.
  static std::size_t ionised(const plan& p, std::size_t n) { return process(p, p.scatterings.size(), 0) + 2 * n; }
  /// First column of a reaction: the number of reactions and their weight, and the particles of both species that
  /// vanished in them.
  static std::size_t reaction(const plan& p, std::size_t number) {
    return ionised(p, p.field_ionisations.size()) + 4 * number;
  }
  /// First column of a circuit: the potential and the charge of its electrode, and its current.
  static std::size_t circuit(const plan& p, std::size_t number) { return reaction(p, p.reactions.size()) + 3 * number; }
  /// First column of a merging or splitting: the particles that it removed or added, and the weight that rounding lost.
  static std::size_t resampled(const plan& p, std::size_t number) { return circuit(p, p.circuits.size()) + 2 * number; }
  /// Number of columns.
  static std::size_t length(const plan& p) { return resampled(p, p.resamplings.size()); }
  /// Names of the columns.
  static std::vector<std::string> names(const plan& p);
  /// Merges the rows of two patches: sums, but for time and the residual of Gauss's law, where the larger counts.
  static std::vector<double> merge(const plan& p, std::vector<double> a, const std::vector<double>& b);
};

}  // namespace plaq::pic

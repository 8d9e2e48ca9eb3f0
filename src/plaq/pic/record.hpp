// What is recorded of every step: where which number stands in a row.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "plaq/pic/plan.hpp"

namespace plaq::pic {

/// Columns: time, energies of E and B, then those of each species, then "gauss".
struct record {
  static constexpr std::size_t time = 0, energies = 1, first_species = 7;
  /// Within a species: number and weight after the step; kinetic energy and momentum at time - dt/2, of those that
  /// began the step; what left at the sides x low, x high, y low, ...; what came in, from plates, by ionisation or
  /// with a window; what conductors in the box took.
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
    per_species
  };

  static std::size_t at(std::size_t species, std::size_t what) { return first_species + species * per_species + what; }
  static std::size_t gauss(const plan& p) { return at(p.kinds.size(), 0); }
  static std::size_t length(const plan& p) { return gauss(p) + 1; }
  static std::vector<std::string> names(const plan& p);
  /// Rows of one patch and another: sums, but for time and the Gauss residual, where the larger counts.
  static std::vector<double> together(const plan& p, std::vector<double> a, const std::vector<double>& b);
};

}  // namespace plaq::pic

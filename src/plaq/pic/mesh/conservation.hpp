// Conservation of particles: their numbers change only by those that the record of a step names.
#pragma once
#include <cstdint>
#include <vector>

#include "plaq/pic/mesh/plan.hpp"

namespace plaq::pic {

/// Numbers and weights of the particles of each species in the box.
class particle_counts {
 public:
  /// Takes the counts at some step: the numbers of all species, then their weights.
  void assign(const std::vector<double>& counts);

  /// Follows rows of the record that begin with the step after `step`.
  /// @pre each row has the particles that its predecessor leaves: those that left, were emitted or absorbed are
  ///      recorded, else runtime_failure. Weights agree to 1e-9 of the weight in the box.
  void follow(const plan& p, std::int64_t step, const std::vector<double>& rows);

 private:
  std::vector<double> numbers_, weights_;  ///< [species]
};

}  // namespace plaq::pic

// Poisson's equation on all ranks: -div(epsilon grad phi) = rho, with the second differences of Yee's mesh.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "plaq/comm/wire/communicator.hpp"
#include "plaq/pic/mesh/patch_grid.hpp"
#include "plaq/task/pool.hpp"

namespace plaq::pic {

/// Values of a field in a patch.
struct patch_values {
  int patch = 0;
  std::vector<double> values;
};

/// Solver of Poisson's equation. The order of operations does not depend on the ranks.
class poisson {
 public:
  virtual ~poisson() = default;

  /// Returns phi of each patch in all cells of its grid within the box, but at nodes of conductors, from rho in the own
  /// cells of the patches of this rank. Collective. `potentials`: of the sides x low, x high, y low, ... and the
  /// conductors. In a box without conductors the mean of rho is ignored, and that of phi is 0.
  virtual std::vector<patch_values> solve(const std::vector<patch_values>& rho,
                                          const std::vector<double>& potentials) = 0;
};

/// Makes the solver of -sum scale_d d^2 phi / dx_d^2 = rho: by elimination in one dimension, else by transforms; in
/// a cylinder that of make_cylinder_solver.
/// Collective; plan, ranks and pool outlive the solver. Throws input_error as make_fourier_solver does.
std::unique_ptr<poisson> make_poisson(const plan& p, const comm::communicator& over, task::detail::pool_base& pool,
                                      const std::array<double, 3>& scale = {1, 1, 1});

}  // namespace plaq::pic

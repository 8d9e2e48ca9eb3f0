// Poisson's equation on all ranks: -laplace phi = rho, with the second differences of Yee's mesh.
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

/// Solver of Poisson's equation by Fourier transforms of a distributed mesh. Between conducting sides phi is that of
/// the charges and their images in a periodic box of twice the length, where both are odd; the potential of a side is
/// replaced by charges beside it. Conductors in the box get the surface charge that brings them to their potential, by
/// the inverse of the matrix of potentials of unit charges, computed once (the capacity matrix of Hockney, J. Appl.
/// Phys. 39 (1968) 4166; Buzbee, Dorr, George, Golub, SIAM J. Numer. Anal. 8 (1971) 722). The order of operations does
/// not depend on the ranks.
class poisson {
 public:
  static constexpr std::size_t max_surface_nodes = 4096;

  /// Prepares the transforms, of -sum scale_d d^2 phi / dx_d^2 = rho. Collective; plan, ranks and pool outlive the
  /// solver. Throws input_error where this build has no transforms, or conductors have more nodes on their surface than
  /// max_surface_nodes.
  poisson(const plan& p, const comm::communicator& over, task::detail::pool_base& pool,
          const std::array<double, 3>& scale = {1, 1, 1});
  ~poisson();

  /// Returns phi of each patch in all cells of its grid within the box, from rho in the own cells of the patches of
  /// this rank. Collective. `potentials`: of the sides x low, x high, y low, ... and the conductors. In a box without
  /// conductors the mean of rho is ignored, and that of phi is 0.
  std::vector<patch_values> solve(const std::vector<patch_values>& rho, const std::vector<double>& potentials);

 private:
  class implementation;
  std::unique_ptr<implementation> work_;
};

}  // namespace plaq::pic

// Poisson's equation on all ranks: -laplace phi = rho, with the second differences of Yee's mesh.
#pragma once
#include <memory>
#include <vector>

#include "plaq/comm/wire/communicator.hpp"
#include "plaq/pic/block.hpp"
#include "plaq/task/pool.hpp"

namespace plaq::pic {

/// Values of a patch.
struct piece {
  int patch = 0;
  std::vector<double> values;
};

/// By Fourier transforms of a mesh that is spread over the ranks. Between conducting sides phi is what the charges
/// and their images have in a periodic box of twice the length, where both are odd; charges beside a side at a
/// potential stand for that. Conductors in the box get the charge on their surface that brings them to their
/// potential: by the inverse of the matrix of potentials of unit charges, once computed (the capacity matrix of
/// Hockney, J. Appl. Phys. 39 (1968) 4166; Buzbee, Dorr, George, Golub, SIAM J. Numer. Anal. 8 (1971) 722). All of
/// it has one order of operations on any ranks.
class poisson {
 public:
  static constexpr std::size_t most_on_surface = 4096;

  /// Collective; plan, ranks and pool outlive this. Throws input_error where this build has no transforms, or
  /// conductors have more nodes on their surface than most_on_surface.
  poisson(const plan& p, const comm::communicator& over, task::detail::pool_base& pool);
  ~poisson();

  /// Collective. From rho in the own cells of the patches of this rank, phi of each in the whole of its block, as
  /// far as the box goes; a further plane beyond the guards is not there. In a box without conductors the mean of
  /// rho does not count, and that of phi is 0.
  std::vector<piece> solve(const std::vector<piece>& rho);

 private:
  class implementation;
  std::unique_ptr<implementation> work_;
};

}  // namespace plaq::pic

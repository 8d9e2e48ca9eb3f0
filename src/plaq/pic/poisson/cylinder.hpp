// Poisson's equation in a cylinder, by transforms along z and elimination in r.
#pragma once
#include "plaq/pic/poisson/poisson.hpp"

namespace plaq::pic {

/// Makes a solver of -div grad phi = rho in z and r: the flux of E out of the ring around each node is its charge. The
/// second difference along z has the factor `scale`.
/// Every rank gathers all charges and solves for itself: Fourier transforms along z, of the odd continuation between
/// conducting sides, and Thomas's algorithm in r for each wave. Conductors in the box are as in make_fourier_solver.
/// Throws input_error where more nodes than max_surface_nodes are beside them.
std::unique_ptr<poisson> make_cylinder_solver(const plan& p, const comm::communicator& over, double scale = 1);

}  // namespace plaq::pic

// Poisson's equation in one dimension, by elimination.
#pragma once
#include "plaq/pic/poisson/poisson.hpp"

namespace plaq::pic {

/// Makes a solver of -scale d(epsilon dphi/dx)/dx = rho in one dimension. Every rank gathers all charges and eliminates
/// for itself (Thomas's algorithm between conducting sides, two sums in a periodic box).
std::unique_ptr<poisson> make_line_solver(const plan& p, const comm::communicator& over, double scale);

}  // namespace plaq::pic

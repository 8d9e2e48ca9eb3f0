// Field of charges that move together.
#pragma once
#include <vector>

#include "plaq/pic/mesh/fields.hpp"

namespace plaq::pic {

/// Motion along a dimension with the velocity beta.
struct drift_along {
  int dimension = 0;
  double beta = 0;
};

/// Adds E and B in the patch's own cells of charges that move together, from phi in all cells that solves -(1 - beta^2)
/// d^2 phi / dx^2 - (other second differences) = rho, x along the motion: E = -grad phi + beta (beta . grad phi), B =
/// curl A with A = beta phi. On the mesh div E = rho and div B = 0 to rounding.
template <class T>
void add_moving_field(const patch_grid& m, const std::vector<double>& phi, const drift_along& motion, fields<T>& f);

}  // namespace plaq::pic

// Coefficients of the differences that curl E is made of.
#pragma once
#include <array>

#include "plaq/pic/mesh/plan.hpp"

namespace plaq::pic {

/// Coefficients of the difference along a dimension d of a field, over dx: alpha of the one in its line, beta[t] of
/// those in the lines before and behind in a dimension t across, gamma of those at the four corners, delta of the one
/// over three cells in its line (see plan.hpp).
struct stencil_weights {
  double alpha = 0, gamma = 0, delta = 0;
  std::array<double, 3> beta{};
};
/// Returns the coefficients in each dimension. Cowan et al. (2013), with r = (dx_min / dx)^2 in each dimension; in two
/// dimensions with the factor 1/8 that remains of the third. Lehe et al. (2013), eqs. (8) and (12), for motion along x.
std::array<stencil_weights, 3> difference_weights(const plan& p);

}  // namespace plaq::pic

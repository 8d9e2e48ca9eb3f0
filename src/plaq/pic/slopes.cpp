#include "plaq/pic/slopes.hpp"

#include <algorithm>

namespace plaq::pic {

// Cowan et al. (2013), with r = (dx_min / dx)^2 in each dimension; for two dimensions the 1/8 that the third
// leaves behind.
std::array<slope, 3> slopes_of(const plan& p) {
  std::array<slope, 3> out;
  std::array<double, 3> r{};
  double finest = p.spacing(0);
  for (int d = 1; d < p.dimensions; ++d) finest = std::min(finest, p.spacing(d));
  for (int d = 0; d < p.dimensions; ++d) r[d] = finest * finest / (p.spacing(d) * p.spacing(d));
  const double all = r[0] * r[1] * r[2], pairs = r[0] * r[1] + r[1] * r[2] + r[2] * r[0];
  const bool smooth = p.curl == stencil::cowan && p.dimensions > 1;
  const double beta = smooth ? 0.125 * (1 - all / pairs) : 0;
  for (int d = 0; d < p.dimensions; ++d) {
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    slope& one = out[std::size_t(d)];
    const double over = 1 / p.spacing(d), corners = smooth ? r[a] * r[b] * (1.0 / 16 - 0.125 * r[a] * r[b] / pairs) : 0;
    one.beta[std::size_t(a)] = r[a] * beta * over, one.beta[std::size_t(b)] = r[b] * beta * over;
    one.gamma = corners * over;
    one.alpha = over - 2 * one.beta[std::size_t(a)] - 2 * one.beta[std::size_t(b)] - 4 * one.gamma;
  }
  return out;
}

}  // namespace plaq::pic

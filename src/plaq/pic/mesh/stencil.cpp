#include "plaq/pic/mesh/stencil.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace plaq::pic {

namespace {

std::array<stencil_weights, 3> lehe_weights(const plan& p) {
  std::array<stencil_weights, 3> out;
  for (int d = 0; d < p.dimensions; ++d) {
    stencil_weights& w = out[std::size_t(d)];
    const double over = 1 / p.spacing(d);
    if (d == 0) {
      const double r = p.spacing(0) / p.dt, sine = std::sin(std::numbers::pi / (2 * r));
      w.delta = 0.25 * (1 - r * r * sine * sine) * over;
      for (int t = 1; t < p.dimensions; ++t)
        w.beta[std::size_t(t)] = 0.125 * std::pow(p.spacing(0) / p.spacing(t), 2) * over;
    } else {
      w.beta[0] = 0.125 * over;
    }
    w.alpha = over - 2 * (w.beta[0] + w.beta[1] + w.beta[2]) - 3 * w.delta;
  }
  return out;
}

}  // namespace

std::array<stencil_weights, 3> difference_weights(const plan& p) {
  if (p.curl == stencil::lehe) return lehe_weights(p);
  std::array<stencil_weights, 3> out;
  std::array<double, 3> r{};
  double finest = p.spacing(0);
  for (int d = 1; d < p.dimensions; ++d) finest = std::min(finest, p.spacing(d));
  for (int d = 0; d < p.dimensions; ++d) r[d] = finest * finest / (p.spacing(d) * p.spacing(d));
  const double all = r[0] * r[1] * r[2], pairs = r[0] * r[1] + r[1] * r[2] + r[2] * r[0];
  const bool smooth = p.curl == stencil::cowan && p.dimensions > 1;
  const double beta = smooth ? 0.125 * (1 - all / pairs) : 0;
  for (int d = 0; d < p.dimensions; ++d) {
    const int a = (d + 1) % 3, b = (d + 2) % 3;
    stencil_weights& w = out[std::size_t(d)];
    const double over = 1 / p.spacing(d), corners = smooth ? r[a] * r[b] * (1.0 / 16 - 0.125 * r[a] * r[b] / pairs) : 0;
    w.beta[std::size_t(a)] = r[a] * beta * over, w.beta[std::size_t(b)] = r[b] * beta * over;
    w.gamma = corners * over;
    w.alpha = over - 2 * w.beta[std::size_t(a)] - 2 * w.beta[std::size_t(b)] - 4 * w.gamma;
  }
  return out;
}

}  // namespace plaq::pic

#include "plaq/dca/walk/neighbours.hpp"

#include <cmath>

#include "plaq/dca/walk/spin_flip.hpp"
#include "plaq/linalg/sum.hpp"

namespace plaq::dca {

namespace {
double flip_ratio(const sample& s, int side, int p) {
  return dca::flip_ratio(s.strength[side][p], s.n_diagonal[side][p]);
}
}  // namespace

double mis_weight(const sample& s) {
  const int k = s.order();
  const double sum =
      linalg::sum_in_lanes<8>(k, [&](int p) { return std::abs(flip_ratio(s, 0, p) * flip_ratio(s, 1, p)); });
  return k > 0 ? 1 / (1 + sum / k) : 1;
}

void flip(const sample& s, int p, sample& out) {
  out = s;
  const int k = s.order();
  for (int side = 0; side < 2; ++side) {
    const double x = s.strength[side][p], y = flip_factor(x), r = flip_ratio(s, side, p);
    if (x == 0) continue;  // without interaction nothing depends on the spins
    if (r < 0) out.sign = -out.sign;
    const auto& m = s.m[side];
    auto& changed = out.m[side];
    const double factor = (y - 1) / (r * x);
    for (int j = 0; j < k; ++j) {
      const float row = float(factor * m(p, j));
      const float* from = m.column(p);
      float* to = changed.column(j);
      for (int i = 0; i < k; ++i) to[i] += from[i] * row;
      to[p] = float(y / r * m(p, j));
    }
    for (int i = 0; i < k; ++i) out.n_diagonal[side][i] += m(i, p) * factor * m(p, i) / s.strength[side][i];
    out.n_diagonal[side][p] = s.n_diagonal[side][p] / r;
    out.strength[side][p] = y * x;
  }
}

}  // namespace plaq::dca

// Generalised conjugate residuals: in each step the residual becomes as small as it can in the space of all
// directions so far (Eisenstat, Elman and Schultz, 1983). Directions may come from anywhere, so that a
// preconditioner may be a solver itself.
#pragma once
#include <cmath>
#include <complex>
#include <vector>

#include "plaq/lqcd/linear.hpp"

namespace plaq::lqcd {

/// y += a x
inline void add(engine& by, spinors<float>& y, std::complex<double> a, const spinors<float>& x) {
  combine<float>(by, y, {{1, y}, {std::complex<float>(a), x}});
}

/// Directions z and their images w = M z.
template <class Vector>
struct directions {
  std::vector<Vector> z, w;
};

/// Moves x and r = b - M x along directions that `next(z, w, r)` finds, which sets z and w = M z, until |r| has
/// fallen by `fraction`, or so many steps were done, or a direction brings nothing; returns how many. `fraction` 0: |r|
/// is not looked at.
template <class Vector, class Next>
int gcr(engine& by, Vector& x, Vector& r, directions<Vector>& space, int most_steps, double fraction, Next&& next) {
  const double enough = fraction > 0 ? fraction * fraction * norm2(by, r) : 0;
  std::vector<double> squares;
  std::vector<std::complex<double>> alpha, along;  // along[k (k - 1) / 2 + i]: what w_k had of w_i
  for (bool goes_on = true; goes_on && int(alpha.size()) < most_steps;) {
    const std::size_t k = alpha.size();
    if (k == space.z.size()) space.z.push_back(r), space.w.push_back(r);
    auto& w = space.w[k];
    next(space.z[k], w, r);
    for (std::size_t i = 0; i < k; ++i) {
      along.push_back(dot(by, space.w[i], w) / squares[i]);
      add(by, w, -along.back(), space.w[i]);
    }
    squares.push_back(norm2(by, w));
    if (!(squares[k] > 0) || !std::isfinite(squares[k])) break;
    alpha.push_back(dot(by, w, r) / squares[k]);
    add(by, r, -alpha[k], w);
    goes_on = fraction == 0 || norm2(by, r) > enough;
  }
  // w_k is the image of z_k without what it had of those before.
  for (std::size_t k = alpha.size(); k-- > 0;) {
    for (std::size_t i = 0; i < k; ++i) alpha[i] -= along[k * (k - 1) / 2 + i] * alpha[k];
    add(by, x, alpha[k], space.z[k]);
  }
  return int(alpha.size());
}

}  // namespace plaq::lqcd

// Generalised conjugate residuals: each step minimises the residual in the space of all directions so far (Eisenstat,
// Elman and Schultz, 1983). Directions are arbitrary, so that a preconditioner may be a solver itself.
#pragma once
#include <cmath>
#include <complex>
#include <vector>

#include "plaq/lqcd/lattice/linear.hpp"

namespace plaq::lqcd {

/// Adds a x to y.
template <class T>
void add(context& ctx, spinors<T>& y, std::complex<double> a, const spinors<T>& x) {
  combine<T>(ctx, y, {{1, y}, {std::complex<T>(a), x}});
}

/// Workspace of directions z and their images w = M z.
template <class Vector>
struct krylov_space {
  std::vector<Vector> z, w;
};

/// Moves x and r = b - M x along directions until |r| has fallen by `fraction`, or max_steps are done, or a direction
/// has no effect. Returns the number of steps. `next(z, w, r)` sets a direction z and w = M z. With `fraction` 0, |r|
/// is not computed.
template <class Vector, class Next>
int gcr(context& ctx, Vector& x, Vector& r, krylov_space<Vector>& space, int max_steps, double fraction, Next&& next) {
  const double target = fraction > 0 ? fraction * fraction * norm2(ctx, r) : 0;
  std::vector<double> squares;
  std::vector<std::complex<double>> alpha, overlaps;  // overlaps[k (k - 1) / 2 + i] of w_i and w_k
  for (bool unfinished = true; unfinished && int(alpha.size()) < max_steps;) {
    const std::size_t k = alpha.size();
    if (k == space.z.size()) space.z.push_back(r), space.w.push_back(r);
    auto& w = space.w[k];
    next(space.z[k], w, r);
    for (std::size_t i = 0; i < k; ++i) {
      overlaps.push_back(dot(ctx, space.w[i], w) / squares[i]);
      add(ctx, w, -overlaps.back(), space.w[i]);
    }
    squares.push_back(norm2(ctx, w));
    if (!(squares[k] > 0) || !std::isfinite(squares[k])) break;
    alpha.push_back(dot(ctx, w, r) / squares[k]);
    add(ctx, r, -alpha[k], w);
    unfinished = fraction == 0 || norm2(ctx, r) > target;
  }
  // w_k is the image of z_k minus its components along the previous w.
  for (std::size_t k = alpha.size(); k-- > 0;) {
    for (std::size_t i = 0; i < k; ++i) alpha[i] -= overlaps[k * (k - 1) / 2 + i] * alpha[k];
    add(ctx, x, alpha[k], space.z[k]);
  }
  return int(alpha.size());
}

}  // namespace plaq::lqcd

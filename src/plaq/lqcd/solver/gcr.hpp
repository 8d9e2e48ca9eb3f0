// Generalised conjugate residuals: each step minimises the residual in the space of all directions so far (Eisenstat,
// Elman and Schultz, 1983). Directions are arbitrary, so that a preconditioner may be a solver itself.
#pragma once
#include <cmath>
#include <complex>
#include <vector>

#include "plaq/lqcd/lattice/linear.hpp"

namespace plaq::lqcd {

/// Workspace of directions z and their images w = M z.
template <class Vector>
struct krylov_space {
  std::vector<Vector> z, w;
};

/// Moves x and r = b - M x along directions until |r| has fallen by `fraction`, or max_steps are done, or a direction
/// has no effect. Returns the number of steps. `next(z, w, r)` sets a direction z and w = M z. With
/// `fraction` 0, |r| is not computed.
///
/// All projections of a step are one sum over ranks (classical Gram and Schmidt), its norm and step are another, |r| is
/// a third. If rounding leaves images not orthogonal, r = b - M x still holds.
template <class Vector, class Next>
int gcr(context& ctx, Vector& x, Vector& r, krylov_space<Vector>& space, int max_steps, double fraction, Next&& next) {
  const double target = fraction > 0 ? fraction * fraction * norm2(ctx, r) : 0;
  std::vector<double> squares;
  std::vector<const Vector*> images;
  std::vector<std::complex<double>> alpha;
  std::vector<std::vector<std::complex<double>>> overlaps;  // [k][i] of w_i and w_k, negative
  space.z.reserve(max_steps), space.w.reserve(max_steps);
  for (bool unfinished = true; unfinished && int(alpha.size()) < max_steps;) {
    const std::size_t k = alpha.size();
    if (k == space.z.size()) space.z.push_back(r), space.w.push_back(r);
    auto& w = space.w[k];
    next(space.z[k], w, r);
    overlaps.emplace_back();
    if (k > 0) {
      overlaps[k] = dots(ctx, images, w);
      for (std::size_t i = 0; i < k; ++i) overlaps[k][i] /= -squares[i];
      add(ctx, w, overlaps[k], {space.w.data(), k});
    }
    const auto products = dots(ctx, {&w, &r}, w);
    const double square = products[0].real();
    if (!(square > 0) || !std::isfinite(square)) break;
    squares.push_back(square), images.push_back(&w);
    alpha.push_back(std::conj(products[1]) / square);
    const auto back = -alpha[k];
    add(ctx, r, {&back, 1}, {&w, 1});
    unfinished = fraction == 0 || norm2(ctx, r) > target;
  }
  // w_k is the image of z_k minus its components along the previous w.
  for (std::size_t k = alpha.size(); k-- > 0;)
    for (std::size_t i = 0; i < k; ++i) alpha[i] += overlaps[k][i] * alpha[k];
  add(ctx, x, alpha, {space.z.data(), alpha.size()});
  return int(alpha.size());
}

}  // namespace plaq::lqcd

// Conjugate gradient for M^+ M, with steps in any precision and residuals computed anew in double.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "plaq/lqcd/flavours.hpp"
#include "plaq/lqcd/solver.hpp"

namespace plaq::lqcd {

/// The share of its target that steps aim at: what they lose by rounding then does not miss it by a hair.
inline constexpr double aimed_share = 0.8;

/// Whether residuals that should fall at every update still do.
class progress {
 public:
  /// False when in three updates in a row neither has come down by a tenth. `other`: a second one, which may fall
  /// while the first one waits.
  bool falls(double residual, double other = 0) {
    if (!std::isfinite(residual) || !std::isfinite(other)) return false;
    held_ = residual < 0.9 * best_ || other < 0.9 * other_ ? 0 : held_ + 1;
    best_ = std::min(best_, residual), other_ = std::min(other_, other);
    return held_ < 3;
  }

 private:
  double best_ = std::numeric_limits<double>::infinity(), other_ = best_;
  int held_ = 0;
};

/// A power of two near the size of the numbers of a field with this norm, so that single precision never runs out
/// of exponents.
inline double scale_of(double norm, double numbers) {
  return norm > 0 ? std::exp2(std::round(std::log2(norm / std::sqrt(numbers)))) : 1;
}

/// Residual that is to fall to a target: b - M x, or the residual of the normal equation.
enum class falling { residual, normal_residual };

/// Moves x, on odd sites, towards the solution of M^+ M x = M^+ b, or of (M^+ M + shift) x = phi, until what is to
/// fall is not above `target`; counts steps and updates in `done`. residual(r) sets r = M^+ (b - M x), or phi -
/// (M^+ M + shift) x, in double precision and returns the size of what is to fall. apply(Ap, Mp, p) sets Mp = M p, Ap =
/// (M^+ M + shift) p and returns (p, Ap), on fields like `low`.
///
/// Between two updates |b - M x|^2 falls by alpha |r|^2 in a step; that is how steps that aim at it know where they
/// are.
template <class High, class Low, class Residual, class Apply>
solver_result::ending conjugate_gradient(engine& by, High& x, Low low, falling what, double target,
                                         const solver_options& how, solver_result& done, Residual&& residual,
                                         Apply&& apply) {
  using T = typename Low::number;
  using ending = solver_result::ending;
  High r(x);
  double size = residual(r);
  if (size <= target) return ending::converged;
  High y(x);
  Low sum(low), p(low), Mp(low), Ap(low);
  double numbers = 0;
  each_flavour([&](const auto& part) { numbers += 24 * double(part.where().on().volume()) / 2; }, x);
  progress so_far;
  double before = 0, thought = 0, scale = 1;  // |r|^2 before and after the last step, in units of scale^2
  for (bool first = true;; first = false) {
    const double norm = std::sqrt(norm2(by, r));
    if (!so_far.falls(size, norm)) return ending::stalled;
    if (done.steps >= how.most_steps) return ending::out_of_steps;
    const double unit = scale_of(norm, numbers), old = scale;
    scale = unit;
    each_flavour(
        [&](auto& to, auto& from, auto& to_low) {
          combine<double>(by, to, {{1 / scale, from}});
          copy(to, to_low);
        },
        y, r, low);
    double rr = norm / scale * (norm / scale);
    const double turn = (old / scale) * (old / scale);
    if (first || !(rr <= 2 * thought * turn)) {
      p = low;
    } else {
      // The direction goes on, without what it has of the new residual, unless the steps had lost the true one.
      const auto along = std::complex<T>(dot(by, low, p) / rr);
      const T beta = T(rr / (before * turn) * (old / scale));
      each_flavour([&](auto& d, auto& from) { combine<T>(by, d, {{T(1) - beta * along, from}, {beta, d}}); }, p, low);
    }
    each_flavour([&](auto& part) { combine<T>(by, part, {{0, part}}); }, sum);
    const double square = scale / target * (scale / target);  // of r's unit, where that of what falls is the target
    const double fall = how.update * how.update, largest = rr;
    double left = size / target * (size / target);
    const double enough = std::max(aimed_share * aimed_share, fall * left);
    do {
      const double alpha = rr / apply(Ap, Mp, p);
      before = rr, rr = 0;
      each_flavour(
          [&](auto& s, auto& d, auto& l, auto& A) {
            combine<T>(by, s, {{1, s}, {T(alpha), d}});
            rr += combine_norm2<T>(by, l, {{1, l}, {T(-alpha), A}});
          },
          sum, p, low, Ap);
      ++done.steps;
      thought = rr;
      left = what == falling::residual ? left - alpha * before * square : rr * square;
      if (!std::isfinite(rr)) return ending::stalled;
      if (rr <= fall * largest || left <= enough) break;
      each_flavour([&](auto& d, auto& l) { combine<T>(by, d, {{1, l}, {T(rr / before), d}}); }, p, low);
    } while (done.steps < how.most_steps);
    each_flavour(
        [&](auto& to, auto& from, auto& all) {
          copy(from, to);
          combine<double>(by, all, {{1, all}, {scale, to}});
        },
        y, sum, x);
    ++done.updates;
    size = residual(r);
    if (size <= target) return ending::converged;
  }
}

}  // namespace plaq::lqcd

// Conjugate gradient for M^+ M, with steps in any precision and residuals recomputed in double.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "plaq/lqcd/lattice/copy.hpp"
#include "plaq/lqcd/lattice/flavours.hpp"
#include "plaq/lqcd/solver/options.hpp"

namespace plaq::lqcd {

/// Share of the target residual that steps aim at: rounding errors of the steps then do not miss the target.
inline constexpr double target_share = 0.8;

/// Detection of residuals that stagnate.
class progress {
 public:
  /// Whether the residual, or a second one, `other`, has fallen by a tenth in one of the last three updates.
  bool falls(double residual, double other = 0) {
    if (!std::isfinite(residual) || !std::isfinite(other)) return false;
    stagnant_ = residual < 0.9 * best_ || other < 0.9 * other_ ? 0 : stagnant_ + 1;
    best_ = std::min(best_, residual), other_ = std::min(other_, other);
    return stagnant_ < 3;
  }

 private:
  double best_ = std::numeric_limits<double>::infinity(), other_ = best_;
  int stagnant_ = 0;
};

/// Power of two near the size of the numbers of a field with this norm: scaled by it, they stay in the range of single
/// precision.
inline double scale_of(double norm, double numbers) {
  return norm > 0 ? std::exp2(std::round(std::log2(norm / std::sqrt(numbers)))) : 1;
}

/// Residual to compare with the target: b - M x (direct), or that of the normal equation.
enum class target_residual { direct, normal };

/// Moves x, on odd sites, towards the solution of M^+ M x = M^+ b, or of (M^+ M + shift) x = phi, until the target
/// residual is at most `target`. Counts steps and updates in `result`. residual(r) sets r = M^+ (b - M x), or phi -
/// (M^+ M + shift) x, in double precision and returns the size of the target residual. apply(Ap, Mp, p) sets Mp = M p,
/// Ap = (M^+ M + shift) p and returns (p, Ap), on fields like `low`, whose numbers are overwritten. The residual is
/// recomputed when it has fallen by `update`.
///
/// A step reduces |b - M x|^2 by alpha |r|^2: so the direct residual is known between two updates.
template <class High, class Low, class Residual, class Apply>
solver_result::stop_reason conjugate_gradient(context& ctx, High& x, Low low, target_residual criterion, double target,
                                              double update, const solver_options& options, solver_result& result,
                                              Residual&& residual, Apply&& apply) {
  using T = typename Low::number;
  using stop_reason = solver_result::stop_reason;
  High r(x);
  double size = residual(r);
  if (size <= target) return stop_reason::converged;
  High y(x);
  Low sum(low), p(low), Mp(low), Ap(low);
  double numbers = 0;
  for_each_flavour([&](const auto& part) { numbers += 24 * double(part.layout().lattice().volume()) / 2; }, x);
  progress history;
  double previous_rr = 0, predicted_rr = 0, scale = 1;  // |r|^2 before and after the last step, in units of scale^2
  for (bool first = true;; first = false) {
    const double norm = std::sqrt(norm2(ctx, r));
    if (!history.falls(size, norm)) return stop_reason::stalled;
    if (result.steps >= options.max_steps) return stop_reason::out_of_steps;
    const double unit = scale_of(norm, numbers), old = scale;
    scale = unit;
    for_each_flavour(
        [&](auto& to, auto& from, auto& to_low) {
          combine<double>(ctx, to, {{1 / scale, from}});
          copy(ctx, to, to_low);
        },
        y, r, low);
    double rr = norm / scale * (norm / scale);
    const double rescale = (old / scale) * (old / scale);
    if (first || !(rr <= 2 * predicted_rr * rescale)) {
      p = low;
    } else {
      // The direction is kept, orthogonal to the new residual, unless the steps had lost the true residual.
      const auto overlap = std::complex<T>(dot(ctx, low, p) / rr);
      const T beta = T(rr / (previous_rr * rescale) * (old / scale));
      for_each_flavour([&](auto& d, auto& from) { combine<T>(ctx, d, {{T(1) - beta * overlap, from}, {beta, d}}); }, p,
                       low);
    }
    for_each_flavour([&](auto& part) { combine<T>(ctx, part, {{0, part}}); }, sum);
    const double square = scale / target * (scale / target);  // from units of r to units of the target
    const double update_share = update * update, first_rr = rr;
    double distance = size / target * (size / target);
    const double stop_at = std::max(target_share * target_share, update_share * distance);
    bool last = false;
    do {
      const double alpha = rr / apply(Ap, Mp, p);
      previous_rr = rr, rr = 0;
      for_each_flavour([&](auto& l, auto& A) { rr += combine_norm2<T>(ctx, l, {{1, l}, {T(-alpha), A}}); }, low, Ap);
      ++result.steps;
      predicted_rr = rr;
      distance = criterion == target_residual::direct ? distance - alpha * previous_rr * square : rr * square;
      if (!std::isfinite(rr)) return stop_reason::stalled;
      last = rr <= update_share * first_rr || distance <= stop_at || result.steps >= options.max_steps;
      for_each_flavour(
          [&](auto& s, auto& d, auto& l) {
            last ? combine<T>(ctx, s, {{1, s}, {T(alpha), d}}) : advance(ctx, s, d, l, T(alpha), T(rr / previous_rr));
          },
          sum, p, low);
    } while (!last);
    for_each_flavour(
        [&](auto& to, auto& from, auto& all) {
          copy(ctx, from, to);
          combine<double>(ctx, all, {{1, all}, {scale, to}});
        },
        y, sum, x);
    ++result.updates;
    size = residual(r);
    if (size <= target) return stop_reason::converged;
  }
}

}  // namespace plaq::lqcd

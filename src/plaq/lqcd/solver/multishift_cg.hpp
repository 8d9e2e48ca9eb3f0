// Conjugate gradient for several shifts at once (Jegerlehner, hep-lat/9612014).
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/solver/conjugate_gradient.hpp"

namespace plaq::lqcd {

/// System of one shift: its residuals are zeta times those of the smallest shift.
template <class Vector>
struct shifted_system {
  double shift;  ///< beyond the smallest
  Vector* x;
  Vector direction;
  double zeta = 1, zeta_before = 1;
  bool converged = false;
  /// Factors of steps that x and direction have not made yet: x += a p, then p = b r + c p.
  struct step {
    double a, b, c;
  };
  std::vector<step> steps = {};
};

/// Makes the steps of all systems. The residual of the first of them is residuals[0], and so on.
template <class Vector>
void advance_systems(context& ctx, std::vector<shifted_system<Vector>>& systems, std::vector<Vector>& residuals) {
  std::vector<advancing_sum<double>> sums;
  for (auto& s : systems) {
    const std::size_t first = sums.size();
    for_each_flavour([&](auto& x, auto& p) { sums.push_back({&x, &p, {}}); }, *s.x, s.direction);
    for (std::size_t k = 0; k < s.steps.size(); ++k) {
      std::size_t flavour = first;
      for_each_flavour(
          [&](auto& r) { sums[flavour++].steps.push_back({&r, s.steps[k].a, s.steps[k].b, s.steps[k].c}); },
          residuals[k]);
    }
    s.steps.clear();
  }
  advance(ctx, sums);
  std::erase_if(systems, [](const auto& s) { return s.converged; });
}

/// Solves (M^+ M + shift) x = phi for shifts >= 0, in double precision, on the sites of phi. apply(out, in, dagger)
/// computes M in or M^+ in. Steps lose their residuals by rounding: systems that miss the requested one are continued
/// one by one (conjugate_gradient.hpp). The residual is the largest of |phi - (M^+ M + shift) x| / |phi|, computed from
/// the final x.
///
/// Fields of all shifts rarely fit a cache: they make several steps in one pass, for which the last residuals are kept.
template <class Vector, class Apply>
solver_result multishift_cg(context& ctx, Apply&& apply, std::vector<Vector>& x, const Vector& phi,
                            const std::vector<double>& shifts, const solver_options& options) {
  using stop_reason = solver_result::stop_reason;
  if (shifts.empty() || !std::all_of(shifts.begin(), shifts.end(), [](double shift) { return shift >= 0; }))
    throw input_error("a solver needs at least one shift, and shifts >= 0");
  check(x.size() == shifts.size(), "a shifted solver has one field for each shift");
  solver_result result{stop_reason::converged, 0, 0, 0};
  ctx.workers.run("solve", [&] {
    const double smallest = *std::min_element(shifts.begin(), shifts.end()), size = norm2(ctx, phi);
    const double target = options.residual * options.residual * size;
    std::vector<shifted_system<Vector>> systems;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      for_each_flavour([&](auto& to, auto& from) { combine<double>(ctx, to, {{0, from}}); }, x[i], phi);
      systems.push_back({shifts[i] - smallest, &x[i], phi});
    }
    if (size == 0) return;
    constexpr std::size_t steps_at_once = 4;
    std::vector<Vector> residuals(steps_at_once, phi);
    Vector p(phi), Mp(phi), Ap(phi);
    double rr = size, pp = size, alpha_before = 1, beta = 0;
    std::size_t present = steps_at_once - 1;  // residual
    while (rr > target_share * target_share * target && result.steps < options.max_steps) {
      apply(Mp, p, false);
      apply(Ap, Mp, true);
      const double alpha = rr / (norm2(ctx, Mp) + smallest * pp);
      double next = 0;
      const std::size_t following = (present + 1) % steps_at_once;
      for_each_flavour(
          [&](auto& l, auto& before, auto& A, auto& d) {
            next += combine_norm2<double>(ctx, l, {{1, before}, {-alpha, A}, {-alpha * smallest, d}});
          },
          residuals[following], residuals[present], Ap, p);
      ++result.steps;
      if (!std::isfinite(next)) break;
      const double beta_next = next / rr;
      for (auto& s : systems) {
        if (s.converged) continue;
        const double old = s.zeta_before * alpha_before;
        const double zeta = s.zeta * old / (alpha * beta * (s.zeta_before - s.zeta) + old * (1 + s.shift * alpha));
        const double ratio = zeta / s.zeta;
        s.steps.push_back({alpha * ratio, zeta, beta_next * ratio * ratio});
        s.zeta_before = s.zeta, s.zeta = zeta;
        s.converged = zeta * zeta * next <= 1e-4 * target;
      }
      if (following == steps_at_once - 1) advance_systems(ctx, systems, residuals);
      pp = 0;
      for_each_flavour([&](auto& d, auto& l) { pp += combine_norm2<double>(ctx, d, {{1, l}, {beta_next, d}}); }, p,
                       residuals[following]);
      alpha_before = alpha, beta = beta_next, rr = next, present = following;
    }
    advance_systems(ctx, systems, residuals);
    // Computes Ap = (M^+ M + shift) p and returns (p, Ap).
    const auto normal = [&](Vector& Ap, Vector& Mp, const Vector& p, double shift) {
      apply(Mp, p, false);
      apply(Ap, Mp, true);
      for_each_flavour([&](auto& a, auto& b) { combine<double>(ctx, a, {{1, a}, {shift, b}}); }, Ap, p);
      return norm2(ctx, Mp) + shift * norm2(ctx, p);
    };
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      double last = 0;
      const auto residual = [&](Vector& left) {
        normal(left, Mp, x[i], shifts[i]);
        double norm = 0;
        for_each_flavour([&](auto& l, auto& of) { norm += combine_norm2<double>(ctx, l, {{1, of}, {-1, l}}); }, left,
                         phi);
        last = std::sqrt(norm / size);
        return std::sqrt(norm);
      };
      const auto reason = conjugate_gradient(
          ctx, x[i], phi, target_residual::normal, std::sqrt(target), update_share<double>(options), options, result,
          residual, [&](auto& Ap, auto& Md, const auto& direction) { return normal(Ap, Md, direction, shifts[i]); });
      if (result.reason == stop_reason::converged) result.reason = reason;
      result.residual = std::max(result.residual, last);
    }
  });
  return result;
}

}  // namespace plaq::lqcd

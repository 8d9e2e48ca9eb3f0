// Conjugate gradient for several shifts at once (Jegerlehner, hep-lat/9612014).
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/linear.hpp"
#include "plaq/lqcd/solver.hpp"

namespace plaq::lqcd {

/// What belongs to one shift: residuals are zeta times those of the smallest one.
template <class Field>
struct shifted_system {
  double shift;  ///< beyond the smallest
  Field direction;
  double zeta = 1, zeta_before = 1;
  bool done = false;
};

/// (M^+ M + shift) x = phi for shifts that are not negative, in double precision. apply(out, in, dagger) is M or M^+;
/// each(f) calls f(part) for each of the spinors that a Field is of, part(x) being that of x. The residual is the
/// largest of |phi - (M^+ M + shift) x| / |phi|, computed from the x at the end: `stalled` where it is not as small
/// as asked for.
template <class Field, class Each, class Apply>
solver_result shifted_cg(engine& by, std::vector<Field>& x, const Field& phi, const std::vector<double>& shifts,
                         const solver_options& how, const Each& each, const Apply& apply) {
  if (!(how.residual > 0)) throw input_error("a solver's residual must be positive");
  if (shifts.empty() || !(*std::min_element(shifts.begin(), shifts.end()) >= 0))
    throw input_error("a solver's shifts are not negative, and there is one at least");
  check(x.size() == shifts.size(), "a shifted solver has one field for each shift");
  const auto size_of = [&](const Field& y) {
    double sum = 0;
    each([&](auto part) { sum += norm2(by, part(y)); });
    return sum;
  };
  solver_result done{solver_result::ending::converged, 0, 0, 0};
  by.hands.inside("solve", [&] {
    const double smallest = *std::min_element(shifts.begin(), shifts.end()), size = size_of(phi);
    const double target = how.residual * how.residual * size;
    std::vector<shifted_system<Field>> systems;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      each([&](auto part) { combine<double>(by, part(x[i]), {{0, part(phi)}}); });
      systems.push_back({shifts[i] - smallest, phi});
    }
    if (size == 0) return;
    Field r(phi), p(phi), Mp(phi), Ap(phi);
    double rr = size, alpha_before = 1, beta = 0;
    while (rr > target) {
      if (done.steps++ >= how.most_steps) {
        done.end = solver_result::ending::out_of_steps;
        break;
      }
      apply(Mp, p, false);
      apply(Ap, Mp, true);
      double curvature = 0, next = 0;
      each([&](auto part) {
        combine<double>(by, part(Ap), {{1, part(Ap)}, {smallest, part(p)}});
        curvature += dot(by, part(p), part(Ap)).real();
      });
      const double alpha = rr / curvature;
      each([&](auto part) { next += combine_norm2<double>(by, part(r), {{1, part(r)}, {-alpha, part(Ap)}}); });
      if (!std::isfinite(next)) {
        done.end = solver_result::ending::stalled;
        break;
      }
      const double beta_next = next / rr;
      for (std::size_t i = 0; i < systems.size(); ++i) {
        auto& s = systems[i];
        if (s.done) continue;
        const double old = s.zeta_before * alpha_before;
        const double zeta = s.zeta * old / (alpha * beta * (s.zeta_before - s.zeta) + old * (1 + s.shift * alpha));
        const double ratio = zeta / s.zeta;
        each([&](auto part) {
          auto& direction = part(s.direction);
          combine<double>(by, part(x[i]), {{1, part(x[i])}, {alpha * ratio, direction}});
          combine<double>(by, direction, {{zeta, part(r)}, {beta_next * ratio * ratio, direction}});
        });
        s.zeta_before = s.zeta, s.zeta = zeta;
        s.done = zeta * zeta * next <= 1e-4 * target;
      }
      each([&](auto part) { combine<double>(by, part(p), {{1, part(r)}, {beta_next, part(p)}}); });
      alpha_before = alpha, beta = beta_next, rr = next;
    }
    for (std::size_t i = 0; i < systems.size(); ++i) {
      apply(Mp, x[i], false);
      apply(Ap, Mp, true);
      double left = 0;
      each([&](auto part) {
        left += combine_norm2<double>(by, part(r), {{1, part(phi)}, {-1, part(Ap)}, {-shifts[i], part(x[i])}});
      });
      done.residual = std::max(done.residual, std::sqrt(left / size));
    }
    // What the steps believed of the residual they lose by rounding, at the end of what double precision can do.
    if (done.end == solver_result::ending::converged && !(done.residual <= 2 * how.residual))
      done.end = solver_result::ending::stalled;
  });
  return done;
}

}  // namespace plaq::lqcd

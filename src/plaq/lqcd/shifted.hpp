// Conjugate gradient for several shifts at once (Jegerlehner, hep-lat/9612014).
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/conjugate_gradient.hpp"

namespace plaq::lqcd {

/// What belongs to one shift: residuals are zeta times those of the smallest one.
template <class Field>
struct shifted_system {
  double shift;  ///< beyond the smallest
  Field direction;
  double zeta = 1, zeta_before = 1;
  bool done = false;
};

/// (M^+ M + shift) x = phi for shifts that are not negative, in double precision. apply(out, in, dagger) is M or M^+,
/// of spinors or flavours. What the steps believe of residuals they lose by rounding: systems that are not solved as
/// well as asked for are taken further one by one (conjugate_gradient.hpp). The residual is the largest of |phi -
/// (M^+ M + shift) x| / |phi|, computed from the x at the end.
template <class Field, class Apply>
solver_result shifted_cg(engine& by, std::vector<Field>& x, const Field& phi, const std::vector<double>& shifts,
                         const solver_options& how, const Apply& apply) {
  using ending = solver_result::ending;
  if (!(how.residual > 0)) throw input_error("a solver's residual must be positive");
  if (shifts.empty() || !(*std::min_element(shifts.begin(), shifts.end()) >= 0))
    throw input_error("a solver's shifts are not negative, and there is one at least");
  check(x.size() == shifts.size(), "a shifted solver has one field for each shift");
  solver_result done{ending::converged, 0, 0, 0};
  by.hands.inside("solve", [&] {
    const double smallest = *std::min_element(shifts.begin(), shifts.end()), size = norm2(by, phi);
    const double target = how.residual * how.residual * size;
    std::vector<shifted_system<Field>> systems;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      each_flavour([&](auto& to, auto& from) { combine<double>(by, to, {{0, from}}); }, x[i], phi);
      systems.push_back({shifts[i] - smallest, phi});
    }
    if (size == 0) return;
    /// Ap = (M^+ M + shift) p; returns (p, Ap).
    const auto normal = [&](Field& Ap, Field& Mp, const Field& p, double shift) {
      apply(Mp, p, false);
      apply(Ap, Mp, true);
      each_flavour([&](auto& a, auto& b) { combine<double>(by, a, {{1, a}, {shift, b}}); }, Ap, p);
      return norm2(by, Mp) + shift * norm2(by, p);
    };
    Field r(phi), p(phi), Mp(phi), Ap(phi);
    double rr = size, alpha_before = 1, beta = 0;
    while (rr > aimed_share * aimed_share * target && done.steps < how.most_steps) {
      const double alpha = rr / normal(Ap, Mp, p, smallest);
      double next = 0;
      each_flavour([&](auto& l, auto& A) { next += combine_norm2<double>(by, l, {{1, l}, {-alpha, A}}); }, r, Ap);
      ++done.steps;
      if (!std::isfinite(next)) break;
      const double beta_next = next / rr;
      for (std::size_t i = 0; i < systems.size(); ++i) {
        auto& s = systems[i];
        if (s.done) continue;
        const double old = s.zeta_before * alpha_before;
        const double zeta = s.zeta * old / (alpha * beta * (s.zeta_before - s.zeta) + old * (1 + s.shift * alpha));
        const double ratio = zeta / s.zeta;
        each_flavour(
            [&](auto& to, auto& direction, auto& left) {
              combine<double>(by, to, {{1, to}, {alpha * ratio, direction}});
              combine<double>(by, direction, {{zeta, left}, {beta_next * ratio * ratio, direction}});
            },
            x[i], s.direction, r);
        s.zeta_before = s.zeta, s.zeta = zeta;
        s.done = zeta * zeta * next <= 1e-4 * target;
      }
      each_flavour([&](auto& d, auto& l) { combine<double>(by, d, {{1, l}, {beta_next, d}}); }, p, r);
      alpha_before = alpha, beta = beta_next, rr = next;
    }
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      double last = 0;
      const auto residual = [&](Field& left) {
        normal(left, Mp, x[i], shifts[i]);
        double norm = 0;
        each_flavour([&](auto& l, auto& of) { norm += combine_norm2<double>(by, l, {{1, of}, {-1, l}}); }, left, phi);
        last = std::sqrt(norm / size);
        return std::sqrt(norm);
      };
      const auto end = conjugate_gradient(
          by, x[i], phi, falling::normal_residual, std::sqrt(target), how, done, residual,
          [&](auto& A, auto& M, const auto& direction) { return normal(A, M, direction, shifts[i]); });
      if (done.end == ending::converged) done.end = end;
      done.residual = std::max(done.residual, last);
    }
  });
  return done;
}

}  // namespace plaq::lqcd

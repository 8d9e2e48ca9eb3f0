// Conjugate gradient for several shifts at once.
#include <algorithm>
#include <cmath>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/solver.hpp"

namespace plaq::lqcd {

namespace {

/// What belongs to one shift: residuals are zeta times those of the smallest one.
struct shifted_system {
  double shift;  ///< beyond the smallest
  spinors<double> direction;
  double zeta = 1, zeta_before = 1;
  bool done = false;
};

}  // namespace

solver_result solver::solve_shifted(std::vector<spinors<double>>& x, const spinors<double>& phi,
                                    const std::vector<double>& shifts, const solver_options& how) {
  if (!(how.residual > 0)) throw input_error("a solver's residual must be positive");
  if (shifts.empty() || !(*std::min_element(shifts.begin(), shifts.end()) >= 0))
    throw input_error("a solver's shifts are not negative, and there is one at least");
  check(phi.where().lanes() == where()->lanes() && phi.which() == sites::odd && x.size() == shifts.size(),
        "a shifted solver has fields of its layout on odd sites, one for each shift");
  solver_result done{solver_result::ending::converged, 0, 0, 0};
  by_.hands.inside("solve", [&] {
    const double smallest = *std::min_element(shifts.begin(), shifts.end()), size = norm2(by_, phi);
    const double target = how.residual * how.residual * size;
    std::vector<shifted_system> systems;
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      combine<double>(by_, x[i], {{0, phi}});
      systems.push_back({shifts[i] - smallest, phi});
    }
    if (size == 0) return;
    spinors<double> r(phi), p(phi), Mp(phi), Ap(phi);
    double rr = size, alpha_before = 1, beta = 0;
    while (rr > target) {
      if (done.steps++ >= how.most_steps) {
        done.end = solver_result::ending::out_of_steps;
        break;
      }
      M_.apply_odd(Mp, p);
      M_.apply_odd(Ap, Mp, true);
      combine<double>(by_, Ap, {{1, Ap}, {smallest, p}});
      const double alpha = rr / dot(by_, p, Ap).real();
      const double next = combine_norm2<double>(by_, r, {{1, r}, {-alpha, Ap}});
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
        combine<double>(by_, x[i], {{1, x[i]}, {alpha * ratio, s.direction}});
        combine<double>(by_, s.direction, {{zeta, r}, {beta_next * ratio * ratio, s.direction}});
        s.zeta_before = s.zeta, s.zeta = zeta;
        s.done = zeta * zeta * next <= 1e-4 * target;
      }
      combine<double>(by_, p, {{1, r}, {beta_next, p}});
      alpha_before = alpha, beta = beta_next, rr = next;
    }
    for (std::size_t i = 0; i < systems.size(); ++i) {
      M_.apply_odd(Mp, x[i]);
      M_.apply_odd(Ap, Mp, true);
      const double left = combine_norm2<double>(by_, r, {{1, phi}, {-1, Ap}, {-shifts[i], x[i]}});
      done.residual = std::max(done.residual, std::sqrt(left / size));
    }
    // What the steps believed of the residual they lose by rounding, at the end of what double precision can do.
    if (done.end == solver_result::ending::converged && !(done.residual <= 2 * how.residual))
      done.end = solver_result::ending::stalled;
  });
  return done;
}

}  // namespace plaq::lqcd

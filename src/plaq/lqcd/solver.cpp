#include "plaq/lqcd/solver.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/conjugate_gradient.hpp"
#include "plaq/lqcd/shifted.hpp"

namespace plaq::lqcd {

namespace {

using ending = solver_result::ending;

/// steps.operator()<T, S>(), T of spinors and S of links: in this precision, and where these bring a residual no
/// further, in those above it.
template <class F>
ending in_precision(precision p, F&& steps) {
  auto end = ending::stalled;
  if (p == precision::in_half) end = steps.template operator()<float, fixed16>();
  if (p != precision::in_double && end == ending::stalled) end = steps.template operator()<float, float>();
  if (end == ending::stalled) end = steps.template operator()<double, double>();
  return end;
}

}  // namespace

std::string solver_result::in_words() const {
  char text[160];
  const char* how = end == ending::converged ? "converged" : end == ending::stalled ? "stalled" : "ran out of steps";
  std::snprintf(text, sizeof text, "%s after %d steps and %d updates: |eta - M psi|/|eta| = %.3g", how, steps, updates,
                residual);
  return text;
}

solver::solver(engine& by, const links<double>& gauge, const wilson_parameters& p)
    : by_(by), M_(by, gauge, p, gauge.shared_layout()) {}

template <class T, class S>
wilson<T, S>& solver::matrix_in() {
  const auto made = [&](auto& matrix) -> wilson<T, S>& {
    const int lanes = where()->lanes() == 1 ? 1 : 2 * where()->lanes();
    if (!matrix) matrix = std::make_unique<wilson<T, S>>(M_, std::make_shared<layout>(where()->on(), lanes));
    return *matrix;
  };
  if constexpr (std::same_as<T, double>)
    return M_;
  else if constexpr (std::same_as<S, fixed16>)
    return made(half_);
  else
    return made(single_);
}

template <class T, class S, class Residual>
ending solver::cg(spinors<double>& x, falling what, double target, double twist, const solver_options& how,
                  solver_result& done, Residual&& residual) {
  auto& M = matrix_in<T, S>();
  return conjugate_gradient(by_, x, spinors<T>(M.where(), sites::odd), what, target, how, done, residual,
                            [&](auto& Ap, auto& Mp, const auto& p) {
                              M.apply_odd(Mp, p, false, twist);
                              M.apply_odd(Ap, Mp, true, twist);
                              return norm2(by_, Mp);
                            });
}

template <class T, class S, class Residual, class Correct>
ending solver::corrected(spinors<double>& x, double target, const solver_options& how, solver_result& done,
                         Residual&& residual, Correct&& correct) {
  spinors<double> d(x), y(x);
  spinors<T> r(matrix_in<T, S>().where(), sites::odd), sum(r);
  const double numbers = 24 * double(where()->on().volume()) / 2;
  progress so_far;
  for (;; ++done.updates) {
    const double size = residual(d);
    if (size <= target) return ending::converged;
    if (!so_far.falls(size)) return ending::stalled;
    if (done.steps >= how.most_steps) return ending::out_of_steps;
    const double scale = scale_of(size, numbers);
    combine<double>(by_, y, {{1 / scale, d}});
    copy(y, r);
    combine<T>(by_, sum, {{0, r}});
    correct(sum, r, size / scale, aimed_share * target / size);
    copy(sum, y);
    combine<double>(by_, x, {{1, x}, {scale, y}});
  }
}

template <class T, class S, class Residual>
ending solver::bicgstab(spinors<double>& x, double target, const solver_options& how, solver_result& done,
                        Residual&& residual) {
  auto& M = matrix_in<T, S>();
  spinors<T> first(M.where(), sites::odd), p(first), v(first), t(first);
  return corrected<T, S>(x, target, how, done, residual, [&](auto& sum, auto& r, double size, double share) {
    first = r, p = r;
    const double largest = size * size, enough = largest * share * share;
    std::complex<double> rho = largest;
    for (; done.steps < how.most_steps; ++done.steps) {
      M.apply_odd(v, p);
      const auto alpha = rho / dot(by_, first, v);
      combine<T>(by_, r, {{1, r}, {std::complex<T>(-alpha), v}});
      M.apply_odd(t, r);
      const auto omega = dot(by_, t, r) / norm2(by_, t);
      combine<T>(by_, sum, {{1, sum}, {std::complex<T>(alpha), p}, {std::complex<T>(omega), r}});
      const double rr = combine_norm2<T>(by_, r, {{1, r}, {std::complex<T>(-omega), t}});
      const bool broken_down = !std::isfinite(rr) || rr > 1e10 * largest;
      if (broken_down) combine<T>(by_, sum, {{0, first}});  // what was found until now is thrown away
      if (broken_down || rr <= how.update * how.update * largest || rr <= enough) {
        ++done.steps;
        return;
      }
      const auto next = dot(by_, first, r), beta = next / rho * (alpha / omega);
      rho = next;
      combine<T>(by_, p, {{1, r}, {std::complex<T>(beta), p}, {std::complex<T>(-beta * omega), v}});
    }
  });
}

multigrid& solver::set_up(const multigrid_options& how) {
  multigrid_.reset();
  by_.hands.inside("multigrid", [&] { multigrid_ = std::make_unique<multigrid>(by_, matrix_in<float, float>(), how); });
  return *multigrid_;
}

template <class Residual>
ending solver::with_multigrid(spinors<double>& x, double target, const solver_options& how, solver_result& done,
                              Residual&& residual) {
  constexpr int most_directions = 32;  // between two updates
  constexpr double digits = 1e-5;      // that single precision is good for
  return corrected<float, float>(x, target, how, done, residual, [&](auto& sum, auto& r, double, double share) {
    done.steps +=
        gcr(by_, sum, r, outer_, std::min(most_directions, how.most_steps - done.steps), std::max(digits, share),
            [&](auto& z, auto& w, const auto& left) { multigrid_->precondition(z, w, left); });
  });
}

solver_result solver::solve(spinors<double>& psi, const spinors<double>& eta, const solver_options& how) {
  if (!(how.residual > 0)) throw input_error("a solver's residual must be positive");
  check(psi.where().lanes() == where()->lanes() && psi.same_places(eta) && psi.which() == sites::all,
        "a solver's fields have its layout and all sites");
  solver_result done{ending::converged, 0, 0, 0};
  if (how.method == solver_options::method_kind::multigrid) {
    if (how.steps != precision::in_single) throw input_error("multigrid has its steps in single precision");
    if (!multigrid_) set_up({});
  }
  by_.hands.inside("solve", [&] {
    const double size = std::sqrt(norm2(by_, eta)), target = how.residual * size;
    combine<double>(by_, psi, {{0, eta}});
    if (size == 0) return;
    spinors<double> x(where(), sites::odd), d(x), left(where());
    // psi is made of x; on odd sites eta - M psi is that of M^ x = b, on even ones it is zero but for rounding.
    const auto residual = [&](spinors<double>& odd) {
      std::copy_n(x.data(), x.size(), psi.of(1));
      M_.complete(psi, eta);
      M_.apply(left, psi);
      const double norm = std::sqrt(combine_norm2<double>(by_, left, {{1, eta}, {-1, left}}));
      std::copy_n(left.of(1), odd.size(), odd.data());
      done.residual = norm / size;
      return norm;
    };
    const auto normal_residual = [&](spinors<double>& r) {
      const double norm = residual(d);
      M_.apply_odd(r, d, true);
      return norm;
    };
    if (how.method == solver_options::method_kind::cg)
      done.end = in_precision(how.steps, [&]<class T, class S>() {
        return cg<T, S>(x, falling::residual, target, 0, how, done, normal_residual);
      });
    else if (how.method == solver_options::method_kind::multigrid)
      done.end = with_multigrid(x, target, how, done, residual);
    else
      done.end =
          in_precision(how.steps, [&]<class T, class S>() { return bicgstab<T, S>(x, target, how, done, residual); });
  });
  return done;
}

solver_result solver::solve_normal(spinors<double>& x, const spinors<double>& phi, double twist,
                                   const solver_options& how) {
  if (!(how.residual > 0)) throw input_error("a solver's residual must be positive");
  check(x.where().lanes() == where()->lanes() && x.same_places(phi) && x.which() == sites::odd,
        "the fields of a normal equation have the solver's layout and odd sites");
  check(how.method == solver_options::method_kind::cg, "a normal equation is solved by conjugate gradient");
  solver_result done{ending::converged, 0, 0, 0};
  by_.hands.inside("solve", [&] {
    const double size = std::sqrt(norm2(by_, phi));
    combine<double>(by_, x, {{0, phi}});
    if (size == 0) return;
    spinors<double> Mx(x), MMx(x);
    const auto residual = [&](spinors<double>& r) {
      M_.apply_odd(Mx, x, false, twist);
      M_.apply_odd(MMx, Mx, true, twist);
      const double left = std::sqrt(combine_norm2<double>(by_, r, {{1, phi}, {-1, MMx}}));
      done.residual = left / size;
      return left;
    };
    done.end = in_precision(how.steps, [&]<class T, class S>() {
      return cg<T, S>(x, falling::normal_residual, how.residual * size, twist, how, done, residual);
    });
  });
  return done;
}

solver_result solver::solve_shifted(std::vector<spinors<double>>& x, const spinors<double>& phi,
                                    const std::vector<double>& shifts, const solver_options& how) {
  check(phi.where().lanes() == where()->lanes() && phi.which() == sites::odd,
        "a shifted solver has fields of its layout on odd sites");
  return shifted_cg(by_, x, phi, shifts, how,
                    [&](auto& out, const auto& in, bool dagger) { M_.apply_odd(out, in, dagger); });
}

}  // namespace plaq::lqcd

#include "plaq/lqcd/solver.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/shifted.hpp"

namespace plaq::lqcd {

namespace {

using ending = solver_result::ending;

/// Whether residuals that should fall at every update still do.
class progress {
 public:
  /// False when three updates in a row have not brought it down by a tenth.
  bool falls(double residual) {
    if (!std::isfinite(residual)) return false;
    held_ = residual < 0.9 * best_ ? 0 : held_ + 1;
    best_ = std::min(best_, residual);
    return held_ < 3;
  }

 private:
  double best_ = std::numeric_limits<double>::infinity();
  int held_ = 0;
};

/// A power of two near the size of the numbers of a field with this norm, so that single precision never runs out
/// of exponents.
double scale_of(double norm, double numbers) {
  return norm > 0 ? std::exp2(std::round(std::log2(norm / std::sqrt(numbers)))) : 1;
}

/// steps.operator()<T, S>(), T of spinors and S of links.
template <class F>
ending in_precision(precision p, F&& steps) {
  if (p == precision::in_double) return steps.template operator()<double, double>();
  if (p == precision::in_half) return steps.template operator()<float, fixed16>();
  return steps.template operator()<float, float>();
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
ending solver::cg(spinors<double>& x, double target, double twist, const solver_options& how, solver_result& done,
                  Residual&& residual) {
  auto& M = matrix_in<T, S>();
  spinors<double> r(where(), sites::odd), y(r);
  spinors<T> low(M.where(), sites::odd), sum(low), p(low), Mp(low), Ap(low);
  const double numbers = 24 * double(where()->on().volume()) / 2;
  progress so_far;
  double before = 0, thought = 0, scale = 1;  // |r|^2 before and after the last step, in units of scale^2
  for (;; ++done.updates) {
    const double size = residual(r);
    if (size <= target) return ending::converged;
    if (!so_far.falls(size)) return ending::stalled;
    const double norm = std::sqrt(norm2(by_, r));
    const double unit = scale_of(norm, numbers), old = scale;
    scale = unit;
    combine<double>(by_, y, {{1 / scale, r}});
    copy(y, low);
    double rr = norm / scale * (norm / scale);
    const double turn = (old / scale) * (old / scale);
    if (done.updates == 0 || rr > 2 * thought * turn) {
      p = low;
    } else {
      // The direction goes on, without what it has of the new residual, unless the steps had lost the true one.
      const auto along = std::complex<T>(dot(by_, low, p) / rr);
      const T beta = T(rr / (before * turn) * (old / scale));
      combine<T>(by_, p, {{T(1) - beta * along, low}, {beta, p}});
    }
    combine<T>(by_, sum, {{0, low}});
    const double largest = rr, enough = rr * (target / size) * (target / size);
    for (;;) {
      if (done.steps++ >= how.most_steps) return ending::out_of_steps;
      M.apply_odd(Mp, p, false, twist);
      M.apply_odd(Ap, Mp, true, twist);
      const double alpha = rr / norm2(by_, Mp);
      combine<T>(by_, sum, {{1, sum}, {T(alpha), p}});
      before = rr;
      rr = combine_norm2<T>(by_, low, {{1, low}, {T(-alpha), Ap}});
      if (!std::isfinite(rr)) return ending::stalled;
      thought = rr;
      if (rr <= how.update * how.update * largest || rr <= enough) break;
      combine<T>(by_, p, {{1, low}, {T(rr / before), p}});
    }
    copy(sum, y);
    combine<double>(by_, x, {{1, x}, {scale, y}});
  }
}

template <class T, class S, class Correct>
ending solver::corrected(spinors<double>& x, const spinors<double>& b, double target, const solver_options& how,
                         solver_result& done, Correct&& correct) {
  spinors<double> d(b), y(where(), sites::odd), q(where(), sites::odd);
  spinors<T> r(matrix_in<T, S>().where(), sites::odd), sum(r);
  const double numbers = 24 * double(where()->on().volume()) / 2;
  progress so_far;
  for (;; ++done.updates) {
    M_.apply_odd(q, x);
    const double size = std::sqrt(combine_norm2<double>(by_, d, {{1, b}, {-1, q}}));
    if (size <= target) return ending::converged;
    if (!so_far.falls(size)) return ending::stalled;
    if (done.steps >= how.most_steps) return ending::out_of_steps;
    const double scale = scale_of(size, numbers);
    combine<double>(by_, y, {{1 / scale, d}});
    copy(y, r);
    combine<T>(by_, sum, {{0, r}});
    correct(sum, r, size / scale, target / size);
    copy(sum, y);
    combine<double>(by_, x, {{1, x}, {scale, y}});
  }
}

template <class T, class S>
ending solver::bicgstab(spinors<double>& x, const spinors<double>& b, double target, const solver_options& how,
                        solver_result& done) {
  auto& M = matrix_in<T, S>();
  spinors<T> first(M.where(), sites::odd), p(first), v(first), t(first);
  return corrected<T, S>(x, b, target, how, done, [&](auto& sum, auto& r, double size, double share) {
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

ending solver::with_multigrid(spinors<double>& x, const spinors<double>& b, double target, const solver_options& how,
                              solver_result& done) {
  constexpr int most_directions = 32;  // between two updates
  constexpr double digits = 1e-5;      // that single precision is good for
  return corrected<float, float>(x, b, target, how, done, [&](auto& sum, auto& r, double, double share) {
    done.steps +=
        gcr(by_, sum, r, outer_, std::min(most_directions, how.most_steps - done.steps), std::max(digits, 0.9 * share),
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
    const double size = std::sqrt(norm2(by_, eta));
    combine<double>(by_, psi, {{0, eta}});
    if (size == 0) return;
    spinors<double> b(where(), sites::odd), x(where(), sites::odd);
    M_.prepare(b, eta);
    const double target = how.residual * size;
    if (how.method == solver_options::method_kind::cg) {
      // r = M^^+ (b - M^ x), and the true residual is that of M^ x = b itself.
      spinors<double> d(b);
      const auto residual = [&](spinors<double>& r) {
        M_.apply_odd(r, x);
        const double left = std::sqrt(combine_norm2<double>(by_, d, {{1, b}, {-1, r}}));
        M_.apply_odd(r, d, true);
        return left;
      };
      done.end =
          in_precision(how.steps, [&]<class T, class S>() { return cg<T, S>(x, target, 0, how, done, residual); });
    } else if (how.method == solver_options::method_kind::multigrid) {
      done.end = with_multigrid(x, b, target, how, done);
    } else {
      done.end = in_precision(how.steps, [&]<class T, class S>() { return bicgstab<T, S>(x, b, target, how, done); });
    }
    std::copy_n(x.data(), x.size(), psi.of(1));
    M_.complete(psi, eta);
    spinors<double> left(where());
    M_.apply(left, psi);
    done.residual = std::sqrt(combine_norm2<double>(by_, left, {{1, eta}, {-1, left}})) / size;
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
    const double target = how.residual * size;
    done.end =
        in_precision(how.steps, [&]<class T, class S>() { return cg<T, S>(x, target, twist, how, done, residual); });
    if (done.end == ending::out_of_steps) {
      spinors<double> r(x);
      residual(r);
    }
  });
  return done;
}

solver_result solver::solve_shifted(std::vector<spinors<double>>& x, const spinors<double>& phi,
                                    const std::vector<double>& shifts, const solver_options& how) {
  check(phi.where().lanes() == where()->lanes() && phi.which() == sites::odd,
        "a shifted solver has fields of its layout on odd sites");
  const auto one = [](auto&& f) { f([](auto& field) -> auto& { return field; }); };
  return shifted_cg(by_, x, phi, shifts, how, one,
                    [&](auto& out, const auto& in, bool dagger) { M_.apply_odd(out, in, dagger); });
}

}  // namespace plaq::lqcd

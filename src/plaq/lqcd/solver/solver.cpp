#include "plaq/lqcd/solver/solver.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/solver/conjugate_gradient.hpp"
#include "plaq/lqcd/solver/multishift_cg.hpp"

namespace plaq::lqcd {

using stop_reason = solver_result::stop_reason;

namespace {

constexpr int max_directions = 32;         // of multigrid, between two updates
constexpr double single_precision = 1e-5;  // smallest share that its steps can reach

}  // namespace

template <linear_operator Operator>
template <class Steps>
stop_reason solver<Operator>::with_precision(precision p, Steps&& steps) {
  auto reason = stop_reason::stalled;
  if constexpr (mixed_precision_operator<Operator>) {
    if (p == precision::in_half) reason = steps.template operator()<float, fixed16>();
    if (p != precision::in_double && reason == stop_reason::stalled) reason = steps.template operator()<float, float>();
  }
  if (reason == stop_reason::stalled) reason = steps.template operator()<double, double>();
  return reason;
}

template <linear_operator Operator>
template <class T, class S>
auto& solver<Operator>::matrix_as() {
  if constexpr (std::same_as<T, double>) {
    return M_;
  } else {
    const auto convert = [&]<class M>(std::unique_ptr<M>& matrix) -> M& {
      const int lanes = layout()->lanes() == 1 ? 1 : 2 * layout()->lanes();
      if (!matrix) matrix = std::make_unique<M>(M_, std::make_shared<site_layout>(layout()->lattice(), lanes));
      return *matrix;
    };
    if constexpr (std::same_as<S, fixed16>)
      return convert(low_.half);
    else
      return convert(low_.single);
  }
}

template <linear_operator Operator>
void solver<Operator>::check_fields(const vector& x, const vector& y, sites subset) const {
  for_each_flavour(
      [&](const auto& a, const auto& b) {
        check(a.layout().lanes() == layout()->lanes() && a.same_sites(b) && a.subset() == subset,
              "a solver's fields have its layout, and all sites or odd ones");
      },
      x, y);
}

template <linear_operator Operator>
template <class T, class S, class Residual>
stop_reason solver<Operator>::cg(vector& x, target_residual criterion, double target, double twist,
                                 const solver_options& options, solver_result& result, Residual&& residual) {
  auto& M = matrix_as<T, S>();
  const auto apply_odd = [&](auto& out, const auto& in, bool dagger) {
    if constexpr (mixed_precision_operator<Operator>)
      M.apply_odd(out, in, dagger, twist);
    else
      M.apply_odd(out, in, dagger);
  };
  return conjugate_gradient(M_.ctx(), x, M.zero(sites::odd), criterion, target, update_share<T, S>(options), options,
                            result, residual, [&](auto& Ap, auto& Mp, const auto& p) {
                              apply_odd(Mp, p, false);
                              apply_odd(Ap, Mp, true);
                              return norm2(M_.ctx(), Mp);
                            });
}

template <linear_operator Operator>
template <class T, class S, class Residual, class Correct>
stop_reason solver<Operator>::defect_correction(vector& x, double target, const solver_options& options,
                                                solver_result& result, Residual&& residual, Correct&& correct) {
  auto& ctx = M_.ctx();
  vector d(x), y(x);
  auto r = matrix_as<T, S>().zero(sites::odd), sum = r;
  const double numbers = 24 * double(layout()->lattice().volume()) / 2;
  progress history;
  for (;; ++result.updates) {
    const double size = residual(d);
    if (size <= target) return stop_reason::converged;
    if (!history.falls(size)) return stop_reason::stalled;
    if (result.steps >= options.max_steps) return stop_reason::out_of_steps;
    const double scale = scale_of(size, numbers);
    combine<double>(ctx, y, {{1 / scale, d}});
    copy(ctx, y, r);
    combine<T>(ctx, sum, {{0, r}});
    correct(sum, r, size / scale, target_share * target / size);
    copy(ctx, sum, y);
    combine<double>(ctx, x, {{1, x}, {scale, y}});
  }
}

template <linear_operator Operator>
template <class T, class S, class Residual>
stop_reason solver<Operator>::bicgstab(vector& x, double target, const solver_options& options, solver_result& result,
                                       Residual&& residual) {
  auto& ctx = M_.ctx();
  auto& M = matrix_as<T, S>();
  auto first = M.zero(sites::odd), p = first, v = first, t = first;
  const auto correct = [&](auto& sum, auto& r, double size, double share) {
    first = r, p = r;
    const double first_rr = size * size, update = update_share<T, S>(options), stop_at = first_rr * share * share;
    std::complex<double> rho = first_rr;
    for (; result.steps < options.max_steps; ++result.steps) {
      M.apply_odd(v, p);
      const auto alpha = rho / dot(ctx, first, v);
      combine<T>(ctx, r, {{1, r}, {std::complex<T>(-alpha), v}});
      M.apply_odd(t, r);
      const auto omega = dot(ctx, t, r) / norm2(ctx, t);
      combine<T>(ctx, sum, {{1, sum}, {std::complex<T>(alpha), p}, {std::complex<T>(omega), r}});
      const double rr = combine_norm2<T>(ctx, r, {{1, r}, {std::complex<T>(-omega), t}});
      const bool broken_down = !std::isfinite(rr) || rr > 1e10 * first_rr;
      if (broken_down) combine<T>(ctx, sum, {{0, first}});  // the correction is discarded
      if (broken_down || rr <= update * update * first_rr || rr <= stop_at) {
        ++result.steps;
        return;
      }
      const auto next = dot(ctx, first, r), beta = next / rho * (alpha / omega);
      rho = next;
      combine<T>(ctx, p, {{1, r}, {std::complex<T>(beta), p}, {std::complex<T>(-beta * omega), v}});
    }
  };
  return defect_correction<T, S>(x, target, options, result, residual, correct);
}

template <linear_operator Operator>
template <class T, class S, class Residual>
stop_reason solver<Operator>::gcr_restarted(vector& x, double target, const solver_options& options,
                                            solver_result& result, Residual&& residual) {
  auto& M = matrix_as<T, S>();
  krylov_space<spinors<T>> space;
  const double least = std::same_as<T, double> ? 1e-10 : single_precision;
  const auto correct = [&](auto& sum, auto& r, double, double share) {
    result.steps +=
        gcr(M_.ctx(), sum, r, space, std::min(max_directions, options.max_steps - result.steps), std::max(least, share),
            [&](auto& z, auto& w, const auto& left) { z = left, M.apply_odd(w, z); });
  };
  return defect_correction<T, S>(x, target, options, result, residual, correct);
}

template <linear_operator Operator>
multigrid& solver<Operator>::set_up(const multigrid_options& options)
  requires mixed_precision_operator<Operator>
{
  low_.multigrid.reset();
  M_.ctx().workers.run(
      "multigrid", [&] { low_.multigrid = std::make_unique<multigrid>(M_.ctx(), matrix_as<float, float>(), options); });
  return *low_.multigrid;
}

template <linear_operator Operator>
multigrid& solver<Operator>::set_up_from(const solver& other)
  requires mixed_precision_operator<Operator>
{
  if (!other.low_.multigrid) throw input_error("the other solver has no setup of multigrid");
  M_.ctx().workers.run("multigrid", [&] {
    low_.multigrid = std::make_unique<multigrid>(M_.ctx(), matrix_as<float, float>(), *other.low_.multigrid);
  });
  return *low_.multigrid;
}

template <linear_operator Operator>
void solver<Operator>::set_up_with(const multigrid_options& options, const std::vector<const vector*>& tests)
  requires mixed_precision_operator<Operator>
{
  low_.multigrid.reset();
  M_.ctx().workers.run("multigrid", [&] {
    auto& M = matrix_as<float, float>();
    std::vector<spinors<float>> vectors;
    for (const auto* test : tests) {
      check_fields(*test, *test, sites::odd);
      copy(M_.ctx(), *test, vectors.emplace_back(M.zero(sites::odd)));
    }
    low_.multigrid = std::make_unique<multigrid>(M_.ctx(), M, options, std::move(vectors));
  });
}

template <linear_operator Operator>
void solver<Operator>::improve()
  requires mixed_precision_operator<Operator>
{
  if (!low_.multigrid) throw input_error("the solver has no setup of multigrid");
  M_.ctx().workers.run("multigrid", [&] { low_.multigrid->improve(1); });
}

template <linear_operator Operator>
std::vector<typename Operator::vector> solver<Operator>::test_vectors()
  requires mixed_precision_operator<Operator>
{
  if (!low_.multigrid) throw input_error("the solver has no setup of multigrid");
  std::vector<vector> out;
  for (const auto& test : low_.multigrid->tests()) copy(M_.ctx(), test, out.emplace_back(M_.zero(sites::odd)));
  return out;
}

template <linear_operator Operator>
template <class Steps>
solver_result solver<Operator>::solve_normal_by(Steps&& steps, vector& x, const vector& phi, double twist,
                                                const solver_options& options) {
  solver_result result{stop_reason::converged, 0, 0, 0};
  auto& ctx = M_.ctx();
  ctx.workers.run("solve", [&] {
    const double size = std::sqrt(norm2(ctx, phi));
    combine<double>(ctx, x, {{0, phi}});
    if (size == 0) return;
    vector Mx(x), MMx(x);
    const auto residual = [&](vector& r) {
      M_.apply_odd(Mx, x, false, twist);
      M_.apply_odd(MMx, Mx, true, twist);
      const double norm = std::sqrt(combine_norm2<double>(ctx, r, {{1, phi}, {-1, MMx}}));
      result.residual = norm / size;
      return norm;
    };
    result.reason = steps(options.residual * size, result, residual);
  });
  return result;
}

template <linear_operator Operator>
solver_result solver<Operator>::solve_normal(vector& x, const vector& phi, double twist, const solver_options& options)
  requires mixed_precision_operator<Operator>
{
  check_options(options);
  check_fields(x, phi, sites::odd);
  check(options.method == solver_method::cg, "a normal equation is solved by conjugate gradient");
  const auto by_cg = [&](double target, solver_result& result, auto& residual) {
    return with_precision(options.steps, [&]<class T, class S>() {
      return cg<T, S>(x, target_residual::normal, target, twist, options, result, residual);
    });
  };
  return solve_normal_by(by_cg, x, phi, twist, options);
}

template <linear_operator Operator>
solver_result solver<Operator>::solve_normal_by_multigrid(vector& x, const vector& phi, const solver_options& options)
  requires mixed_precision_operator<Operator>
{
  check_options(options);
  check_fields(x, phi, sites::odd);
  if (!low_.multigrid) set_up({});
  const auto by_multigrid = [&](double target, solver_result& result, auto& residual) {
    const auto correct = [&](auto& sum, auto& r, double, double share) {
      auto y = sum;
      for (const bool dagger : {true, false})
        result.steps += gcr(
            M_.ctx(), dagger ? y : sum, dagger ? r : y, low_.outer,
            std::max(1, std::min(max_directions, options.max_steps - result.steps)), std::max(single_precision, share),
            [&](auto& z, auto& w, const auto& left) { low_.multigrid->precondition(z, w, left, dagger); });
    };
    return defect_correction<float, float>(x, target, options, result, residual, correct);
  };
  return solve_normal_by(by_multigrid, x, phi, 0, options);
}

template <linear_operator Operator>
template <class Residual>
stop_reason solver<Operator>::solve_with_multigrid(vector& x, double target, const solver_options& options,
                                                   solver_result& result, Residual&& residual) {
  const auto correct = [&](auto& sum, auto& r, double, double share) {
    result.steps += gcr(M_.ctx(), sum, r, low_.outer, std::min(max_directions, options.max_steps - result.steps),
                        std::max(single_precision, share),
                        [&](auto& z, auto& w, const auto& left) { low_.multigrid->precondition(z, w, left); });
  };
  return defect_correction<float, float>(x, target, options, result, residual, correct);
}

template <linear_operator Operator>
solver_result solver<Operator>::solve(vector& psi, const vector& eta, const solver_options& options) {
  check_options(options);
  check_fields(psi, eta, sites::all);
  solver_result result{stop_reason::converged, 0, 0, 0};
  if constexpr (mixed_precision_operator<Operator>) {
    if (options.method == solver_method::multigrid) {
      if (options.steps != precision::in_single) throw input_error("multigrid has its steps in single precision");
      if (!low_.multigrid) set_up({});
    }
  } else {
    if (options.method != solver_method::cg)
      throw input_error("an operator of two flavours is solved by conjugate gradient alone");
  }
  auto& ctx = M_.ctx();
  ctx.workers.run("solve", [&] {
    const double size = std::sqrt(norm2(ctx, eta)), target = options.residual * size;
    for_each_flavour([&](auto& to, auto& from) { combine<double>(ctx, to, {{0, from}}); }, psi, eta);
    if (size == 0) return;
    vector x = M_.zero(sites::odd), d(x), left = M_.zero(sites::all);
    // psi follows from x. On odd sites eta - M psi is the residual of M^ x = b, on even ones it is a rounding error.
    const auto residual = [&](vector& odd) {
      for_each_flavour([&](auto& to, auto& from) { copy_parity(ctx, from, to, 1); }, psi, x);
      M_.complete(psi, eta);
      M_.apply(left, psi);
      double square = 0;
      for_each_flavour([&](auto& l, auto& e) { square += combine_norm2<double>(ctx, l, {{1, e}, {-1, l}}); }, left,
                       eta);
      for_each_flavour([&](auto& to, auto& from) { copy_parity(ctx, from, to, 1); }, odd, left);
      const double norm = std::sqrt(square);
      result.residual = norm / size;
      return norm;
    };
    const auto normal_residual = [&](vector& r) {
      const double norm = residual(d);
      M_.apply_odd(r, d, true);
      return norm;
    };
    const auto by_cg = [&]<class T, class S>() {
      return cg<T, S>(x, target_residual::direct, target, 0, options, result, normal_residual);
    };
    if constexpr (mixed_precision_operator<Operator>) {
      const auto by_bicgstab = [&]<class T, class S>() { return bicgstab<T, S>(x, target, options, result, residual); };
      if (options.method == solver_method::multigrid)
        result.reason = solve_with_multigrid(x, target, options, result, residual);
      else if (options.method == solver_method::bicgstab)
        result.reason = with_precision(options.steps, by_bicgstab);
      else if (options.method == solver_method::gcr)
        result.reason = with_precision(options.steps, [&]<class T, class S>() {
          return gcr_restarted<T, S>(x, target, options, result, residual);
        });
    }
    if (options.method == solver_method::cg) result.reason = with_precision(options.steps, by_cg);
  });
  return result;
}

template <linear_operator Operator>
solver_result solver<Operator>::solve_shifted(std::vector<vector>& x, const vector& phi,
                                              const std::vector<double>& shifts, const solver_options& options) {
  check_options(options);
  bool on_all_sites = false;
  for_each_flavour([&](const auto& part) { on_all_sites = part.subset() == sites::all; }, phi);
  check_fields(phi, phi, on_all_sites ? sites::all : sites::odd);
  const auto apply = [&](vector& out, const vector& in, bool dagger) {
    on_all_sites ? M_.apply(out, in, dagger) : M_.apply_odd(out, in, dagger);
  };
  return multishift_cg(M_.ctx(), apply, x, phi, shifts, options);
}

template class solver<wilson<double>>;
template class solver<doublet<double>>;

}  // namespace plaq::lqcd

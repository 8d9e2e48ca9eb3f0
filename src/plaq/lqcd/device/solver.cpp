#include "plaq/lqcd/device/solver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/device/launch.hpp"
#include "plaq/lqcd/solver/conjugate_gradient.hpp"

namespace plaq::lqcd::device {

namespace {

constexpr int steps_at_once = 16;     // launched before the host looks whether they end
constexpr std::size_t state_at = 64;  // bytes of numbers_
using complex = complex_number<double>;

const wilson<double>& check_clover(const wilson<double>& M) {
  if (M.has_clover()) throw input_error("solvers on a device have no clover term: csw is to be 0");
  return M;
}

void check_method(const solver_options& options) {
  check_options(options);
  if (options.method != solver_method::cg) throw input_error("solvers on a device have the method cg alone");
}

template <class T>
complex_number<T> as(std::complex<double> z) {
  return {T(z.real()), T(z.imag())};
}

/// Sizes of a residual: that of the target, and that of the normal equation.
struct sizes {
  double target, normal;
};

}  // namespace

solver::solver(const wilson<double>& M, gpu::device where)
    : solver(M.ctx().workers, hopping(check_clover(M), where), M.parameters().kappa, M.parameters().mu) {}

solver::solver(workers& by, hopping H, double kappa, double mu)
    : workers_(by), H_(std::move(H)), kappa_(kappa), mu_(mu) {
  const int parts = std::max(H_.sites(), 2 * on_sites{H_.sites()}.blocks());  // for tiles of any size
  parts_ = gpu::memory(H_.where(), std::size_t(parts) * sizeof(double));
  numbers_ = gpu::memory(H_.where(), state_at + sizeof(step_state));
}

template <class S, class R>
hop<S, R> solver::apply_odd(const half_field<R>& out, half_field<S>& even, const half_field<S>& in, bool dagger,
                            double twist) {
  using T = number_of<S>;
  auto first = H_.kernel(even, in, 0, dagger);
  first.c = as<T>(1.0 / A(dagger));
  launch(H_.where(), first);
  auto second = H_.kernel<S, R>(out, even, 1, dagger);
  second.c = {T(-kappa_ * kappa_), 0};
  second.phi = in.data();
  second.d = as<T>(A(dagger) + chiral(0, dagger ? -twist : twist));
  return second;
}

template <class S>
double solver::norm2_after(hop<S> kernel) {
  auto* const parts = reinterpret_cast<double*>(parts_.data());
  kernel.norm2 = parts;
  launch(H_.where(), kernel);
  launch(H_.where(), total{{}, parts, kernel.blocks(), 1, reinterpret_cast<double*>(numbers_.data())});
  double found = 0;
  numbers_.get(0, &found, sizeof found);
  return found;
}

double solver::norm2(const half_field<double>& x) {
  auto* const parts = reinterpret_cast<double*>(parts_.data());
  const overlap<double, double> k{{x.sites()}, x.data(), x.data(), parts};
  launch(H_.where(), k);
  launch(H_.where(), total{{}, parts, k.blocks(), 1, reinterpret_cast<double*>(numbers_.data())});
  double found = 0;
  numbers_.get(0, &found, sizeof found);
  return found;
}

template <class S, class R, class Residual>
solver_result::stop_reason solver::steps(half_field<double>& x, const half_field<double>& r, target_residual criterion,
                                         double target, double twist, const solver_options& options,
                                         solver_result& result, Residual&& residual) {
  using T = number_of<R>;
  const gpu::device where = H_.where();
  const int n = H_.sites();
  sizes size = residual();
  if (size.target <= target) return stop_reason::converged;
  half_field<S> p(where, n), Mp(where, n), even(where, n);
  half_field<R> low(where, n), sum(where, n);
  auto* const parts = reinterpret_cast<double*>(parts_.data());
  auto* const state = reinterpret_cast<step_state*>(numbers_.data() + state_at);

  const auto step = [&] {
    auto onto_p = apply_odd(Mp, even, p, false, twist);
    onto_p.norm2 = parts, onto_p.state = state;
    launch(where, onto_p);
    launch(where, choose_alpha{{}, parts, onto_p.blocks(), state});
    // r - alpha M^+ M p, in place.
    auto onto_Mp = apply_odd<S, R>(low, even, Mp, true, twist);
    onto_Mp.base = low.data(), onto_Mp.norm2 = parts, onto_Mp.state = state;
    launch(where, onto_Mp);
    launch(where, end_step{{}, parts, onto_Mp.blocks(), state});
    launch(where, advance<S, R>{{n}, sum.data(), p.data(), low.data(), state});
  };

  progress history;
  step_state s{};
  const double update = update_share<T, std::conditional_t<is_fixed<S>, fixed16, T>>(options);
  double scale = 1;
  for (bool first = true;; first = false) {
    if (!history.falls(size.target, size.normal)) return stop_reason::stalled;
    if (result.steps >= options.max_steps) return stop_reason::out_of_steps;
    const double old = std::exchange(scale, scale_of(size.normal, 24.0 * n));
    launch(where, convert<R>{{n}, low.data(), r.data(), 1 / scale, sum.data()});
    const double rr = size.normal / scale * (size.normal / scale), rescale = (old / scale) * (old / scale);
    turn<S, R> direction{{n}, p.data(), low.data(), {1, 0}, 0};
    if (!first && rr <= 2 * s.rr * rescale) {
      // The direction is kept, orthogonal to the new residual, unless the steps had lost the true residual.
      const overlap<S, R> k{{n}, low.data(), p.data(), parts};
      launch(where, k);
      launch(where, total{{}, parts, k.blocks(), 2, reinterpret_cast<double*>(numbers_.data())});
      double found[2];
      numbers_.get(0, found, sizeof found);
      const double beta = rr / (s.previous * rescale) * (old / scale);
      direction.a = as<T>(1.0 - beta * chiral(found[0], found[1]) / rr), direction.b = T(beta);
    }
    launch(where, direction);
    const double in_targets = size.target / target;
    s = {.rr = rr,
         .distance = in_targets * in_targets,
         .stop_at = std::max(target_share * target_share, update * update * in_targets * in_targets),
         .least_rr = update * update * rr,
         .square = scale / target * (scale / target),
         .direct = criterion == target_residual::direct,
         .steps = result.steps,
         .most_steps = options.max_steps};
    numbers_.put(state_at, &s, sizeof s);
    while (!s.last) {
      for (int i = 0; i < steps_at_once; ++i) step();
      numbers_.get(state_at, &s, sizeof s);
    }
    result.steps = s.steps;
    if (!std::isfinite(s.rr)) return stop_reason::stalled;
    launch(where, accumulate<R>{{n}, x.data(), sum.data(), scale});
    ++result.updates;
    size = residual();
    if (size.target <= target) return stop_reason::converged;
  }
}

template <class Residual>
void solver::run(half_field<double>& x, const half_field<double>& r, target_residual criterion, double target,
                 double twist, const solver_options& options, solver_result& result, Residual&& residual) {
  const auto by = [&]<class S, class R>() {
    result.reason = steps<S, R>(x, r, criterion, target, twist, options, result, residual);
    return result.reason != stop_reason::stalled;
  };
  if (options.steps == precision::in_half && by.template operator()<fixed16, float>()) return;
  if (options.steps != precision::in_double && by.template operator()<float, float>()) return;
  by.template operator()<double, double>();
}

solver_result solver::solve(spinors<double>& psi, const spinors<double>& eta, const solver_options& options) {
  check_method(options);
  check(psi.subset() == sites::all && eta.subset() == sites::all, "a solver's fields are on all sites");
  const gpu::device where = H_.where();
  const int n = H_.sites();
  half_fields x{half_field<double>(where, n), half_field<double>(where, n)};
  half_fields b{half_field<double>(where, n), half_field<double>(where, n)};
  for (const int parity : {0, 1}) copy_to_device(workers_, eta, parity, b[parity]);
  const solver_result result = solve(x, b, options);
  for (const int parity : {0, 1}) copy_from_device(workers_, x[parity], parity, psi);
  return result;
}

solver_result solver::solve(half_fields& x, const half_fields& b, const solver_options& options) {
  check_method(options);
  const gpu::device where = H_.where();
  const int n = H_.sites();
  half_field<double> d(where, n), r(where, n), even(where, n);
  for (auto& part : x) part.memory().clear();
  const double size = std::sqrt(norm2(b[0]) + norm2(b[1]));
  solver_result result{stop_reason::converged, 0, 0, 0};
  // psi follows from its odd sites. There eta - M psi is the residual of M^, on even sites it is a rounding error.
  const auto difference = [&](const half_field<double>& out, int parity) {
    auto k = H_.kernel(out, x[1 - parity], parity);
    k.c = {-kappa_, 0}, k.phi = x[parity].data(), k.d = as<double>(A(false)), k.base = b[parity].data();
    return norm2_after(k);
  };
  const auto residual = [&]() -> sizes {
    auto complete = H_.kernel(x[0], x[1], 0);
    complete.c = as<double>(kappa_ / A(false)), complete.phi = b[0].data(), complete.d = as<double>(1.0 / A(false));
    launch(where, complete);
    const double left = std::sqrt(difference({}, 0) + difference(d, 1));
    result.residual = left / size;
    return {left, std::sqrt(norm2_after(apply_odd(r, even, d, true, 0)))};
  };
  if (size != 0) run(x[1], r, target_residual::direct, options.residual * size, 0, options, result, residual);
  return result;
}

solver_result solver::solve_normal(spinors<double>& x, const spinors<double>& phi, double twist,
                                   const solver_options& options) {
  check_method(options);
  check(x.subset() == sites::odd && phi.subset() == sites::odd, "a normal equation's fields are on odd sites");
  const gpu::device where = H_.where();
  const int n = H_.sites();
  half_field<double> y(where, n), b(where, n), My(where, n), r(where, n), even(where, n);
  copy_to_device(workers_, phi, 1, b);
  y.memory().clear();
  const double size = std::sqrt(norm2(b));
  solver_result result{stop_reason::converged, 0, 0, 0};
  const auto residual = [&]() -> sizes {
    launch(where, apply_odd(My, even, y, false, twist));
    auto k = apply_odd(r, even, My, true, twist);
    k.base = b.data();
    const double left = std::sqrt(norm2_after(k));
    result.residual = left / size;
    return {left, left};
  };
  if (size != 0) run(y, r, target_residual::normal, options.residual * size, twist, options, result, residual);
  copy_from_device(workers_, y, 1, x);
  return result;
}

}  // namespace plaq::lqcd::device

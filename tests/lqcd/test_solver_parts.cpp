// Parts of solvers, and what they refuse.
#include <gtest/gtest.h>

#include <limits>

#include "fields_of_tests.hpp"
#include "plaq/base/error.hpp"
#include "plaq/lqcd/solver/conjugate_gradient.hpp"
#include "plaq/lqcd/solver/gcr.hpp"
#include "plaq/lqcd/solver/solver.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

using stop_reason = solver_result::stop_reason;
const coordinates extents{4, 4, 4, 4};

TEST(progress, lasts_while_residuals_fall_by_a_tenth_in_three_updates) {
  progress history;
  for (double residual = 1; residual > 1e-10; residual *= 0.85) EXPECT_TRUE(history.falls(residual));
  progress slow;
  EXPECT_TRUE(slow.falls(1));
  EXPECT_TRUE(slow.falls(0.95));
  EXPECT_TRUE(slow.falls(0.94));
  EXPECT_FALSE(slow.falls(0.93));
}

TEST(progress, lasts_while_one_of_two_residuals_falls) {
  progress history;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(history.falls(1, std::pow(0.5, i)));
  EXPECT_TRUE(history.falls(1, 1));
  EXPECT_TRUE(history.falls(1, 1));
  EXPECT_FALSE(history.falls(1, 1));
}

TEST(progress, starts_again_after_a_residual_that_falls) {
  progress history;
  history.falls(1), history.falls(1), history.falls(1);
  EXPECT_TRUE(history.falls(0.5));
  EXPECT_TRUE(history.falls(0.5));
  EXPECT_TRUE(history.falls(0.5));
  EXPECT_FALSE(history.falls(0.5));
}

TEST(progress, ends_with_a_residual_that_is_not_finite) {
  progress history;
  EXPECT_FALSE(history.falls(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(progress().falls(std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(progress().falls(1, std::numeric_limits<double>::quiet_NaN()));
}

TEST(scale_of, is_a_power_of_two_near_the_numbers_of_a_field) {
  for (const double norm : {1e-200, 3e-5, 1.0, 7e11, 1e200}) {
    const double scale = scale_of(norm, 100), size = norm / 10;
    EXPECT_LE(scale / size, 1.5);
    EXPECT_GE(scale / size, 0.7);
    int exponent = 0;
    EXPECT_EQ(std::frexp(scale, &exponent), 0.5);
  }
  EXPECT_EQ(scale_of(0, 100), 1);
}

TEST(solver_results, are_sentences) {
  EXPECT_EQ((solver_result{stop_reason::converged, 12, 3, 1.25e-11}).to_string(),
            "converged after 12 steps and 3 updates: |eta - M psi|/|eta| = 1.25e-11");
  EXPECT_EQ((solver_result{stop_reason::stalled, 1, 2, 0.5}).to_string().substr(0, 13), "stalled after");
  EXPECT_EQ((solver_result{stop_reason::out_of_steps, 1, 2, 0.5}).to_string().substr(0, 26),
            "reached the limit of steps");
}

TEST(gcr, solves_a_diagonal_system_in_as_many_steps_as_it_has_values) {
  // M multiplies odd sites by 1, 2 or 3: after three directions nothing is left.
  rank_context ranks(single_rank());
  const auto layout = layout_of(extents, 1);
  const auto b = random_spinors_on<float>(layout, 1, sites::odd);
  const auto multiply = [](spinors<float>& out, const spinors<float>& in) {
    for (std::size_t i = 0; i < in.size(); ++i) out.data()[i] = float(1 + i / 24 % 3) * in.data()[i];
  };
  spinors<float> x(layout, sites::odd), r(b);
  krylov_space<spinors<float>> space;
  const int steps = gcr(ranks.ctx, x, r, space, 10, 1e-5, [&](auto& z, auto& w, const auto& left) {
    z = left;
    multiply(w, z);
  });
  EXPECT_EQ(steps, 3);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x.data()[i], b.data()[i] / float(1 + i / 24 % 3), 1e-5);
}

TEST(gcr, makes_all_steps_when_no_residual_is_asked_for_and_none_for_a_direction_of_zero) {
  rank_context ranks(single_rank());
  const auto layout = layout_of(extents, 1);
  spinors<float> x(layout, sites::odd), r = random_spinors_on<float>(layout, 1, sites::odd);
  krylov_space<spinors<float>> space;
  std::uint32_t number = 2;
  const auto random_direction = [&](auto& z, auto& w, const auto&) {
    z = random_spinors_on<float>(layout, number++, sites::odd);
    w = z;
  };
  double size = norm2(ranks.ctx, r);
  EXPECT_EQ(gcr(ranks.ctx, x, r, space, 4, 0, random_direction), 4);
  EXPECT_LT(norm2(ranks.ctx, r), size);
  size = norm2(ranks.ctx, r);
  const auto no_direction = [&](auto& z, auto& w, const auto&) { std::fill_n(z.data(), z.size(), 0.f), w = z; };
  EXPECT_EQ(gcr(ranks.ctx, x, r, space, 4, 1e-3, no_direction), 0);
  EXPECT_EQ(norm2(ranks.ctx, r), size);
}

struct heavy_quarks {
  rank_context ranks{single_rank()};
  links<double> gauge = random_links_on(layout_of(extents, 1));
  wilson<double> M{ranks.ctx, gauge, {.kappa = 0.1, .mu = 0.2}, gauge.shared_layout()};
  solver<wilson<double>> inverse{M};
  spinors<double> psi{gauge.shared_layout()}, odd{gauge.shared_layout(), sites::odd};
};

TEST(solvers, refuse_fields_of_another_layout_or_on_other_sites) {
  heavy_quarks q;
  spinors<double> other(layout_of(extents, 2)), other_odd(layout_of(extents, 2), sites::odd);
  EXPECT_ANY_THROW(q.inverse.solve(other, other));
  EXPECT_ANY_THROW(q.inverse.solve(q.psi, other));
  EXPECT_ANY_THROW(q.inverse.solve(q.odd, q.odd));
  EXPECT_ANY_THROW(q.inverse.solve_normal(q.psi, q.psi, 0));
  EXPECT_ANY_THROW(q.inverse.solve_normal(other_odd, other_odd, 0));
  std::vector<spinors<double>> x(1, q.odd);
  EXPECT_ANY_THROW(q.inverse.solve_shifted(x, q.psi, {0.1}));
  EXPECT_ANY_THROW(q.inverse.solve_shifted(x, other_odd, {0.1}));
}

TEST(solvers, refuse_residuals_that_are_not_positive) {
  heavy_quarks q;
  std::vector<spinors<double>> x(1, q.odd);
  for (const double residual : {0.0, -1e-3, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW(q.inverse.solve(q.psi, q.psi, {.residual = residual}), input_error);
    EXPECT_THROW(q.inverse.solve_normal(q.odd, q.odd, 0, {.residual = residual}), input_error);
    EXPECT_THROW(q.inverse.solve_shifted(x, q.odd, {0.1}, {.residual = residual}), input_error);
  }
}

TEST(solvers, refuse_normal_equations_by_another_method) {
  heavy_quarks q;
  EXPECT_ANY_THROW(q.inverse.solve_normal(q.odd, q.odd, 0, {.method = solver_method::bicgstab}));
}

TEST(solvers, refuse_shifts_that_are_negative_missing_or_without_a_field) {
  heavy_quarks q;
  std::vector<spinors<double>> x(2, q.odd);
  EXPECT_THROW(q.inverse.solve_shifted(x, q.odd, {}), input_error);
  EXPECT_THROW(q.inverse.solve_shifted(x, q.odd, {0.1, -0.1}), input_error);
  EXPECT_THROW(q.inverse.solve_shifted(x, q.odd, {0.1, std::numeric_limits<double>::quiet_NaN()}), input_error);
  EXPECT_ANY_THROW(q.inverse.solve_shifted(x, q.odd, {0.1, 0.2, 0.3}));
}

TEST(solvers, refuse_multigrid_in_other_precisions_and_with_options_out_of_range) {
  heavy_quarks q;
  for (const auto steps : {precision::in_double, precision::in_half})
    EXPECT_THROW(q.inverse.solve(q.psi, q.psi, {.method = solver_method::multigrid, .steps = steps}), input_error);
  for (const multigrid_options& options :
       {multigrid_options{.vectors = 0}, multigrid_options{.vectors = 20}, multigrid_options{.rounds = -1},
        multigrid_options{.cycle = {.smoothing = 0}}, multigrid_options{.cycle = {.coarse_residual = 0}},
        multigrid_options{.cycle = {.coarse_residual = 1}}, multigrid_options{.cycle = {.coarse_steps = 0}},
        multigrid_options{.boxes = {{3, 2, 2, 2}}}})
    EXPECT_THROW(q.inverse.set_up(options), input_error);
}

TEST(solvers, of_two_flavours_refuse_methods_for_the_matrix_itself) {
  rank_context ranks(single_rank());
  const auto gauge = random_links_on(layout_of(extents, 1));
  doublet<double> M(ranks.ctx, gauge, {.kappa = 0.1, .mu = 0.2, .epsilon = 0.1}, gauge.shared_layout());
  solver inverse(M);
  auto psi = M.zero(sites::all);
  EXPECT_THROW(inverse.solve(psi, psi, {.method = solver_method::bicgstab}), input_error);
  EXPECT_THROW(inverse.solve(psi, psi, {.method = solver_method::multigrid}), input_error);
}

TEST(solvers, return_zero_for_a_source_of_zero) {
  heavy_quarks q;
  auto psi = random_spinors_on(q.gauge.shared_layout());
  const spinors<double> zero(q.gauge.shared_layout()), odd_zero(q.gauge.shared_layout(), sites::odd);
  for (const auto method : {solver_method::cg, solver_method::bicgstab}) {
    const auto result = q.inverse.solve(psi, zero, {.method = method});
    EXPECT_TRUE(result.reason == stop_reason::converged && result.steps == 0 && result.residual == 0);
    EXPECT_EQ(norm2(q.ranks.ctx, psi), 0);
  }
  auto x = random_spinors_on(q.gauge.shared_layout(), 1, sites::odd);
  EXPECT_EQ(q.inverse.solve_normal(x, odd_zero, 0.1).steps, 0);
  EXPECT_EQ(norm2(q.ranks.ctx, x), 0);
}

TEST(solvers, do_not_depend_on_the_field_that_the_solution_overwrites) {
  heavy_quarks q;
  const auto eta = random_spinors_on(q.gauge.shared_layout(), 4);
  auto other = random_spinors_on(q.gauge.shared_layout(), 5);
  q.inverse.solve(q.psi, eta);
  q.inverse.solve(other, eta);
  EXPECT_TRUE(same_bits(q.psi, other));
}

TEST(solvers, invert_normal_equations_with_a_twist) {
  heavy_quarks q;
  const auto phi = random_spinors_on(q.gauge.shared_layout(), 4, sites::odd);
  for (const double twist : {0.0, 0.3})
    for (const auto steps : {precision::in_double, precision::in_single, precision::in_half}) {
      const auto result = q.inverse.solve_normal(q.odd, phi, twist, {.steps = steps, .residual = 1e-11});
      EXPECT_EQ(result.reason, stop_reason::converged) << result.to_string();
      spinors<double> Mx(phi), left(phi);
      q.M.apply_odd(Mx, q.odd, false, twist);
      q.M.apply_odd(left, Mx, true, twist);
      const double square = combine_norm2<double>(q.ranks.ctx, left, {{1, phi}, {-1, left}});
      EXPECT_DOUBLE_EQ(result.residual, std::sqrt(square) / std::sqrt(norm2(q.ranks.ctx, phi)));
      EXPECT_LE(result.residual, 1e-11);
    }
}

}  // namespace
}  // namespace plaq::lqcd

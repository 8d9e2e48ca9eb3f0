// Runs on any number of ranks.
#include <gtest/gtest.h>

#include <cstring>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/solver/solver.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

using stop_reason = solver_result::stop_reason;

const coordinates extents{8, 4, 4, 4};
const wilson_parameters heavy{.kappa = 0.14, .mu = 0.1, .theta = {1, 0, 0, 0}};

struct problem {
  problem(rank_context& ranks, const coordinates& grid, int rank, int lanes, const wilson_parameters& p = heavy,
          bool rough = true)
      : gauge(std::make_shared<site_layout>(lattice(extents, grid, rank), std::min(lanes, max_lanes<double>()))) {
    rough ? hot_start(gauge, 3) : cold_start(gauge);
    M.emplace(ranks.ctx, gauge, p, gauge.shared_layout());
    inverse.emplace(*M);
    eta.emplace(M->layout());
    psi.emplace(M->layout());
    gaussian(*eta, 4);
  }
  links<double> gauge;
  std::optional<wilson<double>> M;
  std::optional<solver<wilson<double>>> inverse;
  std::optional<spinors<double>> eta, psi;
};

TEST(solver, converges_to_the_requested_residual_and_reports_it) {
  rank_context ranks(single_rank());
  for (const auto method : {solver_method::cg, solver_method::bicgstab})
    for (const auto steps : {precision::in_double, precision::in_single, precision::in_half})
      for (const double residual : {1e-5, 1e-13}) {
        problem p(ranks, {1, 1, 1, 1}, 0, 16);
        const auto result = p.inverse->solve(*p.psi, *p.eta, {.method = method, .steps = steps, .residual = residual});
        EXPECT_EQ(result.reason, stop_reason::converged) << result.to_string();
        spinors<double> left(p.M->layout());
        p.M->apply(left, *p.psi);
        const double square =
            combine_norm2<double>(ranks.ctx, left, {{1, *p.eta}, {-1, left}}) / norm2(ranks.ctx, *p.eta);
        EXPECT_DOUBLE_EQ(result.residual, std::sqrt(square));
        EXPECT_LT(result.residual, 1.01 * residual);
        EXPECT_GT(result.residual, 1e-4 * residual);
      }
}

TEST(solver, needs_hardly_more_steps_in_single_and_half_precision) {
  rank_context ranks(single_rank());
  problem p(ranks, {1, 1, 1, 1}, 0, 16);
  const auto steps = [&](precision in) {
    return p.inverse->solve(*p.psi, *p.eta, {.steps = in, .residual = 1e-12}).steps;
  };
  const int in_double = steps(precision::in_double);
  EXPECT_LT(steps(precision::in_single), 1.2 * in_double);
  EXPECT_LT(steps(precision::in_half), 1.2 * in_double);
}

TEST(solver, takes_sources_of_any_size) {
  rank_context ranks(single_rank());
  for (const double size : {1e-100, 1e100}) {
    problem p(ranks, {1, 1, 1, 1}, 0, 16);
    combine<double>(ranks.ctx, *p.eta, {{size, *p.eta}});
    EXPECT_EQ(p.inverse->solve(*p.psi, *p.eta).reason, stop_reason::converged);
  }
  problem p(ranks, {1, 1, 1, 1}, 0, 16);
  combine<double>(ranks.ctx, *p.eta, {{0, *p.eta}});
  EXPECT_EQ(p.inverse->solve(*p.psi, *p.eta).steps, 0);
  EXPECT_EQ(norm2(ranks.ctx, *p.psi), 0);
}

TEST(solver, reports_stagnation_and_exhausted_steps) {
  rank_context ranks(single_rank());
  problem p(ranks, {1, 1, 1, 1}, 0, 16);
  EXPECT_EQ(p.inverse->solve(*p.psi, *p.eta, {.residual = 1e-18}).reason, stop_reason::stalled);
  EXPECT_EQ(p.inverse->solve(*p.psi, *p.eta, {.max_steps = 5}).reason, stop_reason::out_of_steps);
  EXPECT_THROW(p.inverse->solve(*p.psi, *p.eta, {.residual = 0}), input_error);
  // At the critical kappa of free fields a constant spinor is taken to zero.
  problem singular(ranks, {1, 1, 1, 1}, 0, 16, {.kappa = 0.125}, false);
  const auto result = singular.inverse->solve(*singular.psi, *singular.eta, {.max_steps = 2000});
  EXPECT_NE(result.reason, stop_reason::converged) << result.to_string();
  EXPECT_GT(result.residual, 1e-4);
}

TEST(solver, solves_all_shifted_equations) {
  rank_context ranks(single_rank());
  problem p(ranks, {1, 1, 1, 1}, 0, 16);
  spinors<double> phi(p.M->layout(), sites::odd), left(phi), Mx(phi);
  gaussian(phi, 5);
  const std::vector<double> shifts{0.3, 0.0, 1e-3, 20.0, 0.02};
  std::vector<spinors<double>> x(shifts.size(), phi);
  const auto result = p.inverse->solve_shifted(x, phi, shifts, {.residual = 1e-12});
  EXPECT_EQ(result.reason, stop_reason::converged) << result.to_string();
  double worst = 0;
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    p.M->apply_odd(Mx, x[i]);
    p.M->apply_odd(left, Mx, true);
    const double off = combine_norm2<double>(ranks.ctx, left, {{1, phi}, {-1, left}, {-shifts[i], x[i]}});
    worst = std::max(worst, std::sqrt(off / norm2(ranks.ctx, phi)));
  }
  EXPECT_DOUBLE_EQ(result.residual, worst);
  EXPECT_LT(worst, 2e-12);
  // The steps are those of the smallest shift.
  spinors<double> single_x(phi);
  const auto single =
      p.inverse->solve_normal(single_x, phi, 0, {.steps = precision::in_double, .residual = 1e-12, .update = 1e-12});
  EXPECT_NEAR(result.steps, single.steps, 2);
  EXPECT_LT(combine_norm2<double>(ranks.ctx, left, {{1, single_x}, {-1, x[1]}}), 1e-20 * norm2(ranks.ctx, x[1]));
}

TEST(solver, moves_shifted_solutions_as_far_as_a_solve_of_each_after_any_number_of_steps) {
  // Without a continuation of single shifts: after n steps each x is that of n steps for its shift alone.
  rank_context ranks(single_rank());
  problem p(ranks, {1, 1, 1, 1}, 0, 16);
  spinors<double> phi(p.M->layout(), sites::odd), difference(phi);
  gaussian(phi, 5);
  const std::vector<double> shifts{0.3, 0.01, 0.02, 0.01};
  for (const int steps : {1, 2, 3, 4, 5, 8, 11}) {
    std::vector<spinors<double>> x(shifts.size(), phi), alone(1, phi);
    p.inverse->solve_shifted(x, phi, shifts, {.max_steps = steps});
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      p.inverse->solve_shifted(alone, phi, {shifts[i]}, {.max_steps = steps});
      const double off = combine_norm2<double>(ranks.ctx, difference, {{1, x[i]}, {-1, alone[0]}});
      EXPECT_LT(off, 1e-24 * norm2(ranks.ctx, alone[0])) << "shift " << shifts[i] << ", " << steps << " steps";
    }
  }
}

TEST(solver, of_shifted_equations_reports_stagnation_and_exhausted_steps) {
  rank_context ranks(single_rank());
  problem p(ranks, {1, 1, 1, 1}, 0, 16);
  spinors<double> phi(p.M->layout(), sites::odd);
  gaussian(phi, 5);
  std::vector<spinors<double>> x(2, phi);
  EXPECT_EQ(p.inverse->solve_shifted(x, phi, {0, 1}, {.residual = 1e-18, .max_steps = 10000}).reason,
            stop_reason::stalled);
  const auto result = p.inverse->solve_shifted(x, phi, {0, 1}, {.max_steps = 5});
  EXPECT_EQ(result.reason, stop_reason::out_of_steps);
  EXPECT_GT(result.residual, 1e-5);
  EXPECT_THROW(p.inverse->solve_shifted(x, phi, {0, -1}), input_error);
  EXPECT_THROW(p.inverse->solve_shifted(x, phi, {0, 1}, {.residual = 0}), input_error);
  combine<double>(ranks.ctx, phi, {{0, phi}});
  EXPECT_EQ(p.inverse->solve_shifted(x, phi, {0, 1}).steps, 0);
  EXPECT_EQ(norm2(ranks.ctx, x[1]), 0);
}

TEST(solver, has_the_same_bits_on_any_grid_with_any_lanes_and_workers) {
  rank_context single(single_rank());
  for (const auto& [method, steps, lanes, workers] : {std::tuple(solver_method::cg, precision::in_single, 1, 1),
                                                      std::tuple(solver_method::bicgstab, precision::in_half, 16, 2)}) {
    const solver_options options{.method = method, .steps = steps, .residual = 1e-9};
    problem one(single, {1, 1, 1, 1}, 0, 1);
    const auto expected = one.inverse->solve(*one.psi, *one.eta, options);
    rank_context ranks(world(), "fiber", workers);
    for (const auto& grid : grids(extents)) {
      problem p(ranks, grid, world().rank(), lanes);
      const auto result = p.inverse->solve(*p.psi, *p.eta, options);
      EXPECT_EQ(result.steps, expected.steps);
      EXPECT_EQ(result.residual, expected.residual);
      int different = 0;
      for_each_site(*p.M->layout(), [&](const coordinates& x, site_layout::location at) {
        const auto there = one.M->layout()->locate(x + p.M->layout()->lattice().origin());
        for (int i = 0; i < 12; ++i) {
          const auto a = p.psi->get(at, i), b = one.psi->get(there, i);
          different += std::memcmp(&a, &b, sizeof a) != 0;
        }
      });
      EXPECT_EQ(different, 0) << to_string(grid) << ", " << lanes << " lanes, " << workers << " workers";
    }
  }
}

TEST(solver, has_the_same_bits_with_shifts_on_any_grid) {
  const auto residual = [](problem&& of) {
    spinors<double> phi(of.M->layout(), sites::odd);
    gaussian(phi, 5);
    std::vector<spinors<double>> x(2, phi);
    return of.inverse->solve_shifted(x, phi, {0, 0.5}).residual;
  };
  rank_context single(single_rank()), ranks(world(), "fiber", 2);
  const double expected = residual(problem(single, {1, 1, 1, 1}, 0, 1));
  for (const auto& grid : grids(extents)) EXPECT_EQ(residual(problem(ranks, grid, world().rank(), 16)), expected);
}

}  // namespace
}  // namespace plaq::lqcd

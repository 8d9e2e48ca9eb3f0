// Runs on any number of ranks.
#include <gtest/gtest.h>

#include <cstring>

#include "job.hpp"
#include "plaq/base/error.hpp"
#include "plaq/lqcd/random_fields.hpp"
#include "plaq/lqcd/solver.hpp"

namespace plaq::lqcd {
namespace {

using ending = solver_result::ending;
using method = solver_options::method_kind;

const coordinates extents{8, 4, 4, 4};
const wilson_parameters heavy{.kappa = 0.14, .mu = 0.1, .theta = {1, 0, 0, 0}};

struct problem {
  problem(job& with, const coordinates& grid, int rank, int lanes, const wilson_parameters& p = heavy,
          bool rough = true)
      : gauge(std::make_shared<layout>(lattice(extents, grid, rank), std::min(lanes, widest<double>()))) {
    rough ? hot_start(gauge, 3) : cold_start(gauge);
    M.emplace(with.by, gauge, p);
    eta.emplace(M->where());
    psi.emplace(M->where());
    gaussian(*eta, 4);
  }
  links<double> gauge;
  std::optional<solver> M;
  std::optional<spinors<double>> eta, psi;
};

TEST(solver, finds_what_was_asked_for_and_says_the_residual_that_is_left) {
  job with(alone());
  for (const auto kind : {method::cg, method::bicgstab})
    for (const auto steps : {precision::in_double, precision::in_single, precision::in_half})
      for (const double residual : {1e-5, 1e-13}) {
        problem p(with, {1, 1, 1, 1}, 0, 16);
        const auto found = p.M->solve(*p.psi, *p.eta, {.method = kind, .steps = steps, .residual = residual});
        EXPECT_EQ(found.end, ending::converged) << found.in_words();
        spinors<double> left(p.M->where());
        p.M->matrix().apply(left, *p.psi);
        const double still = combine_norm2<double>(with.by, left, {{1, *p.eta}, {-1, left}}) / norm2(with.by, *p.eta);
        EXPECT_DOUBLE_EQ(found.residual, std::sqrt(still));
        EXPECT_LT(found.residual, 1.01 * residual);
        EXPECT_GT(found.residual, 1e-4 * residual);
      }
}

TEST(solver, in_single_and_half_precision_needs_hardly_more_steps) {
  job with(alone());
  problem p(with, {1, 1, 1, 1}, 0, 16);
  const auto steps = [&](precision in) { return p.M->solve(*p.psi, *p.eta, {.steps = in, .residual = 1e-12}).steps; };
  const int in_double = steps(precision::in_double);
  EXPECT_LT(steps(precision::in_single), 1.2 * in_double);
  EXPECT_LT(steps(precision::in_half), 1.2 * in_double);
}

TEST(solver, takes_sources_of_any_size) {
  job with(alone());
  for (const double size : {1e-100, 1e100}) {
    problem p(with, {1, 1, 1, 1}, 0, 16);
    combine<double>(with.by, *p.eta, {{size, *p.eta}});
    EXPECT_EQ(p.M->solve(*p.psi, *p.eta).end, ending::converged);
  }
  problem p(with, {1, 1, 1, 1}, 0, 16);
  combine<double>(with.by, *p.eta, {{0, *p.eta}});
  EXPECT_EQ(p.M->solve(*p.psi, *p.eta).steps, 0);
  EXPECT_EQ(norm2(with.by, *p.psi), 0);
}

TEST(solver, says_when_it_stands_still_or_runs_out) {
  job with(alone());
  problem p(with, {1, 1, 1, 1}, 0, 16);
  EXPECT_EQ(p.M->solve(*p.psi, *p.eta, {.residual = 1e-18}).end, ending::stalled);
  EXPECT_EQ(p.M->solve(*p.psi, *p.eta, {.most_steps = 5}).end, ending::out_of_steps);
  EXPECT_THROW(p.M->solve(*p.psi, *p.eta, {.residual = 0}), input_error);
  // At the critical kappa of free fields a constant spinor is taken to zero.
  problem singular(with, {1, 1, 1, 1}, 0, 16, {.kappa = 0.125}, false);
  const auto found = singular.M->solve(*singular.psi, *singular.eta, {.most_steps = 2000});
  EXPECT_NE(found.end, ending::converged) << found.in_words();
  EXPECT_GT(found.residual, 1e-4);
}

TEST(solver, of_shifted_equations_finds_them_all) {
  job with(alone());
  problem p(with, {1, 1, 1, 1}, 0, 16);
  spinors<double> phi(p.M->where(), sites::odd), left(phi), Mx(phi);
  gaussian(phi, 5);
  const std::vector<double> shifts{0.3, 0.0, 1e-3, 20.0, 0.02};
  std::vector<spinors<double>> x(shifts.size(), phi);
  const auto found = p.M->solve_shifted(x, phi, shifts, {.residual = 1e-12});
  EXPECT_EQ(found.end, ending::converged) << found.in_words();
  double worst = 0;
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    p.M->matrix().apply_odd(Mx, x[i]);
    p.M->matrix().apply_odd(left, Mx, true);
    const double off = combine_norm2<double>(with.by, left, {{1, phi}, {-1, left}, {-shifts[i], x[i]}});
    worst = std::max(worst, std::sqrt(off / norm2(with.by, phi)));
  }
  EXPECT_DOUBLE_EQ(found.residual, worst);
  EXPECT_LT(worst, 2e-12);
  // The steps are those of the smallest shift.
  spinors<double> alone_x(phi);
  const auto single =
      p.M->solve_normal(alone_x, phi, 0, {.steps = precision::in_double, .residual = 1e-12, .update = 1e-12});
  EXPECT_NEAR(found.steps, single.steps, 2);
  EXPECT_LT(combine_norm2<double>(with.by, left, {{1, alone_x}, {-1, x[1]}}), 1e-20 * norm2(with.by, x[1]));
}

TEST(solver, of_shifted_equations_says_when_it_stands_still_or_runs_out) {
  job with(alone());
  problem p(with, {1, 1, 1, 1}, 0, 16);
  spinors<double> phi(p.M->where(), sites::odd);
  gaussian(phi, 5);
  std::vector<spinors<double>> x(2, phi);
  EXPECT_EQ(p.M->solve_shifted(x, phi, {0, 1}, {.residual = 1e-18, .most_steps = 10000}).end, ending::stalled);
  const auto found = p.M->solve_shifted(x, phi, {0, 1}, {.most_steps = 5});
  EXPECT_EQ(found.end, ending::out_of_steps);
  EXPECT_GT(found.residual, 1e-5);
  EXPECT_THROW(p.M->solve_shifted(x, phi, {0, -1}), input_error);
  EXPECT_THROW(p.M->solve_shifted(x, phi, {0, 1}, {.residual = 0}), input_error);
  combine<double>(with.by, phi, {{0, phi}});
  EXPECT_EQ(p.M->solve_shifted(x, phi, {0, 1}).steps, 0);
  EXPECT_EQ(norm2(with.by, x[1]), 0);
}

TEST(solver, has_the_same_bits_on_any_grid_with_any_lanes_and_workers) {
  job own(alone());
  for (const auto& [kind, steps, lanes, workers] :
       {std::tuple(method::cg, precision::in_single, 1, 1), std::tuple(method::bicgstab, precision::in_half, 16, 2)}) {
    const solver_options how{.method = kind, .steps = steps, .residual = 1e-9};
    problem one(own, {1, 1, 1, 1}, 0, 1);
    const auto expected = one.M->solve(*one.psi, *one.eta, how);
    job with(world(), "fiber", workers);
    for (const auto& grid : grids(extents)) {
      problem p(with, grid, world().rank(), lanes);
      const auto found = p.M->solve(*p.psi, *p.eta, how);
      EXPECT_EQ(found.steps, expected.steps);
      EXPECT_EQ(found.residual, expected.residual);
      int different = 0;
      each_site(*p.M->where(), [&](const coordinates& x, layout::place at) {
        const auto there = one.M->where()->where(x + p.M->where()->on().origin());
        for (int i = 0; i < 12; ++i) {
          const auto a = p.psi->get(at, i), b = one.psi->get(there, i);
          different += std::memcmp(&a, &b, sizeof a) != 0;
        }
      });
      EXPECT_EQ(different, 0) << in_words(grid) << ", " << lanes << " lanes, " << workers << " workers";
    }
  }
}

TEST(solver, has_the_same_bits_with_shifts_on_any_grid) {
  const auto residual = [](problem&& of) {
    spinors<double> phi(of.M->where(), sites::odd);
    gaussian(phi, 5);
    std::vector<spinors<double>> x(2, phi);
    return of.M->solve_shifted(x, phi, {0, 0.5}).residual;
  };
  job own(alone()), with(world(), "fiber", 2);
  const double expected = residual(problem(own, {1, 1, 1, 1}, 0, 1));
  for (const auto& grid : grids(extents)) EXPECT_EQ(residual(problem(with, grid, world().rank(), 16)), expected);
}

}  // namespace
}  // namespace plaq::lqcd

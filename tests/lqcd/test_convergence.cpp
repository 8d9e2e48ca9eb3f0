// Solves that can converge do: many sources, residuals, precisions and operators on small lattices near the critical
// kappa and beyond it, where residuals fall slowly.
#include <gtest/gtest.h>

#include <cmath>

#include "plaq/lqcd/dirac/doublet.hpp"
#include "plaq/lqcd/gauge/gauge.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/solver/solver.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

using stop_reason = solver_result::stop_reason;

const double residuals[] = {1e-5, 1.2e-9, 1e-9, 9e-10, 5e-10, 1e-10};
const precision precisions[] = {precision::in_double, precision::in_single, precision::in_half};

/// Quenched field after some sweeps.
struct rough_field {
  rank_context ranks{single_rank()};
  links<double> gauge;
  explicit rough_field(const coordinates& extents = {4, 4, 4, 4})
      : gauge(std::make_shared<site_layout>(lattice(extents), max_lanes<double>())) {
    hot_start(gauge, 3);
    ranks.ctx.workers.run("updates", [&] {
      for (std::uint32_t sweep = 0; sweep < 10; ++sweep) heat_bath(ranks.ctx, gauge, {5.7}, {1, 0, sweep});
    });
  }
};

class of_quarks : public testing::TestWithParam<wilson_parameters> {};

TEST_P(of_quarks, every_solve_converges) {
  rough_field background;
  wilson<double> M(background.ranks.ctx, background.gauge, GetParam(), background.gauge.shared_layout());
  solver inverse(M);
  spinors<double> eta(M.layout()), psi(eta);
  for (std::uint32_t source = 0; source < 4; ++source) {
    gaussian(eta, 7, source);
    for (const auto steps : precisions)
      for (const double residual : residuals) {
        const auto result = inverse.solve(psi, eta, {.steps = steps, .residual = residual, .max_steps = 20000});
        EXPECT_EQ(result.reason, stop_reason::converged)
            << "source " << source << " to " << residual << ": " << result.to_string();
        EXPECT_LE(result.residual, residual);
        EXPECT_GT(result.residual, 0.05 * residual);
      }
  }
}

TEST_P(of_quarks, every_normal_equation_is_solved) {
  rough_field background;
  wilson<double> M(background.ranks.ctx, background.gauge, GetParam(), background.gauge.shared_layout());
  solver inverse(M);
  spinors<double> phi(M.layout(), sites::odd), x(phi);
  for (std::uint32_t source = 0; source < 3; ++source) {
    gaussian(phi, 8, source);
    for (const auto steps : precisions)
      for (const double residual : residuals) {
        const auto result =
            inverse.solve_normal(x, phi, 0.01, {.steps = steps, .residual = residual, .max_steps = 20000});
        EXPECT_EQ(result.reason, stop_reason::converged)
            << "source " << source << " to " << residual << ": " << result.to_string();
        EXPECT_LE(result.residual, residual);
      }
  }
}

TEST_P(of_quarks, every_shifted_equation_is_solved) {
  rough_field background;
  wilson<double> M(background.ranks.ctx, background.gauge, GetParam(), background.gauge.shared_layout());
  solver inverse(M);
  spinors<double> phi(M.layout(), sites::odd);
  std::vector<spinors<double>> x(3, phi);
  for (std::uint32_t source = 0; source < 3; ++source) {
    gaussian(phi, 9, source);
    for (const double residual : residuals) {
      const auto result = inverse.solve_shifted(x, phi, {0.3, 1e-6, 0.004}, {.residual = residual, .max_steps = 20000});
      EXPECT_EQ(result.reason, stop_reason::converged)
          << "source " << source << " to " << residual << ": " << result.to_string();
      EXPECT_LE(result.residual, residual);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(near_and_beyond_critical, of_quarks,
                         testing::Values(wilson_parameters{.kappa = 0.168, .theta = {1, 0, 0, 0}},
                                         wilson_parameters{.kappa = 0.25, .theta = {1, 0, 0, 0}},
                                         wilson_parameters{.kappa = 0.155, .theta = {1, 0, 0, 0}, .csw = 1.3},
                                         wilson_parameters{.kappa = 0.18, .mu = 0.01, .theta = {1, 0, 0.5, 0}}),
                         [](const auto& p) {
                           const auto& of = p.param;
                           return of.csw ? "clover" : of.mu ? "twisted" : of.kappa > 0.2 ? "beyond" : "near";
                         });

TEST(convergence, of_a_doublet) {
  rough_field background;
  const auto layout = background.gauge.shared_layout();
  const spinors<double> zero(layout);
  flavours<double> eta{zero, zero}, psi(eta);
  for (const auto& p : {doublet_parameters{.kappa = 0.168, .mu = 0.05, .epsilon = 0.045, .theta = {1, 0, 0, 0}},
                        doublet_parameters{.kappa = 0.25, .mu = 0.01, .epsilon = 0.1}}) {
    doublet<double> M(background.ranks.ctx, background.gauge, p, layout);
    solver inverse(M);
    for (std::uint32_t source = 0; source < 4; ++source) {
      gaussian(eta.up, 7, 2 * source), gaussian(eta.down, 7, 2 * source + 1);
      for (const double residual : residuals) {
        const auto result = inverse.solve(psi, eta, {.residual = residual, .max_steps = 20000});
        EXPECT_EQ(result.reason, stop_reason::converged)
            << "source " << source << " to " << residual << ": " << result.to_string();
        EXPECT_LE(result.residual, residual);
      }
    }
  }
}

TEST(convergence, of_bicgstab_and_multigrid) {
  rough_field background({8, 4, 4, 4});
  for (const auto& p : {wilson_parameters{.kappa = 0.16, .theta = {1, 0, 0, 0}},
                        wilson_parameters{.kappa = 0.145, .mu = 0.02, .theta = {1, 0, 0, 0}, .csw = 1.3}}) {
    wilson<double> M(background.ranks.ctx, background.gauge, p, background.gauge.shared_layout());
    solver inverse(M);
    spinors<double> eta(M.layout()), psi(eta);
    for (std::uint32_t source = 0; source < 4; ++source) {
      gaussian(eta, 7, source);
      for (const double residual : residuals)
        for (const auto& [method, steps] : {std::pair(solver_method::bicgstab, precision::in_double),
                                            std::pair(solver_method::bicgstab, precision::in_single),
                                            std::pair(solver_method::bicgstab, precision::in_half),
                                            std::pair(solver_method::multigrid, precision::in_single)}) {
          const auto result =
              inverse.solve(psi, eta, {.method = method, .steps = steps, .residual = residual, .max_steps = 20000});
          EXPECT_EQ(result.reason, stop_reason::converged)
              << "source " << source << " to " << residual << ": " << result.to_string();
          EXPECT_LE(result.residual, residual);
        }
    }
  }
}

}  // namespace
}  // namespace plaq::lqcd

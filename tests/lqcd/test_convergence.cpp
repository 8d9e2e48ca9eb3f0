// A solve that can converge does: many sources, residuals, precisions and matrices on small lattices near the critical
// kappa and beyond it, where residuals fall slowly.
#include <gtest/gtest.h>

#include <cmath>

#include "job.hpp"
#include "plaq/lqcd/doublet.hpp"
#include "plaq/lqcd/gauge.hpp"
#include "plaq/lqcd/random_fields.hpp"
#include "plaq/lqcd/solver.hpp"

namespace plaq::lqcd {
namespace {

using ending = solver_result::ending;
using method = solver_options::method_kind;

const double residuals[] = {1e-5, 1.2e-9, 1e-9, 9e-10, 5e-10, 1e-10};
const precision precisions[] = {precision::in_double, precision::in_single, precision::in_half};

/// A quenched field after some sweeps.
struct rough_field {
  job with{alone()};
  links<double> gauge;
  explicit rough_field(const coordinates& extents = {4, 4, 4, 4})
      : gauge(std::make_shared<layout>(lattice(extents), widest<double>())) {
    hot_start(gauge, 3);
    with.by.hands.inside("updates", [&] {
      for (std::uint32_t sweep = 0; sweep < 10; ++sweep) heat_bath(with.by, gauge, {5.7}, {1, 0, sweep});
    });
  }
};

class of_quarks : public testing::TestWithParam<wilson_parameters> {};

TEST_P(of_quarks, every_solve_converges) {
  rough_field on;
  solver M(on.with.by, on.gauge, GetParam());
  spinors<double> eta(M.where()), psi(eta);
  for (std::uint32_t source = 0; source < 4; ++source) {
    gaussian(eta, 7, source);
    for (const auto steps : precisions)
      for (const double residual : residuals) {
        const auto found = M.solve(psi, eta, {.steps = steps, .residual = residual, .most_steps = 20000});
        EXPECT_EQ(found.end, ending::converged)
            << "source " << source << " to " << residual << ": " << found.in_words();
        EXPECT_LE(found.residual, residual);
        EXPECT_GT(found.residual, 0.05 * residual);
      }
  }
}

TEST_P(of_quarks, every_normal_equation_is_solved) {
  rough_field on;
  solver M(on.with.by, on.gauge, GetParam());
  spinors<double> phi(M.where(), sites::odd), x(phi);
  for (std::uint32_t source = 0; source < 3; ++source) {
    gaussian(phi, 8, source);
    for (const auto steps : precisions)
      for (const double residual : residuals) {
        const auto found = M.solve_normal(x, phi, 0.01, {.steps = steps, .residual = residual, .most_steps = 20000});
        EXPECT_EQ(found.end, ending::converged)
            << "source " << source << " to " << residual << ": " << found.in_words();
        EXPECT_LE(found.residual, residual);
      }
  }
}

TEST_P(of_quarks, every_shifted_equation_is_solved) {
  rough_field on;
  solver M(on.with.by, on.gauge, GetParam());
  spinors<double> phi(M.where(), sites::odd);
  std::vector<spinors<double>> x(3, phi);
  for (std::uint32_t source = 0; source < 3; ++source) {
    gaussian(phi, 9, source);
    for (const double residual : residuals) {
      const auto found = M.solve_shifted(x, phi, {0.3, 1e-6, 0.004}, {.residual = residual, .most_steps = 20000});
      EXPECT_EQ(found.end, ending::converged) << "source " << source << " to " << residual << ": " << found.in_words();
      EXPECT_LE(found.residual, residual);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(near_and_beyond_critical, of_quarks,
                         testing::Values(wilson_parameters{.kappa = 0.168, .theta = {1, 0, 0, 0}},
                                         wilson_parameters{.kappa = 0.25, .theta = {1, 0, 0, 0}},
                                         wilson_parameters{.kappa = 0.155, .theta = {1, 0, 0, 0}, .csw = 1.3},
                                         wilson_parameters{.kappa = 0.18, .mu = 0.01, .theta = {1, 0, 0.5, 0}}));

TEST(convergence, of_a_doublet) {
  rough_field on;
  const auto where = on.gauge.shared_layout();
  const spinors<double> zero(where);
  flavours<double> eta{zero, zero}, psi(eta);
  for (const auto& p : {doublet_parameters{.kappa = 0.168, .mu = 0.05, .epsilon = 0.045, .theta = {1, 0, 0, 0}},
                        doublet_parameters{.kappa = 0.25, .mu = 0.01, .epsilon = 0.1}}) {
    doublet<double> M(on.with.by, on.gauge, p, where);
    for (std::uint32_t source = 0; source < 4; ++source) {
      gaussian(eta.up, 7, 2 * source), gaussian(eta.down, 7, 2 * source + 1);
      for (const double residual : residuals) {
        const auto found = M.solve(psi, eta, {.residual = residual, .most_steps = 20000});
        EXPECT_EQ(found.end, ending::converged)
            << "source " << source << " to " << residual << ": " << found.in_words();
        EXPECT_LE(found.residual, residual);
      }
    }
  }
}

TEST(convergence, of_methods_for_the_matrix_itself) {
  rough_field on({8, 4, 4, 4});
  for (const auto& p : {wilson_parameters{.kappa = 0.16, .theta = {1, 0, 0, 0}},
                        wilson_parameters{.kappa = 0.145, .mu = 0.02, .theta = {1, 0, 0, 0}, .csw = 1.3}}) {
    solver M(on.with.by, on.gauge, p);
    spinors<double> eta(M.where()), psi(eta);
    for (std::uint32_t source = 0; source < 4; ++source) {
      gaussian(eta, 7, source);
      for (const double residual : residuals)
        for (const auto& [kind, steps] :
             {std::pair(method::bicgstab, precision::in_double), std::pair(method::bicgstab, precision::in_single),
              std::pair(method::bicgstab, precision::in_half), std::pair(method::multigrid, precision::in_single)}) {
          const auto found =
              M.solve(psi, eta, {.method = kind, .steps = steps, .residual = residual, .most_steps = 20000});
          EXPECT_EQ(found.end, ending::converged)
              << "source " << source << " to " << residual << ": " << found.in_words();
          EXPECT_LE(found.residual, residual);
        }
    }
  }
}

}  // namespace
}  // namespace plaq::lqcd

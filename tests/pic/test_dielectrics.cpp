// Dielectrics: charge on their surface, ranks, checkpoints.
#include <gtest/gtest.h>

#include "plaq/pic/poisson/surface.hpp"
#include "whole.hpp"

namespace plaq::pic::test {
namespace {

/// Box between conducting sides in x with a block of permittivity 5, and electrons that fly at it.
plan with_block(int dimensions) {
  plan p = between(periodic(dimensions, 2, 12, 2), 0, field_boundary::conducting, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.electrostatic = true;
  for (int k = 0; k < p.cells[2]; ++k)
    for (int j = 0; j < p.cells[1]; ++j)
      for (int i = 0; i < p.cells[0]; ++i)
        p.permittivity.push_back(i >= 5 && i < 8 && (dimensions < 2 || (j >= 3 && j < 9)) ? 5 : 1);
  return p;
}

TEST(dielectrics, keep_the_charge_of_what_they_absorb) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (const double thermal : {0.3, 3.0}) {  // within a cell in a step, and farther
      plan p = with_block(dimensions);
      p.dt = thermal > 1 ? 0.4 : 0.1;
      const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
        fill(s, {.per_cell = 6, .thermal = thermal, .density = [](const double* x) { return x[0] < 0.9; }});
        s.start();
        return s.advance(15, true);
      });
      ASSERT_EQ(result.errors, std::vector<std::string>{""});
      double absorbed = 0;
      for (std::size_t row = 0; row < 15; ++row) {
        EXPECT_LT(at(result, p, row, record::gauss(p)), 1e-11) << dimensions << " " << row;
        absorbed += at(result, p, row, record::at(0, record::absorbed_weight));
      }
      EXPECT_GT(absorbed, 0.01) << dimensions << thermal;
    }
}

// A particle at a place of the surface leaves its charge there: the first moments of the charge are exact.
TEST(dielectrics, have_charge_where_particles_entered) {
  for (const double dt : {0.1, 1.5}) {
    plan p = with_block(2);
    p.order = 1, p.dt = dt, p.species_list[0].charge = 0.5;
    const double h = 0.2, y = 1.13, v = 0.8, slope = 0.25;
    const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
      const double ux = v / std::sqrt(1 - v * v * (1 + slope * slope));
      for (const int patch : s.local_patches())
        if (patch == 0)
          s.load(
              patch, 0,
              {std::vector{0.9, y}, std::vector{1e-9}, std::vector{ux, slope * ux, 0.0}, std::vector(3, 0.0), false});
      s.start();
      auto rows = s.advance(6, true);
      s.compute_charge();
      std::vector<double> moments(4);
      for (const int patch : s.local_patches()) {
        const auto rho = s.field(patch, "rho");
        const patch_grid m = s.mesh(patch);
        for (int j = 0, n = 0; j < m.cells[1]; ++j)
          for (int i = 0; i < m.cells[0]; ++i, ++n) {
            const double q = rho[std::size_t(n)] * m.volume() / 0.5e-9;
            moments[0] += q, moments[1] += q * (m.first[0] + i) * h, moments[2] += q * (m.first[1] + j) * h;
            moments[3] += std::abs(q) * (m.first[0] + i != 5);
          }
      }
      rows.insert(rows.end(), moments.begin(), moments.end());
      return rows;
    });
    ASSERT_EQ(result.errors, std::vector<std::string>{""});
    const double* moments = result.rows.data() + 6 * record::length(p);
    EXPECT_NEAR(moments[0], 1, 1e-12) << dt;
    EXPECT_NEAR(moments[1], 1.0, 1e-12) << dt;
    EXPECT_NEAR(moments[2], y + 0.1 * slope, 1e-9) << dt;
    EXPECT_LT(moments[3], 1e-12) << dt;
  }
}

TEST(dielectrics, results_do_not_depend_on_ranks_and_checkpoints) {
  for (const int dimensions : {1, 2})
    same_on_any_ranks(with_block(dimensions), [](plasma& s) {
      fill(s, {.per_cell = 6, .thermal = 0.8});
      s.start();
    });
}

TEST(dielectrics, matrices_of_surfaces_are_solved) {
  const std::size_t n = 7;
  std::vector<double> a(n * n), x(n), b(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = drawn(1, i);
    for (std::size_t k = 0; k < n; ++k) a[i * n + k] = i == 0 && k == 0 ? 0 : drawn(2, i * n + k);
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k) b[i] += a[i * n + k] * x[k];
  dense_factors(a, n).solve(b);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(b[i], x[i], 1e-12);
  EXPECT_THROW(dense_factors(std::vector<double>(4), 2), runtime_failure);
}

}  // namespace
}  // namespace plaq::pic::test

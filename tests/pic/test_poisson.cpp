// Poisson's equation, and plasmas without light.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "plaq/base/error.hpp"
#include "plaq/pic/poisson.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

/// phi at a node of the box, around it where it is periodic.
double phi_at(const plan& p, const std::vector<double>& phi, point at) {
  const point nodes = nodes_of(p);
  for (int d = 0; d < p.dimensions; ++d)
    if (p.periodic(d)) at[d] = (at[d] + p.cells[d]) % p.cells[d];
  return phi[std::size_t(at[0] + nodes[0] * (at[1] + nodes[1] * at[2]))];
}

// For any charge, sides and number of cells: the second differences of phi are -rho, but for the mean.
TEST(poisson, solves_its_equation) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int bounded = 0; bounded < 1 << dimensions; ++bounded) {
      plan p = periodic(dimensions, 1, 7, 1);
      p.electrostatic = true;
      for (int d = 0; d < dimensions; ++d)
        if (bounded >> d & 1) {
          p = between(p, d, border::conducting, wall::absorbed, wall::absorbed);
          p.potentials[std::size_t(d)] = {0.3, -0.7};
        }
      p.check();
      std::vector<double> rho(std::size_t(p.cells[0] * p.cells[1] * p.cells[2]));
      double mean = 0;
      for (std::size_t i = 0; i < rho.size(); ++i) mean += (rho[i] = drawn(9, i)) / double(rho.size());
      if (bounded) mean = 0;
      const auto phi = poisson(p).solve(rho);
      point at;
      for (at[2] = 0; at[2] < p.cells[2]; ++at[2])
        for (at[1] = 0; at[1] < p.cells[1]; ++at[1])
          for (at[0] = 0; at[0] < p.cells[0]; ++at[0]) {
            double sum = 0;
            bool on_wall = false;
            for (int d = 0; d < dimensions; ++d) {
              point before = at, after = at;
              --before[d], ++after[d];
              if (!p.periodic(d) && at[d] == 0) {
                on_wall = true;
                continue;
              }
              sum += (2 * phi_at(p, phi, at) - phi_at(p, phi, before) - phi_at(p, phi, after)) / (0.2 * 0.2);
            }
            if (on_wall) continue;
            EXPECT_NEAR(sum, rho[std::size_t(at[0] + p.cells[0] * (at[1] + p.cells[1] * at[2]))] - mean, 1e-12)
                << dimensions << " " << bounded;
          }
      if (bounded == 1 && dimensions < 3) {
        point low{}, high{};
        high[0] = p.cells[0];
        EXPECT_EQ(phi_at(p, phi, low), 0.3);
        EXPECT_EQ(phi_at(p, phi, high), -0.7);
      }
    }
}

// E = V / d between empty plates, in every patch.
TEST(poisson, field_between_plates) {
  plan p = between(periodic(2, 2, 12, 2), 0, border::conducting, wall::absorbed, wall::absorbed);
  p.electrostatic = true, p.potentials[0] = {0.5, -0.7};
  const run found = on(2, p, {.pool = {.workers = 1}}, [](plasma& s) {
    s.start();
    for (const int patch : s.local()) {
      for (const double e : s.field(patch, "ex")) EXPECT_NEAR(e, 1.2 / 2.4, 1e-13);
      for (const double e : s.field(patch, "ey")) EXPECT_NEAR(e, 0, 1e-13);
    }
    return std::vector<double>();
  });
  EXPECT_EQ(found.said, std::vector<std::string>(2));
}

TEST(poisson, gauss_holds_and_ranks_do_not_matter) {
  for (const bool bounded : {false, true}) {
    plan p = periodic(2, 2, 10, 2);
    if (bounded) p = between(p, 1, border::conducting, wall::absorbed, wall::reflected);
    p.electrostatic = true;
    p.kinds.push_back({"ions", 1, 25, pusher::boris});
    const auto body = [](plasma& s) {
      fill(s, {.per_cell = 4, .thermal = 0.3});
      s.start();
      return s.advance(15, true);
    };
    const run one = on(1, p, {.pool = {.workers = 1}}, body), three = on(3, p, {.pool = {.workers = 1}}, body);
    ASSERT_EQ(one.said, std::vector<std::string>{""});
    EXPECT_TRUE(same(one, three));
    for (std::size_t row = 0; row < 15; ++row) {
      EXPECT_LT(at(one, p, row, record::gauss(p)), 1e-12);
      EXPECT_GT(at(one, p, row, record::energies), 0);
      EXPECT_EQ(at(one, p, row, record::energies + 3), 0);
    }
  }
}

// A start without Gauss's law: unequal charges, and E as Poisson's equation gives it; then div E = rho but for the mean.
TEST(poisson, gives_a_start_its_field) {
  plan p = periodic(2, 1, 9, 3);
  const run found = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    fill(s, {.per_cell = 3});
    s.solve_poisson();
    s.charge();
    double most = 0;
    for (const int patch : s.local()) {
      const auto rho = s.field(patch, "rho"), ex = s.field(patch, "ex"), ey = s.field(patch, "ey");
      const block m = s.mesh(patch);
      for (int j = 1; j < m.cells[1]; ++j)
        for (int i = 1; i < m.cells[0]; ++i) {
          const auto n = std::size_t(i + m.cells[0] * j), row = std::size_t(m.cells[0]);
          most = std::max(most, std::abs((ex[n] - ex[n - 1] + ey[n] - ey[n - row]) / 0.2 - rho[n] - 1));
        }
    }
    EXPECT_LT(most, 1e-12);
    return std::vector<double>();
  });
  EXPECT_EQ(found.said, std::vector<std::string>{""});
}

// Bohm and Gross: w^2 = w_p^2 + 3 k^2 v^2, here for cold electrons: the period of the energy is pi.
TEST(poisson, electrostatic_plasma_frequency) {
  plan p = periodic(1, 2, 32, 2);
  p.electrostatic = true, p.lengths[0] = 2 * std::numbers::pi, p.dt = 0.1;
  const run found = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    fill(s, {.per_cell = 8, .even = true,
             .drift = [](std::size_t, const double* x) { return std::array{0.01 * std::sin(x[0]), 0.0, 0.0}; }, .thermal = 0});
    s.start();
    return s.advance(int(20 * std::numbers::pi / p.dt), false);
  });
  // E ~ sin t: what its energy has in common with cos 2 t' is largest at t' = t.
  double c = 0, s = 0;
  const std::size_t n = rows_of(found, p), half = n / 2;
  const auto phase = [&](std::size_t from) {
    c = s = 0;
    for (std::size_t row = from; row < from + half; ++row) {
      const double t = at(found, p, row, record::time), e = at(found, p, row, record::energies);
      c += e * std::cos(2 * t), s += e * std::sin(2 * t);
    }
    return std::atan2(s, c);
  };
  const double drift = std::remainder(phase(half) - phase(0), 2 * std::numbers::pi);
  EXPECT_LT(std::abs(drift / (2 * double(half) * p.dt)), 0.005);  // of the frequency
  EXPECT_GT(std::hypot(c, s), 1e-8);
}

TEST(poisson, needs_conductors_for_potentials) {
  plan p = between(periodic(1, 1), 0, border::conducting, wall::absorbed, wall::absorbed);
  p.potentials[0][1] = 1;
  EXPECT_THROW(p.check(), input_error);
  p.electrostatic = true;
  p.dt = 10;  // no light, no Courant limit
  p.check();
  p.borders[0] = {border::absorbing, border::absorbing};
  EXPECT_THROW(p.check(), input_error);
}

}  // namespace
}  // namespace plaq::pic

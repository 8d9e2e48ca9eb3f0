// Plasmas of z and r: charge of rings, Poisson's equation, motion about the axis.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "plaq/base/error.hpp"
#include "plaq/pic/fields/cylinder.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/particles/rings.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

plan cylinder(int order, bool periodic_z = true, int patches = 2) {
  plan p = periodic(2, order, 12, patches);
  p.cylinder = p.electrostatic = true, p.dt = 0.3;
  if (!periodic_z)
    p = between(p, 0, field_boundary::conducting, particle_boundary::absorbed, particle_boundary::reflected);
  p.field_boundaries[1] = {field_boundary::axis, field_boundary::conducting};
  p.particle_boundaries[1] = {particle_boundary::axis, particle_boundary::reflected};
  return p;
}
double ring(const double* x) { return 2 * std::numbers::pi * x[1]; }

// A uniform density, integrated exactly over each cell by Gauss's rule, is that of each node, on the axis too.
TEST(cylinder, nodes_have_the_density_of_a_uniform_plasma) {
  const std::array<double, 4> point{0.8611363115940526, 0.3399810435848563, -0.3399810435848563, -0.8611363115940526},
      weight{0.3478548451374538, 0.6521451548625461, 0.6521451548625461, 0.3478548451374538};
  for (int order = 1; order <= 3; ++order) {
    const plan p = cylinder(order, true, 1);
    const patch_grid m(p, {});
    particles<double> all;
    for (int j = 0; j < m.cells[1]; ++j)
      for (int i = 1; i < 8; ++i)
        for (std::size_t a = 0; a < 8; ++a)
          for (std::size_t b = 0; b < 8; ++b) {  // half a cell each, between whose ends shapes are polynomials
            const double z = 0.25 * (1 + point[a % 4]) + 0.5 * double(a / 4),
                         r = 0.25 * (1 + point[b % 4]) + 0.5 * double(b / 4);
            all.cell[0].push_back(i), all.cell[1].push_back(j), all.x[0].push_back(z), all.x[1].push_back(r);
            const double ring = 2 * std::numbers::pi * m.radius(j + r);
            all.w.push_back(weight[a % 4] * weight[b % 4] / 16 * m.volume() * ring);
          }
    for (auto& u : all.u) u.assign(all.size(), 0);
    fields<double> f(m);
    deposit_charge(m, order, f, all, 1);
    divide_by_rings(m, f);
    for (int j = 0; j < m.cells[1] - 2; ++j)
      EXPECT_NEAR(f.rho[std::size_t(m.index({4, j, 0}))], 1, 1e-13) << order << " " << j;
  }
}

// E of the charge obeys Gauss's law of rings in every step, for all sides, with a conductor, on any ranks and patches.
TEST(cylinder, gauss_law_holds_and_bits_do_not_depend_on_ranks) {
  for (int order = 1; order <= 3; ++order)
    for (int periodic_z = 0; periodic_z < 2; ++periodic_z) {
      plan p = cylinder(order, periodic_z == 1);
      p.potentials[1][1] = 0.3;
      if (periodic_z == 0) p.potentials[0] = {0.2, -0.1};
      std::vector<std::int64_t> nodes;
      for (int j = 0; j < 3; ++j)
        for (int i = 5; i < 8; ++i) nodes.push_back(number_of_node(p, {i, j, 0}));
      p.conductors = {{nodes, -0.4}};
      p.check();
      const auto body = [&](plasma& s) {
        fill(s, {.per_cell = 5, .thermal = 0.4, .density = ring});
        s.start();
        auto rows = s.advance(4, true);
        for (const int patch : s.local_patches()) {
          const patch_grid m = s.mesh(patch);
          const auto phi = s.field(patch, "phi");
          for (int j = 0; j < m.cells[1]; ++j)
            for (int i = 0; i < m.cells[0]; ++i) {
              const double value = phi[std::size_t(i + m.cells[0] * j)];
              const int z = m.first[0] + i, r = m.first[1] + j;
              if (order == 1 && z >= 5 && z < 8 && r < 3) {  // shapes of higher orders reach into it
                EXPECT_NEAR(value, -0.4, 1e-11);
              }
              if (!periodic_z && z == 0) {
                EXPECT_EQ(value, 0.2);
              }
            }
        }
        return rows;
      };
      const run one = on(1, p, {.pool = {.workers = 1}}, body);
      EXPECT_EQ(one.errors, std::vector<std::string>(1));
      for (std::size_t row = 0; row < rows_of(one, p); ++row) EXPECT_LT(at(one, p, row, record::gauss(p)), 1e-11);
      if (order == 1) {
        EXPECT_TRUE(same(one, on(3, p, {.pool = {.workers = 2}}, body)));
      }
    }
}

// The currents of rings keep Gauss's law to rounding: paths through the axis, to every kind of wall, to a conductor and
// from a plate; on any ranks the bits are the same.
TEST(cylinder, currents_keep_gauss_law) {
  for (int order = 1; order <= 3; ++order)
    for (const auto side : {field_boundary::periodic, field_boundary::conducting, field_boundary::absorbing}) {
      plan p = cylinder(order, true);
      p.electrostatic = false, p.layer = 3, p.wall_temperature = 0.1;
      if (side != field_boundary::periodic)
        p = between(p, 0, side, particle_boundary::absorbed, particle_boundary::thermal);
      p.patches = {2, 2, 1};
      p.dt = 0.9 * p.courant();
      p.conductors = {{block(p, {5, 0, 0}, {8, 3, 1}), 0}};
      emitter plate{.centre = {1.1, 1.3, 0}, .half_width = 0.3, .weight = 0.02, .temperature = 0.01};
      plate.set_flux({1});
      if (order != 2) p.emitters = {plate};
      p.check();
      const auto body = [&](plasma& s) {
        fill(s, {.per_cell = 5, .thermal = 0.6, .density = ring});
        s.start();
        return s.advance(12, true);
      };
      const run one = on(1, p, {.pool = {.workers = 1}}, body);
      EXPECT_EQ(one.errors, std::vector<std::string>(1));
      for (std::size_t row = 0; row < rows_of(one, p); ++row)
        EXPECT_LT(at(one, p, row, record::gauss(p)), 1e-11) << order << " " << int(side);
      EXPECT_TRUE(same(one, on(3, p, {.pool = {.workers = 2}}, body)));
    }
}

// Free particles move on straight lines in space, through many cells and patches and past the axis, and are reflected
// as by a round mirror: angular momentum and energy stay.
TEST(cylinder, particles_move_on_straight_lines) {
  plan p = cylinder(1);
  p.species_list = {{"test", -1, 1, pusher::boris, false, true, true}};
  p.patches = {2, 3, 1};
  const double radius = p.lengths[1];
  struct start {
    double z, r;
    std::array<double, 3> u;
  };
  std::vector<start> starts;
  for (std::uint64_t n = 0; n < 60; ++n)
    starts.push_back({p.lengths[0] * 0.5 * (1 + drawn(20, n)),
                      radius * 0.5 * (1 + drawn(21, n)),
                      {2 * drawn(22, n), 2 * drawn(23, n), n % 5 ? 2 * drawn(24, n) : 0}});
  starts.push_back({0.1, 0, {0, 0.2, 0}});
  for (const double dt : {0.02, 0.3, 1.1})
    for (const bool single : {false, true}) {
      p.dt = dt;
      const int steps = 5;
      const double rounding = single ? 2e-5 : 1e-11;
      const run result = on(2, p, {.pool = {.workers = 1}, .single = single}, [&](plasma& s) {
        for (std::size_t n = 0; n < starts.size(); ++n)
          for (const int patch : s.local_patches()) {
            const patch_grid m = s.mesh(patch);
            const std::array<double, 2> x{starts[n].z, starts[n].r};
            bool here = true;
            for (int d = 0; d < 2; ++d) {
              const int cell = int(x[std::size_t(d)] / m.spacing[d]) - m.first[d];
              here = here && cell >= 0 && cell < m.cells[d];
            }
            const std::vector<double> zero(3), w{double(n + 1)};
            if (here) s.load(patch, 0, {x, w, starts[n].u, zero, false});
          }
        s.start();
        const auto rows = s.advance(steps, false);
        for (const int patch : s.local_patches()) {
          const particle_view view = s.particles(patch, 0);
          for (std::size_t i = 0; i < view.w.size(); ++i) {
            const start& from = starts[std::size_t(view.w[i]) - 1];
            const double *x = &view.x[2 * i], *u = &view.u[3 * i];
            const double u2 = from.u[0] * from.u[0] + from.u[1] * from.u[1] + from.u[2] * from.u[2];
            EXPECT_NEAR(u[0] * u[0] + u[1] * u[1] + u[2] * u[2], u2, rounding * u2);
            EXPECT_NEAR(x[1] * u[2], from.r * from.u[2], 4 * rounding);
            const double t = steps * dt / std::sqrt(1 + u2), along = from.r + from.u[1] * t, across = from.u[2] * t;
            const double exact = std::hypot(along, across), z = from.z + from.u[0] * t;
            EXPECT_NEAR(std::remainder(x[0] - z, p.lengths[0]), 0, 4 * rounding);
            EXPECT_LE(x[1], radius * (1 + rounding));
            if (exact < radius) {
              EXPECT_NEAR(x[1], exact, 8 * rounding) << view.w[i] << " " << dt;
            }
          }
        }
        return rows;
      });
      EXPECT_EQ(result.errors, std::vector<std::string>(2));
      EXPECT_EQ(at(result, p, steps - 1, record::at(0, record::number)), double(starts.size()));
    }
}

// A turn and its inverse, at the axis too.
TEST(cylinder, turns_can_be_undone) {
  for (const double r : {0.0, 0.3, 2.0})
    for (const double along : {0.0, -0.3, 0.7})
      for (const double across : {0.0, 0.4}) {
        const auto by = turn_of<double>(r, along, across);
        EXPECT_NEAR(r + by.change, std::hypot(r + along, across), 1e-15);
        double a = 0.3, b = -0.9;
        by.apply(a, b);
        by.undo(a, b);
        EXPECT_NEAR(a, 0.3, 1e-15);
        EXPECT_NEAR(b, -0.9, 1e-15);
      }
}

TEST(cylinder, what_it_has_not_is_refused) {
  const auto refused = [](auto change, const std::string& words) {
    plan p = cylinder(1);
    change(p);
    expect_refused(p, words);
  };
  refused([](plan& p) { p.field_boundaries[1][1] = field_boundary::absorbing, p.layer = 3; },
          "the outer side of a cylinder conducts");
  refused([](plan& p) { p.curl = stencil::cowan; }, "a cylinder has Yee's stencil only");
  refused([](plan& p) { p.antennas.resize(1); }, "antenna 1: an electrostatic solver has no light waves");
  refused([](plan& p) { p.electrostatic = false, p.dt = 0.2; }, " of its modes");
  refused([](plan& p) { p.filter_passes = 1; }, "filter_passes = 1: 0 in a cylinder");
  refused([](plan& p) { p.field_boundaries[1][0] = field_boundary::conducting; },
          "the low side of r: an axis is the low side of r in a cylinder");
  refused([](plan& p) { p.field_boundaries[0] = {field_boundary::axis, field_boundary::axis}; }, "the low side of z");
  refused([](plan& p) { p.potentials[1][0] = 1; }, "potential of the low side of r = 1");
  refused([](plan& p) { p.permittivity.assign(std::size_t(p.cells[0]) * std::size_t(p.cells[1]), 2); },
          "a cylinder has no dielectrics");
  refused([](plan& p) { p.resamplings = {{.name = "s", .species = 0, .splits = true, .count = 9}}; },
          "resampling s: a cylinder has merging only");
}

}  // namespace
}  // namespace plaq::pic

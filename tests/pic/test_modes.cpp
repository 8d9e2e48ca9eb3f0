// Azimuthal modes of a cylinder: cavities, forces, charge of each mode.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <tuple>

#include "plaq/base/error.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

plan cavity(int cells, int modes) {
  plan p;
  p.dimensions = 2, p.cylinder = true, p.modes = modes;
  p.cells = {cells, cells, 1}, p.lengths = {2, 2, 1}, p.patches = {2, 2, 1};
  p.field_boundaries = {{{field_boundary::conducting, field_boundary::conducting},
                         {field_boundary::axis, field_boundary::conducting},
                         {}}};
  p.particle_boundaries = {{{particle_boundary::absorbed, particle_boundary::thermal},
                            {particle_boundary::axis, particle_boundary::reflected},
                            {}}};
  p.wall_temperature = 0.1, p.dt = 0.9 * p.courant(), p.seed = 5;
  return p;
}

/// Sets E of a part of the modes to values(component, z, r); B is 0.
template <class Values>
void set_e(plasma& s, int part, Values values) {
  for (const int patch : s.local_patches()) {
    const patch_grid m = s.mesh(patch);
    std::vector<double> e, zero(3 * own_cells(m).size());
    for (int c = 0; c < 3; ++c)
      for (int j = 0; j < m.cells[1]; ++j)
        for (int i = 0; i < m.cells[0]; ++i)
          e.push_back(values(c, (m.first[0] + i + (c == 0) * 0.5) * m.spacing[0],
                             (m.first[1] + j + (c == 1) * 0.5) * m.spacing[1]));
    s.set_fields(patch, e, zero, part);
  }
}

/// Returns the frequency of a part's component, ex for E_z and ey for E_r, at a cell of the patch 0, by its changes of
/// sign.
double frequency(const plan& p, int part, const char* name, point at, const std::function<void(plasma&)>& begin) {
  double first = 0, last = 0;
  int count = 0;
  const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    begin(s);
    s.start();
    const auto value = [&] { return s.field(0, name, part)[std::size_t(at[0] + s.mesh(0).cells[0] * at[1])]; };
    double before = value();
    std::vector<double> rows;
    for (double t = 0; t < 30; t += p.dt) {
      rows = s.advance(1, true);
      const double now = value();
      if ((now > 0) != (before > 0)) {
        last = t + p.dt * before / (before - now);
        if (count++ == 0) first = last;
      }
      before = now;
    }
    return rows;
  });
  EXPECT_EQ(result.errors, std::vector<std::string>(1));
  EXPECT_LT(result.rows.back(), 1e-12);
  return std::numbers::pi * (count - 1) / (last - first);
}

// omega^2 = k^2 + (pi p / L)^2, k R the zeros of J_m (TM) and J_m' (TE); errors of the second order in the cells.
TEST(modes, ring_in_a_cavity) {
  const double radius = 2, along = std::numbers::pi / 2;
  for (const auto& [m, zero, electric] :
       {std::tuple(1, 3.8317059702075125, true), std::tuple(2, 5.135622301840683, true),
        std::tuple(1, 1.8411837813406593, false), std::tuple(2, 3.0542369282271404, false)}) {
    const double k = zero / radius, exact = electric ? k : std::hypot(k, along);
    const auto bessel = [&](double r) { return std::cyl_bessel_j(double(m), k * r); };
    const auto slope = [&](double r) {
      return std::cyl_bessel_j(m - 1.0, k * r) - (r > 0 ? m / (k * r) * bessel(r) : m == 1 ? 0.5 : 0.0);
    };
    double error[2];
    for (int n = 0; n < 2; ++n) {
      const int part = 2 * m - 1;  // the factor of the cosine; that of the sine follows
      const double found = frequency(
          cavity(12 << n, m + 1), electric ? part : part + 1, electric ? "ex" : "ey", {3 << n, 2 << n, 0},
          [&](plasma& s) {
            if (electric) return set_e(s, part, [&](int c, double, double r) { return c == 0 ? bessel(r) : 0; });
            // curl of J_m(k r) cos(m theta) sin(pi z / L) along z
            set_e(s, part, [&](int c, double z, double r) { return c == 2 ? -k * slope(r) * std::sin(along * z) : 0; });
            set_e(s, part + 1,
                  [&](int c, double z, double r) { return c == 1 ? -m / r * bessel(r) * std::sin(along * z) : 0; });
          });
      error[n] = found / exact - 1;
    }
    EXPECT_LT(std::abs(error[1]), 3e-3) << m << " " << electric;
    EXPECT_NEAR(error[0] / error[1], 4, 0.6) << m << " " << electric;
  }
}

// A uniform field across, E_x, is E_r = E_x cos(theta), E_theta = -E_x sin(theta). Far from the walls electrons at any
// azimuth, on the axis too, get u_x = -E_x t alone.
TEST(modes, a_uniform_field_across_has_no_axis) {
  for (int order = 1; order <= 3; ++order) {
    plan p = cavity(24, 3);
    p.order = order, p.species_list = {{"test", -1, 1, pusher::boris, false, true, true}};
    p.patches = {1, 1, 1};
    p.dt = 0.02;
    const double size = 0.3;
    const int steps = 5;  // so that the walls are too far away
    on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
      fill(s, {.per_cell = 4, .thermal = 0.5});
      set_e(s, 1, [&](int c, double, double) { return c == 1 ? size : 0; });
      set_e(s, 2, [&](int c, double, double) { return c == 2 ? -size : 0; });
      const auto before = s.particles(0, 0);
      s.start();
      const auto rows = s.advance(steps, false);
      const auto after = s.particles(0, 0);
      const auto across = [](const particle_view& view, std::size_t i) {
        const double *u = &view.u[3 * i], *at = &view.azimuth[2 * i];
        return std::array{u[1] * at[0] - u[2] * at[1], u[1] * at[1] + u[2] * at[0]};
      };
      // Particles change their order: by their momenta along z, which stay.
      std::map<double, std::size_t> place;
      for (std::size_t i = 0; i < before.w.size(); ++i) place[before.u[3 * i]] = i;
      int compared = 0;
      for (std::size_t i = 0; i < after.w.size(); ++i) {
        const double z = after.x[2 * i], r = after.x[2 * i + 1];
        if (z < 0.7 || z > 1.3 || r > 1.2) continue;
        const auto from = place.lower_bound(after.u[3 * i] - 1e-10);
        const auto old = across(before, from->second), now = across(after, i);
        EXPECT_NEAR(now[0] - old[0], -size * (steps - 0.5) * p.dt, 1e-11);
        EXPECT_NEAR(now[1] - old[1], 0, 1e-11);
        ++compared;
      }
      EXPECT_GT(compared, 300);
      return rows;
    });
  }
}

// Gauss's law holds in each mode to rounding, with any sides and orders, near the axis and in single precision, too;
// bits do not depend on ranks.
TEST(modes, currents_keep_gauss_law) {
  for (int order = 1; order <= 3; ++order)
    for (const auto side : {field_boundary::periodic, field_boundary::conducting, field_boundary::absorbing}) {
      plan p = cavity(12, 4);
      p.order = order, p.layer = 3, p.species_list = {{"electrons", -1, 1, pusher::boris}};
      p.field_boundaries[0] = {side, side};
      if (side == field_boundary::periodic)
        p.particle_boundaries[0] = {particle_boundary::periodic, particle_boundary::periodic};
      p.conductors = {{block(p, {4, 2, 0}, {7, 5, 1}), 0}};
      p.check();
      const auto body = [&](plasma& s) {
        fill(s,
             {.per_cell = 5, .thermal = 0.6, .density = [](const double* x) { return 2 * std::numbers::pi * x[1]; }});
        s.start();
        return s.advance(12, true);
      };
      for (const bool single : {false, true}) {
        const run one = on(1, p, {.pool = {.workers = 1}, .single = single}, body);
        EXPECT_EQ(one.errors, std::vector<std::string>(1));
        for (std::size_t row = 0; row < rows_of(one, p); ++row)
          EXPECT_LT(at(one, p, row, record::gauss(p)), single ? 2e-2 : 1e-11) << order << " " << int(side);
        EXPECT_TRUE(same(one, on(3, p, {.pool = {.workers = 2}, .single = single}, body)));
      }
    }
}

TEST(modes, what_they_have_not_is_refused) {
  const auto refused = [](auto change, const std::string& words) {
    plan p = cavity(12, 2);
    change(p);
    expect_refused(p, words);
  };
  refused([](plan& p) { p.modes = 0; }, "modes = 0: from 1 to 16");
  refused([](plan& p) { p.electrostatic = true; }, "modes = 2: 1 but in a cylinder with Maxwell's equations");
  refused([](plan& p) { p.at_nodes = true; }, "means at the nodes");
  refused([](plan& p) { p.resamplings = {{.name = "s", .species = 0, .count = 9}}; }, "are of the mode 0 alone");
}

}  // namespace
}  // namespace plaq::pic

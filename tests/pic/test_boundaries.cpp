// Sides of the box: conductors, absorbing layers, particle boundaries.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "plaq/pic/fields/field_boundaries.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/processes/particle_boundaries.hpp"
#include "plaq/pic/reference.hpp"
#include "plaq/pic/step.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

plan closed(int dimensions, field_boundary b, particle_boundary w, int cells = 8, int patches = 1) {
  plan p = periodic(dimensions, 2, cells, patches);
  p.wall_temperature = 0.25;
  for (int d = 0; d < dimensions; ++d) p = between(p, d, b, w, w);
  return p;
}

TEST(walls, guard_cells_behind_conductors_are_images) {
  const plan p = closed(2, field_boundary::conducting, particle_boundary::absorbed);
  const patch_grid m(p, {});
  fields<double> f(m);
  fill(f, 1);
  const auto before = f;
  mirror_fields(m, box_sides(p, {}), f);
  const auto value = [&](const std::vector<double>& x, int i, int j) { return x[std::size_t(m.index({i, j, 0}))]; };
  const int n = m.cells[0];
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(value(f.e[0], -1 - k, 3), value(before.e[0], k, 3));
    EXPECT_EQ(value(f.e[0], n + k, 3), value(before.e[0], n - 1 - k, 3));
    EXPECT_EQ(value(f.e[2], -1 - k, 3), -value(before.e[2], 1 + k, 3));
    EXPECT_EQ(value(f.e[2], n + 1 + k, 3), -value(before.e[2], n - 1 - k, 3));
    EXPECT_EQ(value(f.b[2], -1 - k, 3), value(before.b[2], k, 3));
    EXPECT_EQ(value(f.b[0], -1 - k, 3), 2 * value(before.b[0], 0, 3) - value(before.b[0], 1 + k, 3));
  }
  for (int j = 0; j < m.cells[1]; ++j) {
    EXPECT_EQ(value(f.e[1], 0, j), 0);
    EXPECT_EQ(value(f.e[2], n, j), 0);
  }
  EXPECT_EQ(value(f.e[2], -2, -1), value(before.e[2], 2, 1));  // image of an image in the corner
}

// Between conductors on all sides the nodes before the walls and the walls have all of the charge, corners included.
TEST(walls, hold_the_charge_that_the_nodes_before_them_have_not) {
  for (const int dimensions : {1, 2, 3})
    for (const int order : {1, 2, 3}) {
      plan p = closed(dimensions, field_boundary::conducting, particle_boundary::absorbed);
      p.order = order;
      const patch_grid m(p, {});
      fields<double> f(m);
      const auto all = some_particles<double>(m, 200);
      deposit_charge(m, order, f, all, 3);
      const auto walls = box_sides(p, {});
      const auto held = charge_on_walls(m, walls, f);
      fold_image_charge(m, walls, f);
      double sum = std::accumulate(held.begin(), held.end(), 0.0), given = 0;
      region inner = own_cells(m);
      for (int d = 0; d < dimensions; ++d) inner.low[d] = 1;
      for_each_row(m, inner, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
        for (std::ptrdiff_t i = at; i < at + n; ++i) sum += f.rho[std::size_t(i)] * m.volume();
      });
      for (const double w : all.w) given += 3 * w;
      EXPECT_NEAR(sum, given, 1e-12 * given) << dimensions << " " << order;
    }
}

TEST(walls, images_of_charges_cancel_on_the_wall) {
  const plan p = closed(1, field_boundary::conducting, particle_boundary::absorbed);
  const patch_grid m(p, {});
  for (const double at : {0.0, 8.0}) {
    fields<double> f(m);
    particles<double> single;
    single.cell[0] = {at > 0 ? 7 : 0}, single.x[0] = {at > 0 ? 1.0 : 0.0}, single.w = {1};
    for (auto& u : single.u) u = {0};
    deposit_charge(m, p.order, f, single, 1);
    fold_image_charge(m, box_sides(p, {}), f);
    for (int i = 1; i < 8; ++i) EXPECT_NEAR(f.rho[std::size_t(m.index({i, 0, 0}))], 0, 1e-15) << at << " " << i;
  }
}

/// Runs one particle without charge, which moves on a straight line; returns it at the end.
particle_view after(plan p, std::vector<double> x, const std::array<double, 3>& u, int steps, run* rest = nullptr) {
  p.species_list[0].charge = 0;
  particle_view out;
  const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    std::vector<double> drift(u.begin(), u.end()), thermal(3), w{2};
    s.load(0, 0, {x, w, drift, thermal, false});
    s.start();
    auto rows = s.advance(steps, false);
    for (const int patch : s.local_patches())
      if (auto view = s.particles(patch, 0); !view.w.empty()) out = view;
    return rows;
  });
  EXPECT_EQ(result.errors, std::vector<std::string>{""});
  if (rest) *rest = result;
  return out;
}

TEST(walls, reflected_particles_come_back) {
  const plan p = closed(2, field_boundary::conducting, particle_boundary::reflected);
  const std::array<double, 3> u{-0.6, 0.9, 0.1};
  const double g = std::sqrt(1 + 0.36 + 0.81 + 0.01);
  const int steps = 60;
  const particle_view end = after(p, {0.5, 0.7}, u, steps);
  for (std::size_t d = 0; d < 2; ++d) {
    // Unfolded: a box of twice the length that is mirrored.
    const double length = p.lengths[d], start = d == 0 ? 0.5 : 0.7;
    double x = std::fmod(start + u[d] / g * steps * p.dt, 2 * length);
    if (x < 0) x += 2 * length;
    const bool reversed = x > length;
    EXPECT_NEAR(end.x[d], reversed ? 2 * length - x : x, 1e-12);
    EXPECT_NEAR(end.u[d], reversed ? -u[d] : u[d], 1e-14);
  }
  EXPECT_EQ(end.u[2], u[2]);
}

TEST(walls, particles_that_leave_are_counted_by_side) {
  const plan p = closed(2, field_boundary::conducting, particle_boundary::absorbed);
  for (int side = 0; side < 4; ++side) {
    std::array<double, 3> u{};
    u[std::size_t(side / 2)] = side % 2 ? 5 : -5;
    run rest;
    EXPECT_TRUE(after(p, {0.8, 0.8}, u, 30, &rest).w.empty());
    for (int other = 0; other < 6; ++other) {
      double left = 0;
      for (std::size_t row = 0; row < 30; ++row)
        left += at(rest, p, row, record::at(0, record::left) + std::size_t(other));
      EXPECT_EQ(left, other == side ? 1 : 0);
    }
  }
}

// Flux of a wall: <u_n^2> = 2 T/m (a Rayleigh distribution), <u_t^2> = T/m; 4 standard errors of 4000.
TEST(walls, thermal_walls_emit_their_temperature) {
  const plan p = closed(1, field_boundary::conducting, particle_boundary::thermal);
  patch<double> self(p, {});
  self.row.assign(record::length(p), 0);
  double normal = 0, along = 0, mean = 0;
  const int n = 4000;
  for (int i = 0; i < n; ++i) {
    self.species[0] = {};
    auto& all = self.species[0];
    all.cell[0] = {0}, all.x[0] = {1e-3}, all.w = {1};
    all.u[0] = {-3}, all.u[1] = {0}, all.u[2] = {0};
    double part = 1;
    ASSERT_EQ(apply_particle_boundaries(p, self, 0, 0, std::uint64_t(i), part), path_end::completed);
    EXPECT_GT(all.u[0][0], 0);
    EXPECT_GE(all.cell[0][0] + all.x[0][0], 0);
    normal += all.u[0][0] * all.u[0][0] / n, along += all.u[1][0] * all.u[1][0] / n, mean += all.u[2][0] / n;
  }
  EXPECT_NEAR(normal, 0.5, 4 * 0.5 / std::sqrt(n));
  EXPECT_NEAR(along, 0.25, 4 * 0.25 * std::sqrt(2.0 / n));
  EXPECT_NEAR(mean, 0, 4 * 0.5 / std::sqrt(n));
}

// A standing wave between two plates keeps its energy, and has the frequency of the mesh's k = pi / L.
TEST(walls, a_cavity_rings) {
  plan p = closed(1, field_boundary::conducting, particle_boundary::absorbed, 16, 4);
  p.dt = 0.9 * p.courant();
  const double k = std::numbers::pi / p.lengths[0], dx = p.spacing(0);
  const double w = 2 / p.dt * std::asin(p.dt / dx * std::sin(k * dx / 2));
  const int steps = 400;
  std::vector<double> end(16);
  const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    for (const int patch : s.local_patches()) {
      const patch_grid m = s.mesh(patch);
      std::vector<double> e(3 * std::size_t(m.cells[0])), b(e.size());
      for (int i = 0; i < m.cells[0]; ++i) e[std::size_t(m.cells[0] + i)] = std::sin(k * (m.first[0] + i) * dx);
      s.set_fields(patch, e, b);
    }
    s.start();
    auto rows = s.advance(steps, false);
    for (const int patch : s.local_patches()) {
      const auto ey = s.field(patch, "ey");
      std::ranges::copy(ey, end.begin() + s.mesh(patch).first[0]);
    }
    return rows;
  });
  for (int i = 0; i < 16; ++i)
    EXPECT_NEAR(end[std::size_t(i)], std::sin(k * i * dx) * std::cos(w * steps * p.dt), 1e-11);
}

/// Runs so many steps from E_z = of(cell) and B = 0.
run run_light(const plan& p, int steps, const std::function<double(const point&)>& of) {
  run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    for (const int patch : s.local_patches()) {
      const patch_grid m = s.mesh(patch);
      const std::size_t n = own_cells(m).size();
      std::vector<double> e(3 * n), zero(3 * n);
      std::size_t at = 2 * n;
      for (int j = 0; j < m.cells[1]; ++j)
        for (int i = 0; i < m.cells[0]; ++i) e[at++] = of({m.first[0] + i, m.first[1] + j, 0});
      s.set_fields(patch, e, zero);
    }
    s.start();
    return s.advance(steps, false);
  });
  EXPECT_EQ(result.errors, std::vector<std::string>{""});
  return result;
}
/// Returns the field energy in a row.
double light(const run& of, const plan& p, std::size_t row) {
  double sum = 0;
  for (std::size_t c = 0; c < 6; ++c) sum += at(of, p, row, record::energies + c);
  return sum;
}

/// Returns the part of a pulse's energy that remains after it has met the layers at all sides. In two dimensions it
/// arrives at all angles, and at patches that have a part of the layer.
double remaining_energy(int dimensions, field_boundary b) {
  plan p = periodic(dimensions, 1, dimensions == 1 ? 120 : 48, dimensions == 1 ? 5 : 3);
  for (int d = 0; d < dimensions; ++d) p.cells[d] = p.cells[0], p.lengths[d] = 0.2 * p.cells[d];
  for (int d = 0; d < dimensions; ++d) p = between(p, d, b, particle_boundary::absorbed, particle_boundary::absorbed);
  p.layer = 10, p.dt = 0.7 * p.courant();
  const run result = run_light(p, int(2.5 * p.lengths[0] / p.dt), [&](const point& cell) {
    double r2 = 0;
    for (int d = 0; d < dimensions; ++d) {
      const double x = (cell[d] + 0.1) * 0.2 - p.lengths[d] / 2;
      r2 += x * x;
    }
    return (1 - 4.0 / dimensions * r2) * std::exp(-2 * r2);  // the mean is 0, since it would not travel
  });
  return light(result, p, rows_of(result, p) - 1) / light(result, p, 0);
}
TEST(walls, absorbing_layers_absorb_a_pulse) {
  EXPECT_LT(remaining_energy(1, field_boundary::absorbing), 1e-8);
  EXPECT_LT(remaining_energy(2, field_boundary::absorbing), 1e-6);
  EXPECT_GT(remaining_energy(1, field_boundary::conducting), 0.9);
}

/// Returns the part of a pulse's energy that layers in x reflect: `wave` cells a wavelength, at an angle with x, with
/// a period of `across` cells (0: one dimension).
double reflected_energy(double wave, int layer, double degrees, int across, stencil curl) {
  const double angle = degrees * std::numbers::pi / 180, k = 2 * std::numbers::pi / wave;
  const int dimensions = across ? 2 : 1, cells = int(20 * wave);
  plan p = periodic(dimensions, 1, cells, 1);
  p.species_list.clear(), p.cells[0] = cells, p.curl = curl, p.patches[0] = 4;
  if (across) p.cells[1] = across;
  for (int d = 0; d < dimensions; ++d) p.lengths[d] = p.cells[d];
  p = between(p, 0, field_boundary::absorbing, particle_boundary::absorbed, particle_boundary::absorbed);
  p.layer = layer, p.dt = 0.95 * p.courant();
  const int steps = int((cells - 2 * layer) / std::cos(angle) / p.dt);
  const run result = run_light(p, steps, [&](const point& cell) {
    const double x = cell[0] - 0.5 * cells;
    return std::exp(-0.5 * x * x / (2.5 * wave * wave)) *
           std::cos(k * (x * std::cos(angle) + cell[1] * std::sin(angle)));
  });
  return light(result, p, rows_of(result, p) - 1) / light(result, p, 0);
}
TEST(walls, layers_of_ten_cells_reflect_less_than_1e_7) {
  for (const double wave : {15.0, 20.0, 32.0, 64.0})
    EXPECT_LT(reflected_energy(wave, 10, 0, 0, stencil::yee), 1e-8) << wave;
  for (const stencil curl : {stencil::yee, stencil::cowan})
    for (const double angle : {30.0, 45.0})
      EXPECT_LT(reflected_energy(24 * std::sin(angle * std::numbers::pi / 180), 10, angle, 24, curl), 1e-7) << angle;
}
// Thick layers reflect less; the thinnest still absorb most of a wave.
TEST(walls, layers_of_any_thickness_absorb) {
  EXPECT_LT(reflected_energy(16, 2, 0, 0, stencil::yee), 2e-2);
  EXPECT_LT(reflected_energy(16, 4, 0, 0, stencil::yee), 1e-3);
  EXPECT_LT(reflected_energy(16, 8, 0, 0, stencil::yee), 1e-7);
  EXPECT_LT(reflected_energy(16, 20, 0, 0, stencil::yee), 1e-10);
}

/// Returns E_z in time, four cells from a sheet of current ~ cos(k y) g(t) at half the frequency k.
std::vector<double> beside_a_sheet(int cells, int layer, int sheet) {
  plan p = between(periodic(2, 1, cells, 1), 0, field_boundary::absorbing, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.species_list.clear();
  p.cells = {cells, 60, 1}, p.lengths = {double(cells), 60, 1}, p.patches = {1, 1, 1};
  p.layer = layer, p.dt = 0.95 * p.courant();
  const double k = 2 * std::numbers::pi / 60, w = 0.5 * k;
  patch<double> self(p, {});
  self.row.resize(record::length(p));
  const auto exchange_halos = [&] {
    std::vector<halo<double>> all;
    for (const auto& to : neighbours(p, {})) all.push_back(make_halo(self, to.shift));
    for (const auto& message : all) receive(self, message);
  };
  exchange_halos(), initialise_fields(self);
  std::vector<double> out;
  for (int n = 0; n < int(360 / p.dt); ++n) {
    const double t = (n + 0.5) * p.dt, amplitude = std::sin(w * t) * std::exp(-0.5 * std::pow((t - 150) / 40, 2));
    for (int y = 0; y < 60; ++y) self.f.j[2][std::size_t(self.mesh.index({sheet, y, 0}))] = amplitude * std::cos(k * y);
    advance_fields(p, self), exchange_halos(), complete_fields(p, self);
    out.push_back(self.f.e[2][std::size_t(self.mesh.index({sheet - 4, 0, 0}))]);
  }
  return out;
}
// An evanescent field decays as exp(-x sqrt(k^2 - w^2)). A layer changes it by 0.3 %; with kappa = 1 and alpha = 0 it
// would be 20 %.
TEST(walls, layers_let_evanescent_fields_decay) {
  const auto far = beside_a_sheet(500, 10, 250), near = beside_a_sheet(60, 10, 15);
  double size = 0, largest = 0;
  for (std::size_t n = 0; n < far.size(); ++n)
    size = std::max(size, std::abs(far[n])), largest = std::max(largest, std::abs(near[n] - far[n]));
  EXPECT_GT(size, 0.1);
  EXPECT_LT(largest, 5e-3 * size);
}

// The field of a magnet is constant, through conducting sides and in the corners between them.
TEST(walls, a_uniform_magnetic_field_is_constant) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    plan p = closed(dimensions, field_boundary::conducting, particle_boundary::absorbed, 8, 2);
    const std::array<double, 3> field{0.7, -0.4, 0.5};
    const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
      for (const int patch : s.local_patches()) {
        const std::size_t n = own_cells(s.mesh(patch)).size();
        std::vector<double> zero(3 * n), b(3 * n);
        for (std::size_t c = 0; c < 3; ++c) std::fill_n(b.begin() + std::ptrdiff_t(c * n), n, field[c]);
        s.set_fields(patch, zero, b);
      }
      s.start();
      auto rows = s.advance(50, false);
      for (const int patch : s.local_patches())
        for (std::size_t c = 0; c < 3; ++c)
          for (const double x : s.field(patch, field_names()[3 + c])) EXPECT_EQ(x, field[c]) << dimensions << c;
      return rows;
    });
    EXPECT_EQ(result.errors, std::vector<std::string>{""});
    EXPECT_EQ(at(result, p, 49, record::energies), 0);
  }
}

// An electrostatic step has no limit to a path: from mirror to mirror, many times.
TEST(walls, long_paths_are_followed_from_mirror_to_mirror) {
  for (const int patches : {1, 2}) {
    plan p = closed(2, field_boundary::conducting, particle_boundary::reflected, 8, patches);
    p.electrostatic = true, p.dt = 7.3;  // 36 cells
    const std::array<double, 3> u{-0.6, 0.9, 0.1};
    const double g = std::sqrt(1 + 0.36 + 0.81 + 0.01);
    const int steps = 5;
    const particle_view end = after(p, {0.5, 0.7}, u, steps);
    ASSERT_EQ(end.w.size(), 1u);
    for (std::size_t d = 0; d < 2; ++d) {
      const double length = p.lengths[d];
      double x = std::fmod((d == 0 ? 0.5 : 0.7) + u[d] / g * steps * p.dt, 2 * length);
      if (x < 0) x += 2 * length;
      EXPECT_NEAR(end.x[d], x > length ? 2 * length - x : x, 1e-11);
      EXPECT_NEAR(end.u[d], x > length ? -u[d] : u[d], 1e-14);
    }
  }
}

}  // namespace
}  // namespace plaq::pic

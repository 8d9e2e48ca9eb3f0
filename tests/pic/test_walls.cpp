// Sides of the box: conductors, absorbing layers, and what particles meet there.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "plaq/pic/reference.hpp"
#include "plaq/pic/travel.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

plan closed(int dimensions, border b, wall w, int cells = 8, int patches = 1) {
  plan p = periodic(dimensions, 2, cells, patches);
  p.wall_temperature = 0.25;
  for (int d = 0; d < dimensions; ++d) p = between(p, d, b, w, w);
  return p;
}

TEST(walls, images_of_fields) {
  const plan p = closed(2, border::conducting, wall::absorbed);
  const block m(p, {});
  fields<double> f(m);
  fill(f, 1);
  const auto before = f;
  mirror_fields(m, walls_of(p, {}), f);
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
  EXPECT_EQ(value(f.e[2], -2, -1), value(before.e[2], 2, 1));  // in the corner twice
}

TEST(walls, images_of_charges_cancel_on_the_wall) {
  const plan p = closed(1, border::conducting, wall::absorbed);
  const block m(p, {});
  for (const double at : {0.0, 8.0}) {
    fields<double> f(m);
    particles<double> one;
    one.cell[0] = {at > 0 ? 7 : 0}, one.x[0] = {at > 0 ? 1.0 : 0.0}, one.w = {1};
    for (auto& u : one.u) u = {0};
    deposit_charge(m, p.order, f, one, 1);
    fold_charge(m, walls_of(p, {}), f);
    for (int i = 1; i < 8; ++i) EXPECT_NEAR(f.rho[std::size_t(m.index({i, 0, 0}))], 0, 1e-15) << at << " " << i;
  }
}

/// One particle in a box without charge, so that it goes straight on.
seen after(plan p, std::vector<double> x, const std::array<double, 3>& u, int steps, run* rest = nullptr) {
  p.kinds[0].charge = 0;
  seen out;
  const run found = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    std::vector<double> drift(u.begin(), u.end()), thermal(3), w{2};
    s.load(0, 0, {x, w, drift, thermal, false});
    s.start();
    auto rows = s.advance(steps, false);
    out = s.particles(0, 0);
    return rows;
  });
  EXPECT_EQ(found.said, std::vector<std::string>{""});
  if (rest) *rest = found;
  return out;
}

TEST(walls, reflected_particles_come_back) {
  const plan p = closed(2, border::conducting, wall::reflected);
  const std::array<double, 3> u{-0.6, 0.9, 0.1};
  const double g = std::sqrt(1 + 0.36 + 0.81 + 0.01);
  const int steps = 60;
  const seen end = after(p, {0.5, 0.7}, u, steps);
  for (std::size_t d = 0; d < 2; ++d) {
    // Unfolded: a box of twice the length that is mirrored.
    const double length = p.lengths[d], start = d == 0 ? 0.5 : 0.7;
    double x = std::fmod(start + u[d] / g * steps * p.dt, 2 * length);
    if (x < 0) x += 2 * length;
    const bool turned = x > length;
    EXPECT_NEAR(end.x[d], turned ? 2 * length - x : x, 1e-12);
    EXPECT_NEAR(end.u[d], turned ? -u[d] : u[d], 1e-14);
  }
  EXPECT_EQ(end.u[2], u[2]);
}

TEST(walls, what_leaves_is_counted_by_side) {
  const plan p = closed(2, border::conducting, wall::absorbed);
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
TEST(walls, thermal_walls_give_off_their_temperature) {
  const plan p = closed(1, border::conducting, wall::thermal);
  patch<double> me(p, {});
  me.now.assign(record::length(p), 0);
  double normal = 0, along = 0, mean = 0;
  const int n = 4000;
  for (int i = 0; i < n; ++i) {
    me.kinds[0] = {};
    auto& all = me.kinds[0];
    all.cell[0] = {0}, all.x[0] = {1e-3}, all.w = {1};
    all.u[0] = {-3}, all.u[1] = {0}, all.u[2] = {0};
    ASSERT_TRUE(travel(p, me, 0, 0, std::uint64_t(i)));
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
  plan p = closed(1, border::conducting, wall::absorbed, 16, 4);
  p.dt = 0.9 * p.courant();
  const double k = std::numbers::pi / p.lengths[0], dx = p.spacing(0);
  const double w = 2 / p.dt * std::asin(p.dt / dx * std::sin(k * dx / 2));
  const int steps = 400;
  std::vector<double> end(16);
  const run found = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    for (const int patch : s.local()) {
      const block m = s.mesh(patch);
      std::vector<double> e(3 * std::size_t(m.cells[0])), b(e.size());
      for (int i = 0; i < m.cells[0]; ++i) e[std::size_t(m.cells[0] + i)] = std::sin(k * (m.first[0] + i) * dx);
      s.set_fields(patch, e, b);
    }
    s.start();
    auto rows = s.advance(steps, false);
    for (const int patch : s.local()) {
      const auto ey = s.field(patch, "ey");
      std::ranges::copy(ey, end.begin() + s.mesh(patch).first[0]);
    }
    return rows;
  });
  for (int i = 0; i < 16; ++i)
    EXPECT_NEAR(end[std::size_t(i)], std::sin(k * i * dx) * std::cos(w * steps * p.dt), 1e-11);
}

// A pulse that goes into the layer at all sides: what of its energy is left when it is gone, below -60 dB. In two
// dimensions it arrives at all angles, and at patches that have a part of the layer.
double left_of_a_pulse(int dimensions, border b) {
  plan p = periodic(dimensions, 1, dimensions == 1 ? 120 : 48, dimensions == 1 ? 5 : 3);
  for (int d = 0; d < dimensions; ++d) p.cells[d] = p.cells[0], p.lengths[d] = 0.2 * p.cells[d];
  for (int d = 0; d < dimensions; ++d) p = between(p, d, b, wall::absorbed, wall::absorbed);
  p.layer = 10, p.dt = 0.7 * p.courant();
  const run found = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    for (const int patch : s.local()) {
      const block m = s.mesh(patch);
      const std::size_t n = own(m).size();
      std::vector<double> e(3 * n), zero(3 * n);
      std::size_t at = 2 * n;  // E_z
      for (int j = 0; j < m.cells[1]; ++j)
        for (int i = 0; i < m.cells[0]; ++i) {
          double r2 = 0;
          for (int d = 0; d < dimensions; ++d) {
            const double x = ((d ? j : i) + m.first[d] + 0.1) * 0.2 - p.lengths[d] / 2;
            r2 += x * x;
          }
          e[at++] = (1 - 2 * r2) * std::exp(-2 * r2);  // without a mean: in the plane that would leave a tail
        }
      s.set_fields(patch, e, zero);
    }
    s.start();
    return s.advance(int(2.5 * p.lengths[0] / p.dt), false);
  });
  EXPECT_EQ(found.said, std::vector<std::string>{""});
  const auto energy = [&](std::size_t row) {
    double sum = 0;
    for (std::size_t c = 0; c < 6; ++c) sum += at(found, p, row, record::energies + c);
    return sum;
  };
  return energy(rows_of(found, p) - 1) / energy(0);
}
TEST(walls, absorbing_layers_take_light_in) {
  EXPECT_LT(left_of_a_pulse(1, border::absorbing), 1e-6);
  EXPECT_LT(left_of_a_pulse(2, border::absorbing), 1e-6);
  EXPECT_GT(left_of_a_pulse(1, border::conducting), 0.9);
}

// A magnet's field through a conducting side stays as it is.
TEST(walls, a_uniform_field_through_the_wall_stays) {
  plan p = closed(2, border::conducting, wall::absorbed, 8, 2);
  const run found = on(1, p, {.pool = {.workers = 1}}, [](plasma& s) {
    for (const int patch : s.local()) {
      const std::size_t n = own(s.mesh(patch)).size();
      std::vector<double> zero(3 * n), b(3 * n);
      std::fill_n(b.begin(), n, 0.7);
      s.set_fields(patch, zero, b);
    }
    s.start();
    auto rows = s.advance(50, false);
    for (const int patch : s.local())
      for (const double x : s.field(patch, "bx")) EXPECT_EQ(x, 0.7);
    return rows;
  });
  EXPECT_EQ(at(found, p, 49, record::energies), 0);
}

}  // namespace
}  // namespace plaq::pic

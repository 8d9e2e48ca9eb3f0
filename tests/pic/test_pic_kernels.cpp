// Kernels of every instruction set against the reference kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plans.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/fields/field_kernels.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/reference.hpp"

namespace plaq::pic {
namespace {

using namespace test;

reference::position position_of(const patch_grid& m, const auto& p, std::size_t i) {
  reference::position at{};
  for (int d = 0; d < m.dimensions; ++d) at[d] = double(p.cell[d][i]) + double(p.x[d][i]);
  return at;
}

/// Calls test(dimensions, order) for all dimensions and orders.
template <class Test>
void for_all(Test test) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int order = 1; order <= 3; ++order) {
      SCOPED_TRACE("dimensions " + std::to_string(dimensions) + ", order " + std::to_string(order));
      test(dimensions, order);
    }
}

// Momenta after a kick in the interpolated fields: of particles alone in their cells, and of many in one cell.
template <class T>
void check_kick() {
  for_all([](int dimensions, int order) {
    const patch_grid m(periodic(dimensions, order, 6), {1, 0, 0});
    fields<T> f(m);
    fill(f, 1);
    auto p = some_particles<T>(m, dimensions == 3 ? 24 : 60);
    p.x[0][0] = 0, p.x[0][1] = 1, p.x[0][2] = T(0.5);
    for (std::size_t i = 0; i < 21; ++i)  // more than a register of them
      for (std::size_t d = 0; d < std::size_t(dimensions); ++d) p.cell[d][i] = 1;
    const auto before = p;
    kick(m, order, {.charge_per_mass = -3}, f, p, 0.7);
    const double tolerance = 100 * double(std::numeric_limits<T>::epsilon());
    for (std::size_t i = 0; i < p.size(); ++i) {
      std::array<double, 3> u, e, b;
      for (int c = 0; c < 3; ++c) {
        const auto at = position_of(m, p, i);
        u[c] = double(before.u[c][i]);
        e[c] = reference::interpolate(m, order, f.e[c], at, reference::half_of(c, false));
        b[c] = reference::interpolate(m, order, f.b[c], at, reference::half_of(c, true));
      }
      const auto expected = reference::boris(u, -3, e, b, 0.7);
      for (int c = 0; c < 3; ++c) EXPECT_NEAR(p.u[c][i], expected[c], tolerance) << i;
    }
    EXPECT_EQ(p.x, before.x);
    EXPECT_EQ(p.cell, before.cell);
  });
}
TEST(pic_kernels, kick_in_the_fields_at_the_particles) {
  check_kick<double>();
  check_kick<float>();
}

TEST(pic_kernels, splines_are_a_partition_of_one) {
  for (int order = 1; order <= 3; ++order)
    for (const double x : {0.0, 0.1, 0.5, 0.77}) {
      double sum = 0, first = 0;
      for (int i = -4; i <= 4; ++i) {
        sum += reference::spline(order, x - i);
        first += i * reference::spline(order, x - i);
      }
      EXPECT_NEAR(sum, 1, 1e-14);
      EXPECT_NEAR(first, x, 1e-14);
    }
}

/// Returns the momentum after n steps in uniform fields.
std::array<double, 3> kicked(pusher scheme, double charge_per_mass, const std::array<double, 3>& e,
                             const std::array<double, 3>& b, std::array<double, 3> u, double dt, int steps) {
  const patch_grid m(periodic(1, 1), {0, 0, 0});
  fields<double> f(m);
  particles<double> single;
  single.cell[0] = {1}, single.x[0] = {0.3}, single.w = {1};
  for (std::size_t c = 0; c < 3; ++c) {
    std::ranges::fill(f.e[c], e[c]), std::ranges::fill(f.b[c], b[c]);
    single.u[c] = {u[c]};
  }
  for (int n = 0; n < steps; ++n) kick(m, 1, {.scheme = scheme, .charge_per_mass = charge_per_mass}, f, single, dt);
  return {single.u[0][0], single.u[1][0], single.u[2][0]};
}

// Each pusher follows the exact motion in uniform fields to second order: half the step, a quarter of the error.
TEST(pic_kernels, pushers_follow_the_motion_in_uniform_fields) {
  const std::array<double, 3> e{0.3, -0.2, 0.1}, b{0.5, 0.4, -0.9}, u{0.8, -0.4, 1.2};
  const auto exact = reference::motion(u, -1.5, e, b, 1, 2000);
  for (const pusher scheme : {pusher::boris, pusher::vay, pusher::higuera_cary}) {
    const auto error = [&](int steps) {
      const auto momentum = kicked(scheme, -1.5, e, b, u, 1.0 / steps, steps);
      return std::hypot(momentum[0] - exact[0], momentum[1] - exact[1], momentum[2] - exact[2]);
    };
    const double coarse = error(16), fine = error(32);
    EXPECT_GT(coarse, 1e-7) << int(scheme);
    EXPECT_NEAR(coarse / fine, 4, 0.4) << int(scheme);
  }
}

// A magnetic field does no work; where E + v x B = 0, Vay and Higuera-Cary do not change the momentum.
TEST(pic_kernels, pushers_conserve_energy_and_drifts) {
  for (const pusher scheme : {pusher::boris, pusher::vay, pusher::higuera_cary}) {
    const auto u = kicked(scheme, 1, {}, {0, 0, 2}, {3, -1, 0.5}, 0.3, 1000);
    EXPECT_NEAR(u[0] * u[0] + u[1] * u[1], 10, 1e-10) << int(scheme);
    EXPECT_DOUBLE_EQ(u[2], 0.5);
  }
  for (const pusher scheme : {pusher::vay, pusher::higuera_cary}) {
    const auto u =
        kicked(scheme, 1, {0, 2 * 10 / std::sqrt(101.0), 0}, {0, 0, 2}, {10, 0, 0}, 0.3, 100);  // E_y = v_x B_z
    EXPECT_NEAR(u[0], 10, 1e-11) << int(scheme);
    EXPECT_NEAR(u[1], 0, 1e-11) << int(scheme);
  }
}

/// Checks d rho/dt + div J = 0 in one step of particles without fields.
template <class T>
void check_continuity(double tolerance) {
  for_all([&](int dimensions, int order) {
    plan p = periodic(dimensions, order, 8, 2);
    p.dt = 0.99 * p.courant();
    const patch_grid m(p, {0, 0, 0});
    fields<T> f(m);
    auto all = some_particles<T>(m, 200, 5);  // the fastest go nearly as far as they can
    const motion by{.charge_per_mass = 1, .charge = -1};
    deposit_charge(m, order, f, all, -1);
    const auto before = f.rho;
    double expected = 0;
    for (std::size_t i = 0; i < all.size(); ++i) expected -= double(all.w[i]) / m.volume();
    double sum = 0;
    for (const T x : before) sum += double(x);
    EXPECT_NEAR(sum, expected, tolerance * std::abs(expected));
    crossing crossed;
    const auto sums = advance(m, order, by, f, all, crossed);
    EXPECT_NEAR(sums.weight * -1 / m.volume(), expected, tolerance * std::abs(expected));
    EXPECT_FALSE(crossed.leaving.empty());
    f.rho.assign(f.rho.size(), 0);
    deposit_charge(m, order, f, all, -1);
    double largest = 0, size = 0;
    reference::for_each_cell(m, [&](const point& i) {
      for (int d = 0; d < dimensions; ++d)
        if (i[d] == -m.guard[d]) return;  // J before it is not known
      const auto at = std::size_t(m.index(i));
      const double change = (double(f.rho[at]) - double(before[at])) / m.dt;
      largest = std::max(largest, std::abs(change + reference::divergence(m, f.j, i)));
      size = std::max(size, std::abs(change));
    });
    EXPECT_GT(size, 1);
    EXPECT_LT(largest, tolerance * size);
  });
}
TEST(pic_kernels, current_conserves_charge) {
  check_continuity<double>(1e-12);
  check_continuity<float>(2e-4);
}

TEST(pic_kernels, current_is_charge_times_velocity) {
  for_all([](int dimensions, int order) {
    const patch_grid m(periodic(dimensions, order), {0, 0, 0});
    fields<double> f(m);
    auto all = some_particles<double>(m, 50);
    std::array<double, 3> expected{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      double u2 = 0;
      for (int c = 0; c < 3; ++c) u2 += all.u[c][i] * all.u[c][i];
      for (int c = 0; c < 3; ++c) expected[c] += 2 * all.w[i] * all.u[c][i] / std::sqrt(1 + u2) / m.volume();
    }
    crossing crossed;
    const auto sums = advance(m, order, {.charge_per_mass = 2, .charge = 2}, f, all, crossed);
    double kinetic = 0;
    std::array<double, 3> momentum{};
    for (std::size_t i = 0; i < all.size(); ++i) {
      double u2 = 0;
      for (int c = 0; c < 3; ++c) u2 += all.u[c][i] * all.u[c][i], momentum[c] += all.w[i] * all.u[c][i];
      kinetic += all.w[i] * (std::sqrt(1 + u2) - 1);
    }
    EXPECT_NEAR(sums.kinetic, kinetic, 1e-12 * kinetic);
    for (int c = 0; c < 3; ++c) {
      double sum = 0;
      for (const double x : f.j[c]) sum += x;
      EXPECT_NEAR(sum, expected[c], 1e-11 * (1 + std::abs(expected[c])));
      EXPECT_NEAR(sums.momentum[c], momentum[c], 1e-12 * 50);
    }
  });
}

TEST(pic_kernels, a_momentum_that_is_not_finite_is_an_error) {
  const patch_grid m(periodic(2, 1), {0, 0, 0});
  fields<double> f(m);
  auto all = some_particles<double>(m, 3);
  all.u[1][2] = std::nan("");
  crossing crossed;
  EXPECT_THROW(advance(m, 1, {.charge_per_mass = 1, .charge = 1}, f, all, crossed), runtime_failure);
}

// A plane wave on Yee's mesh has its dispersion: sin(w dt/2)/dt = sin(k dx/2)/dx along an axis.
template <class T>
void check_wave(double tolerance) {
  for (int axis = 0; axis < 3; ++axis) {
    plan p = periodic(3, 1, 8, 1);
    p.cells = {6, 6, 6}, p.cells[axis] = 16;
    for (int d = 0; d < 3; ++d) p.lengths[d] = 0.2 * p.cells[d];
    const patch_grid m(p, {0, 0, 0});
    fields<T> f(m);
    const double dx = m.spacing[axis], k = 2 * M_PI / (16 * dx),
                 w = 2 / m.dt * std::asin(m.dt / dx * std::sin(k * dx / 2));
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;  // E along a, B along b
    const auto wave = [&](double t) {
      reference::for_each_cell(m, [&](const point& i) {
        const auto at = std::size_t(m.index(i));
        f.e[a][at] = T(std::sin(k * i[axis] * dx - w * t));
        f.b[b][at] = T(std::sin(k * (i[axis] + 0.5) * dx - w * (t - m.dt / 2)));
      });
    };
    wave(0);
    const auto e = f.e;
    advance_b(m, f, m.dt);
    advance_e(m, f, m.dt);
    const auto advanced = f;
    wave(m.dt);
    const region r = own_cells(m);
    double largest = 0;
    for (int n = r.low[axis]; n < r.high[axis]; ++n) {
      point i{1, 2, 3};
      i[axis] = n;
      const auto at = std::size_t(m.index(i));
      for (int c = 0; c < 3; ++c)
        largest = std::max({largest, std::abs(double(advanced.e[c][at] - f.e[c][at])),
                            std::abs(double(advanced.b[c][at] - f.b[c][at]))});
      EXPECT_NE(advanced.e[a][at], e[a][at]);
    }
    EXPECT_LT(largest, tolerance) << axis;
  }
}
TEST(pic_kernels, light_has_the_dispersion_of_the_mesh) {
  check_wave<double>(1e-13);
  check_wave<float>(1e-6);
}

// Particles in any order, and nearly in order, as after a step.
template <class T>
void check_order(int dimensions, int n, bool nearly) {
  const patch_grid m(periodic(dimensions, 1), {1, 1, 0});
  auto all = some_particles<T>(m, n);
  if (nearly) {
    sort_by_cell(m, all);
    for (std::size_t i = 0; i < all.size(); i += 7) all.cell[0][i] = m.cells[0] - 1 - all.cell[0][i];
  }
  for (std::size_t i = 0; i < all.size(); ++i) all.w[i] = T(i);  // identifies it
  const auto before = all;
  sort_by_cell(m, all);
  std::vector<bool> visited(all.size());
  const auto key = [&](std::size_t i) {
    int k = 0;
    for (int d = dimensions - 1; d >= 0; --d) k = 1000 * k + all.cell[std::size_t(d)][i];
    return k;
  };
  ASSERT_EQ(all.size(), std::size_t(n));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto index = std::size_t(all.w[i]);
    ASSERT_FALSE(visited[index]);
    visited[index] = true;
    for (std::size_t d = 0; d < std::size_t(dimensions); ++d) {
      EXPECT_EQ(all.x[d][i], before.x[d][index]);
      EXPECT_EQ(all.cell[d][i], before.cell[d][index]);
    }
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(all.u[c][i], before.u[c][index]);
    if (i > 0) {
      EXPECT_TRUE(key(i - 1) < key(i) || (key(i - 1) == key(i) && all.w[i - 1] < all.w[i]));
    }
  }
}
TEST(pic_kernels, particles_are_sorted_by_cell) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (const int n : {0, 1, 15, 300, 3001})
      for (const bool nearly : {false, true})
        check_order<float>(dimensions, n, nearly), check_order<double>(dimensions, n, nearly);
}

// The sort swaps its memory with that of the particles.
TEST(pic_kernels, few_particles_do_not_keep_the_memory_of_many) {
  const patch_grid m(periodic(2, 1, 16, 2), {0, 0, 0});
  auto crowd = some_particles<float>(m, 100000);
  sort_by_cell(m, crowd);
  for (int i = 0; i < 3; ++i) {
    auto few = some_particles<float>(m, 100);
    sort_by_cell(m, few);
    EXPECT_LT(few.w.capacity(), 500u);
  }
  while (crowd.size() > 100) crowd.remove(crowd.size() - 1, m.dimensions);
  sort_by_cell(m, crowd), sort_by_cell(m, crowd);
  EXPECT_LT(crowd.w.capacity(), 500u);
}

}  // namespace
}  // namespace plaq::pic

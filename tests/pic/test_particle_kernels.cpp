// Particle kernels against the reference: charge, current, push and sort of particles in all dimensions, orders and
// precisions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plans.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/reference.hpp"

namespace plaq::pic {
namespace {

using namespace test;
using vector = std::array<double, 3>;

/// Calls test(dimensions, order) for all of them.
template <class Test>
void for_all_orders(Test test) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int order = 1; order <= 3; ++order) {
      SCOPED_TRACE("dimensions " + std::to_string(dimensions) + ", order " + std::to_string(order));
      test(dimensions, order);
    }
}

template <class T>
double epsilon() {
  return double(std::numeric_limits<T>::epsilon());
}

/// Adds a particle at x of a cell.
template <class T>
void add_particle(particles<T>& p, const patch_grid& m, const point& cell, const vector& x, const vector& u, double w) {
  for (std::size_t d = 0; d < std::size_t(m.dimensions); ++d)
    p.cell[d].push_back(cell[int(d)]), p.x[d].push_back(T(x[d]));
  for (std::size_t c = 0; c < 3; ++c) p.u[c].push_back(T(u[c]));
  p.w.push_back(T(w));
}

// At nodes, in the middle of a cell, at its high side, and in between.
template <class T>
void check_charge() {
  for_all_orders([](int dimensions, int order) {
    const patch_grid m(periodic(dimensions, order, 6, 1), {});
    for (const double x : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      particles<T> p;
      const point cell{2, dimensions > 1 ? 3 : 0, dimensions > 2 ? 1 : 0};
      add_particle<T>(p, m, cell, {x, 1 - x, 0.5 * x}, {}, 2);
      fields<T> f(m);
      deposit_charge(m, order, f, p, -1.5);
      reference::position at{};
      for (int d = 0; d < dimensions; ++d) at[d] = cell[d] + double(p.x[std::size_t(d)][0]);
      const auto expected = reference::charge(m, order, at, -3);
      for (std::size_t i = 0; i < m.size(); ++i)
        EXPECT_NEAR(f.rho[i], expected[i], 40 * epsilon<T>() / m.volume()) << x;
    }
  });
}
TEST(particle_kernels, charge_is_that_of_the_reference_anywhere_in_a_cell) {
  check_charge<double>();
  check_charge<float>();
}

TEST(particle_kernels, charges_of_many_particles_add_up) {
  for_all_orders([](int dimensions, int order) {
    const patch_grid m(periodic(dimensions, order, 6, 1), {});
    const auto p = some_particles<double>(m, 90);
    fields<double> all(m), single(m);
    deposit_charge(m, order, all, p, 2);
    for (std::size_t i = 0; i < p.size(); ++i) {
      particles<double> alone;
      alone.append(p, i, dimensions);
      deposit_charge(m, order, single, alone, 2);
    }
    for (std::size_t i = 0; i < m.size(); ++i) EXPECT_NEAR(all.rho[i], single.rho[i], 1e-12 / m.volume());
  });
}

/// Weights of the nodes around a position, along one dimension.
double node_weight(int order, double at, int node) { return reference::spline(order, at - node); }

/// J_c of a charge on a straight path within a step: Esirkepov (2001), eqs. (20) to (22), by sums over nodes.
std::vector<double> esirkepov(const patch_grid& m, int order, const reference::position& from,
                              const reference::position& to, double q, int c) {
  std::vector<double> j(m.size());
  const auto s = [&](int d, int i) { return node_weight(order, from[d], i); };
  const auto ds = [&](int d, int i) { return node_weight(order, to[d], i) - node_weight(order, from[d], i); };
  const bool used = c < m.dimensions;
  reference::for_each_cell(m, [&](const point& i) {
    // Mean over the step of the product of the shapes across c.
    double across = 1;
    std::vector<int> others;
    for (int d = 0; d < m.dimensions; ++d)
      if (d != c) others.push_back(d);
    if (others.size() == 1) across = s(others[0], i[others[0]]) + ds(others[0], i[others[0]]) / 2;
    if (others.size() >= 2) {
      const int a = others[0], b = others[1];
      across = s(a, i[a]) * s(b, i[b]) + ds(a, i[a]) * s(b, i[b]) / 2 + s(a, i[a]) * ds(b, i[b]) / 2 +
               ds(a, i[a]) * ds(b, i[b]) / 3;
    }
    double along;
    if (used) {
      along = 0;  // charge that has passed i_c + 1/2
      for (int n = -m.guard[c]; n <= i[c]; ++n) along -= ds(c, n);
      along *= m.spacing[std::size_t(c)] / m.dt;
    } else {
      along = (to[c] - from[c]) / m.dt;
    }
    j[std::size_t(m.index(i))] = q / m.volume() * along * across;
  });
  return j;
}

template <class T>
void check_current() {
  for_all_orders([](int dimensions, int order) {
    if (dimensions == 3 && order == 2) return;  // as long as all others
    const patch_grid m(periodic(dimensions, order, 6, 1), {});
    for (int n = 0; n < 6; ++n) {
      path<T> along{{2, dimensions > 1 ? 3 : 0, dimensions > 2 ? 2 : 0}, {}, {}};
      reference::position from{}, to{};
      for (int c = 0; c < 3; ++c) {
        along.displacement[std::size_t(c)] = T(0.95 * drawn(31 + std::uint64_t(c), std::uint64_t(n)));
        if (c < dimensions) {
          along.start[std::size_t(c)] = T(0.5 + 0.5 * drawn(41 + std::uint64_t(c), std::uint64_t(n)));
          from[c] = along.cell[c] + double(along.start[std::size_t(c)]);
        }
        to[c] = from[c] + double(along.displacement[std::size_t(c)]);
      }
      fields<T> f(m);
      deposit_path(m, order, f, along, -2);
      for (int c = 0; c < 3; ++c) {
        const auto expected = esirkepov(m, order, from, to, -2, c);
        for (std::size_t i = 0; i < m.size(); ++i)
          ASSERT_NEAR(f.j[c][i], expected[i], 200 * epsilon<T>() / (m.volume() * m.dt)) << n << " " << c;
      }
    }
  });
}
TEST(particle_kernels, current_of_a_path_is_that_of_esirkepov) {
  check_current<double>();
  check_current<float>();
}

TEST(particle_kernels, a_path_of_no_length_has_no_current) {
  for_all_orders([](int dimensions, int order) {
    const patch_grid m(periodic(dimensions, order), {0, 0, 0});
    fields<double> f(m);
    deposit_path(m, order, f, path<double>{{2, 0, 0}, {0.3, 0.4, 0.5}, {}}, 1);
    for (const auto& component : f.j)
      for (const double j : component) EXPECT_NEAR(j, 0, 1e-14);
  });
}

/// Reference momentum after a kick of the scheme, in double.
vector reference_kick(pusher scheme, vector u, double charge_per_mass, const vector& e, const vector& b, double dt) {
  if (scheme == pusher::boris) return reference::boris(u, charge_per_mass, e, b, dt);
  const auto cross = [](const vector& p, const vector& q) {
    return vector{p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]};
  };
  const auto dot = [](const vector& p, const vector& q) { return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]; };
  const double h = 0.5 * charge_per_mass * dt;
  vector w = u;
  if (scheme == pusher::vay) {
    const vector v = cross(u, b);
    const double g = std::sqrt(1 + dot(u, u));
    for (int c = 0; c < 3; ++c) w[c] += 2 * h * e[c] + h / g * v[c];
  } else {
    for (int c = 0; c < 3; ++c) w[c] += h * e[c];
  }
  const vector tau{h * b[0], h * b[1], h * b[2]};
  // gamma of the momentum in the middle, by bisection of its equation instead of the formula.
  const double tau2 = dot(tau, tau), along = dot(w, tau), s = 1 + dot(w, w) - tau2;
  double low = 0, high = 10 + dot(w, w) + tau2;
  for (int n = 0; n < 200; ++n) {
    const double g = (low + high) / 2, g2 = g * g;
    (g2 * g2 - s * g2 - (tau2 + along * along) > 0 ? high : low) = g;
  }
  const vector t{tau[0] / high, tau[1] / high, tau[2] / high}, turn = cross(w, t);
  vector out;
  for (int c = 0; c < 3; ++c) out[c] = (w[c] + dot(w, t) * t[c] + turn[c]) / (1 + dot(t, t));
  if (scheme == pusher::higuera_cary)
    for (int c = 0; c < 3; ++c) out[c] = 2 * out[c] - w[c] + h * e[c];
  return out;
}

// Momenta, positions, cells and lists of crossing particles, in random fields.
template <class T>
void check_advance(pusher scheme) {
  for_all_orders([scheme](int dimensions, int order) {
    plan plan_ = periodic(dimensions, order, 8, 2);
    plan_.dt = 0.9 * plan_.courant();
    const patch_grid m(plan_, {0, 0, 0});
    fields<T> f(m);
    fill(f, 0.5);
    auto p = some_particles<T>(m, dimensions == 3 ? 40 : 120, 2);
    sort_by_cell(m, p);
    const auto before = p;
    crossing crossed;
    advance(m, order, {.scheme = scheme, .charge_per_mass = -2, .charge = -2}, f, p, crossed);
    const double tolerance = 300 * epsilon<T>();
    std::vector<std::uint32_t> leaving;
    for (std::size_t i = 0; i < p.size(); ++i) {
      reference::position at{};
      for (int d = 0; d < dimensions; ++d) at[d] = before.cell[std::size_t(d)][i] + double(before.x[std::size_t(d)][i]);
      vector u, e, b;
      for (int c = 0; c < 3; ++c) {
        u[c] = double(before.u[std::size_t(c)][i]);
        e[c] = reference::interpolate(m, order, f.e[std::size_t(c)], at, reference::half_of(c, false));
        b[c] = reference::interpolate(m, order, f.b[std::size_t(c)], at, reference::half_of(c, true));
      }
      const vector expected = reference_kick(scheme, u, -2, e, b, m.dt);
      double g = 1;
      for (int c = 0; c < 3; ++c) {
        EXPECT_NEAR(p.u[std::size_t(c)][i], expected[c], tolerance) << i;
        g += expected[c] * expected[c];
      }
      bool inside = true;
      for (std::size_t d = 0; d < std::size_t(dimensions); ++d) {
        const double to = at[int(d)] + expected[d] / std::sqrt(g) * m.dt / m.spacing[d];
        EXPECT_NEAR(p.cell[d][i] + double(p.x[d][i]), to, tolerance) << i;
        EXPECT_TRUE(p.x[d][i] >= 0 && p.x[d][i] <= 1);
        inside = inside && p.cell[d][i] >= 0 && p.cell[d][i] < m.cells[int(d)];
      }
      if (!inside) leaving.push_back(std::uint32_t(i));
    }
    std::ranges::sort(crossed.leaving);
    EXPECT_EQ(crossed.leaving, leaving);
    EXPECT_TRUE(crossed.to_follow.empty());
  });
}
TEST(particle_kernels, advance_by_boris_as_the_reference) {
  check_advance<double>(pusher::boris), check_advance<float>(pusher::boris);
}
TEST(particle_kernels, advance_by_vay_as_the_reference) {
  check_advance<double>(pusher::vay), check_advance<float>(pusher::vay);
}
TEST(particle_kernels, advance_by_higuera_and_cary_as_the_reference) {
  check_advance<double>(pusher::higuera_cary), check_advance<float>(pusher::higuera_cary);
}

// A particle that would cross a wall keeps its position, gets its momentum, and deposits no current.
TEST(particle_kernels, particles_that_meet_a_wall_are_left_to_be_followed) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int d = 0; d < dimensions; ++d)
      for (int side = 0; side < 2; ++side) {
        plan plan_ = periodic(dimensions, 1, 6, 1);
        plan_ =
            between(plan_, d, field_boundary::conducting, particle_boundary::reflected, particle_boundary::reflected);
        plan_.dt = 0.9 * plan_.courant();
        const patch_grid m(plan_, {});
        particles<double> p;
        point cell{2, dimensions > 1 ? 2 : 0, dimensions > 2 ? 2 : 0};
        cell[d] = side ? m.cells[d] - 1 : 0;
        vector x{0.5, 0.5, 0.5}, u{};
        x[std::size_t(d)] = side ? 0.95 : 0.05, u[std::size_t(d)] = side ? 3 : -3;
        add_particle(p, m, cell, x, u, 1);
        add_particle(p, m, {2, dimensions > 1 ? 2 : 0, dimensions > 2 ? 2 : 0}, {0.5, 0.5, 0.5}, {}, 1);
        fields<double> f(m);
        crossing crossed;
        advance(m, 1, {.charge_per_mass = -1, .charge = -1, .walls = box_sides(plan_, {})}, f, p, crossed);
        EXPECT_EQ(crossed.to_follow, std::vector<std::uint32_t>{0});
        EXPECT_TRUE(crossed.leaving.empty());
        EXPECT_EQ(p.x[std::size_t(d)][0], x[std::size_t(d)]);
        EXPECT_EQ(p.cell[std::size_t(d)][0], cell[d]);
        for (const double j : f.j[d]) EXPECT_EQ(j, 0);
      }
}

TEST(particle_kernels, paths_longer_than_a_cell_are_errors_or_followed) {
  plan plan_ = periodic(1, 1, 8, 1);
  plan_.electrostatic = true, plan_.dt = 3 * plan_.spacing(0);
  const patch_grid m(plan_, {});
  const auto fast = [&] {
    particles<double> p;
    add_particle(p, m, {3, 0, 0}, {0.5, 0, 0}, {5, 0, 0}, 1);
    return p;
  };
  fields<double> f(m);
  crossing crossed;
  auto p = fast();
  EXPECT_THROW(advance(m, 1, {.charge_per_mass = 0, .charge = 1}, f, p, crossed), runtime_failure);
  p = fast();
  advance(m, 1, {.charge_per_mass = 0, .charge = 1, .long_paths = true}, f, p, crossed);
  EXPECT_EQ(crossed.to_follow, std::vector<std::uint32_t>{0});
  EXPECT_EQ(p.x[0][0], 0.5);
  p.u[0][0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(advance(m, 1, {.charge_per_mass = 0, .charge = 1, .long_paths = true}, f, p, crossed), runtime_failure);
}

TEST(particle_kernels, sorting_keeps_ids_with_their_particles) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    const patch_grid m(periodic(dimensions, 1, 8, 2), {0, 0, 0});
    auto p = some_particles<float>(m, 500);
    for (std::size_t i = 0; i < p.size(); ++i) p.w[i] = float(i), p.id.push_back(1000 + i);
    sort_by_cell(m, p);
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(p.id[i], 1000 + std::uint64_t(p.w[i]));
    auto untracked = some_particles<float>(m, 500);
    sort_by_cell(m, untracked);
    EXPECT_TRUE(untracked.id.empty());
    EXPECT_EQ(p.id.size(), 500u);
  }
}

TEST(particle_kernels, sorting_sorted_particles_changes_nothing) {
  const patch_grid m(periodic(3, 1, 8, 2), {0, 0, 0});
  auto p = some_particles<double>(m, 700);
  sort_by_cell(m, p);
  const auto before = p;
  sort_by_cell(m, p);
  EXPECT_EQ(p.x, before.x);
  EXPECT_EQ(p.cell, before.cell);
  EXPECT_EQ(p.w, before.w);
}

TEST(particle_kernels, a_kick_back_undoes_a_kick_without_magnetic_field) {
  for_all_orders([](int dimensions, int order) {
    const patch_grid m(periodic(dimensions, order), {0, 0, 0});
    fields<double> f(m);
    fill(f, 1);
    for (auto& component : f.b) std::ranges::fill(component, 0.0);
    auto p = some_particles<double>(m, 33);
    const auto before = p;
    kick(m, order, {.charge_per_mass = 1.7}, f, p, 0.4);
    EXPECT_NE(p.u, before.u);
    kick(m, order, {.charge_per_mass = 1.7}, f, p, -0.4);
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(p.u[c][i], before.u[c][i], 1e-14);
  });
}

}  // namespace
}  // namespace plaq::pic

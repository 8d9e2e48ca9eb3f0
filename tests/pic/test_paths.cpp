// Paths of single particles, and messages between patches.
#include <gtest/gtest.h>

#include <cmath>

#include "plans.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/particles/shapes.hpp"
#include "plaq/pic/reference.hpp"
#include "plaq/pic/step.hpp"

namespace plaq::pic {
namespace {

using namespace test;

template <int Order>
void check_shape() {
  using points = shape<Order>;
  for (const double x : {0.0, 0.2, 0.5, 0.8, 1.0}) {
    double node[points::nodes], half[points::halves], moved[points::moved], sum[3] = {};
    splines<Order>(x, double(points::first_node), node);
    splines<Order>(x, points::first_half + 0.5, half);
    splines<Order>(x, double(points::first_moved), moved);
    for (int i = 0; i < points::nodes; ++i) {
      sum[0] += node[i];
      EXPECT_NEAR(node[i], reference::spline(Order, x - points::first_node - i), 1e-14);
    }
    for (int i = 0; i < points::halves; ++i) sum[1] += half[i];
    for (int i = 0; i < points::moved; ++i) sum[2] += moved[i];
    for (const double all : sum) EXPECT_NEAR(all, 1, 1e-14) << Order << " " << x;
  }
  for (const double x : {-0.99, -0.3, 1.4, 1.99}) {  // after a step
    double moved[points::moved], sum = 0;
    splines<Order>(x, double(points::first_moved), moved);
    for (const double w : moved) sum += w;
    EXPECT_NEAR(sum, 1, 1e-14) << Order << " " << x;
  }
}
TEST(paths, weights_of_a_shape_sum_to_one) {
  check_shape<1>();
  check_shape<2>();
  check_shape<3>();
}

// Paths deposited one by one, a few particles in a cell, and many in lanes.
TEST(paths, single_paths_deposit_the_current_of_the_push) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int order = 1; order <= 3; ++order) {
      const patch_grid m(periodic(dimensions, order), {0, 0, 0});
      for (const int n : {1, 3, 4, 40, 200}) {
        fields<double> pushed(m), single(m);
        auto all = some_particles<double>(m, n);
        for (int d = 0; d < dimensions; ++d)
          for (auto& cell : all.cell[std::size_t(d)]) cell = 2;
        for (std::size_t i = 0; i < all.size(); ++i) {
          double u2 = 0;
          for (int c = 0; c < 3; ++c) u2 += all.u[c][i] * all.u[c][i];
          path<double> along{{}, {}, {}};
          for (int c = 0; c < 3; ++c)
            along.displacement[std::size_t(c)] =
                all.u[c][i] / std::sqrt(1 + u2) * m.dt / (c < dimensions ? m.spacing[std::size_t(c)] : 1);
          for (int d = 0; d < dimensions; ++d) along.cell[d] = 2, along.start[std::size_t(d)] = all.x[d][i];
          deposit_path(m, order, single, along, -3 * all.w[i]);
        }
        crossing crossed;
        advance(m, order, {.charge_per_mass = 0, .charge = -3}, pushed, all, crossed);
        double largest = 0, size = 0;
        for (int c = 0; c < 3; ++c)
          for (std::size_t i = 0; i < m.size(); ++i) {
            largest = std::max(largest, std::abs(pushed.j[c][i] - single.j[c][i]));
            size = std::max(size, std::abs(single.j[c][i]));
          }
        EXPECT_GT(size, 0);
        EXPECT_LT(largest, 1e-13 * size) << dimensions << " " << order << " " << n;
      }
    }
}

TEST(paths, two_parts_of_a_path_move_the_charge_of_the_whole) {
  for (int order = 1; order <= 3; ++order) {
    const patch_grid m(periodic(2, order), {0, 0, 0});
    fields<double> f(m);
    const path<double> first{{2, 3, 0}, {0.9, 0.2, 0}, {0.3, -0.1, 0}},
        second{{3, 3, 0}, {0.2, 0.1, 0}, {0.4, -0.5, 0}};
    deposit_path(m, order, f, first, 2);
    deposit_path(m, order, f, second, 2);
    const auto before = reference::charge(m, order, {2.9, 3.2, 0}, 2),
               after = reference::charge(m, order, {3.6, 2.6, 0}, 2);
    for (int j = 0; j < 6; ++j)
      for (int i = 0; i < 6; ++i) {
        const auto at = std::size_t(m.index({i, j, 0}));
        EXPECT_NEAR((after[at] - before[at]) / m.dt + reference::divergence(m, f.j, {i, j, 0}), 0, 1e-11) << order;
      }
  }
}

TEST(paths, parcels_carry_all_particles_to_cells_of_their_new_patch) {
  const plan p = periodic(2, 2, 9, 3);
  std::vector<patch<float>> all;
  for (int n = 0; n < 9; ++n) {
    all.emplace_back(p, point_of(patch_of(p, n)));
    all.back().species[0] = some_particles<float>(all.back().mesh, 200, 3);
  }
  std::vector<std::vector<parcel<float>>> out;
  std::size_t sent = 0;
  for (int n = 0; n < 9; ++n) {
    std::vector<point> shifts;
    for (const auto& to : neighbours(p, patch_of(p, n))) shifts.push_back(to.shift);
    out.push_back(push(p, all[std::size_t(n)], shifts));
    for (const auto& message : out.back()) sent += message.particles.size();
  }
  EXPECT_GT(sent, 100u);
  std::size_t kept = 0;
  for (const auto& self : all) kept += self.size();
  EXPECT_EQ(kept + sent, 1800u);
  for (int n = 0; n < 9; ++n) {
    const auto around = neighbours(p, patch_of(p, n));
    for (std::size_t i = 0; i < around.size(); ++i)
      receive(p, all[std::size_t(patch_number(p, around[i].at))], std::move(out[std::size_t(n)][i]));
  }
  std::size_t received = 0;
  for (const auto& self : all) {
    received += self.size();
    for (int d = 0; d < 2; ++d)
      for (const int cell : self.species[0].cell[std::size_t(d)]) EXPECT_TRUE(cell >= 0 && cell < self.mesh.cells[d]);
  }
  EXPECT_EQ(received, 1800u);
}

TEST(paths, halos_are_the_edge_cells_of_the_neighbour) {
  const plan p = periodic(2, 1, 6, 2);
  patch<double> left(p, {0, 0, 0}), right(p, {1, 0, 0});
  fill(left.f, 1);
  receive(right, make_halo(left, {1, 0, 0}));
  for (int j = 0; j < left.mesh.cells[1]; ++j)
    for (int i = 1; i <= 2; ++i)
      for (int c = 0; c < 3; ++c) {
        const auto from = std::size_t(left.mesh.index({left.mesh.cells[0] - i, j, 0}));
        const auto to = std::size_t(right.mesh.index({-i, j, 0}));
        EXPECT_EQ(right.f.e[std::size_t(c)][to], left.f.e[std::size_t(c)][from]);
        EXPECT_EQ(right.f.b[std::size_t(c)][to], left.f.b[std::size_t(c)][from]);
      }
}

}  // namespace
}  // namespace plaq::pic

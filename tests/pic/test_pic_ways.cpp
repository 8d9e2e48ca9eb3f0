// Ways of single particles, and what goes from patch to patch.
#include <gtest/gtest.h>

#include <cmath>

#include "plans.hpp"
#include "plaq/pic/kernels.hpp"
#include "plaq/pic/neighbours.hpp"
#include "plaq/pic/patch.hpp"
#include "plaq/pic/reference.hpp"
#include "plaq/pic/windows.hpp"

namespace plaq::pic {
namespace {

using namespace test;

template <int Order>
void check_windows() {
  using at = window<Order>;
  for (const double x : {0.0, 0.2, 0.5, 0.8, 1.0}) {
    double node[at::nodes], half[at::halves], moved[at::moved], sum[3] = {};
    splines<Order>(x, double(at::first_node), node);
    splines<Order>(x, at::first_half + 0.5, half);
    splines<Order>(x, double(at::first_moved), moved);
    for (int i = 0; i < at::nodes; ++i) {
      sum[0] += node[i];
      EXPECT_NEAR(node[i], reference::spline(Order, x - at::first_node - i), 1e-14);
    }
    for (int i = 0; i < at::halves; ++i) sum[1] += half[i];
    for (int i = 0; i < at::moved; ++i) sum[2] += moved[i];
    for (const double all : sum) EXPECT_NEAR(all, 1, 1e-14) << Order << " " << x;
  }
  for (const double x : {-0.99, -0.3, 1.4, 1.99}) {  // after a step
    double moved[at::moved], sum = 0;
    splines<Order>(x, double(at::first_moved), moved);
    for (const double w : moved) sum += w;
    EXPECT_NEAR(sum, 1, 1e-14) << Order << " " << x;
  }
}
TEST(pic_ways, windows_hold_whole_shapes) {
  check_windows<1>();
  check_windows<2>();
  check_windows<3>();
}

// The current of one way is that of a particle which goes it: one by one, as a few in a cell, and as many in lanes.
TEST(pic_ways, one_by_one_and_together) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int order = 1; order <= 3; ++order) {
      const block m(periodic(dimensions, order), {0, 0, 0});
      for (const int n : {1, 3, 4, 40, 200}) {
        fields<double> together(m), single(m);
        auto all = some_particles<double>(m, n);
        for (int d = 0; d < dimensions; ++d)
          for (auto& cell : all.cell[std::size_t(d)]) cell = 2;
        for (std::size_t i = 0; i < all.size(); ++i) {
          double u2 = 0;
          for (int c = 0; c < 3; ++c) u2 += all.u[c][i] * all.u[c][i];
          way<double> one{{}, {}, {}};
          for (int c = 0; c < 3; ++c)
            one.by[std::size_t(c)] =
                all.u[c][i] / std::sqrt(1 + u2) * m.dt / (c < dimensions ? m.spacing[std::size_t(c)] : 1);
          for (int d = 0; d < dimensions; ++d) one.cell[d] = 2, one.from[std::size_t(d)] = all.x[d][i];
          deposit(m, order, single, one, -3 * all.w[i]);
        }
        set_apart apart;
        advance(m, order, {.charge_per_mass = 0, .charge = -3}, together, all, apart);
        double most = 0, size = 0;
        for (int c = 0; c < 3; ++c)
          for (std::size_t i = 0; i < m.size(); ++i) {
            most = std::max(most, std::abs(together.j[c][i] - single.j[c][i]));
            size = std::max(size, std::abs(single.j[c][i]));
          }
        EXPECT_GT(size, 0);
        EXPECT_LT(most, 1e-13 * size) << dimensions << " " << order << " " << n;
      }
    }
}

// A way in two parts leaves the charge where the whole one does.
TEST(pic_ways, parts_of_a_way_join) {
  for (int order = 1; order <= 3; ++order) {
    const block m(periodic(2, order), {0, 0, 0});
    fields<double> f(m);
    const way<double> first{{2, 3, 0}, {0.9, 0.2, 0}, {0.3, -0.1, 0}}, second{{3, 3, 0}, {0.2, 0.1, 0}, {0.4, -0.5, 0}};
    deposit(m, order, f, first, 2);
    deposit(m, order, f, second, 2);
    const auto before = reference::charge(m, order, {2.9, 3.2, 0}, 2),
               after = reference::charge(m, order, {3.6, 2.6, 0}, 2);
    for (int j = 0; j < 6; ++j)
      for (int i = 0; i < 6; ++i) {
        const auto at = std::size_t(m.index({i, j, 0}));
        EXPECT_NEAR((after[at] - before[at]) / m.dt + reference::divergence(m, f.j, {i, j, 0}), 0, 1e-11) << order;
      }
  }
}

// What one patch pushes out, others take in: none is lost, and each is in a cell of its new patch.
TEST(pic_ways, parcels_bring_all) {
  const plan p = periodic(2, 2, 9, 3);
  std::vector<patch<float>> all;
  for (int n = 0; n < 9; ++n) {
    all.emplace_back(p, point_of(patch_of(p, n)));
    all.back().kinds[0] = some_particles<float>(all.back().mesh, 200, 3);
  }
  std::vector<std::vector<parcel<float>>> out;
  std::size_t under_way = 0;
  for (int n = 0; n < 9; ++n) {
    std::vector<point> shifts;
    for (const auto& to : neighbours(p, patch_of(p, n))) shifts.push_back(to.shift);
    out.push_back(push(p, all[std::size_t(n)], shifts));
    for (const auto& one : out.back()) under_way += one.kinds[0].size();
  }
  EXPECT_GT(under_way, 100u);
  std::size_t kept = 0;
  for (const auto& me : all) kept += me.size();
  EXPECT_EQ(kept + under_way, 1800u);
  for (int n = 0; n < 9; ++n) {
    const auto around = neighbours(p, patch_of(p, n));
    for (std::size_t i = 0; i < around.size(); ++i)
      take(p, all[std::size_t(number_of(p, around[i].at))], std::move(out[std::size_t(n)][i]));
  }
  std::size_t found = 0;
  for (const auto& me : all) {
    found += me.size();
    for (int d = 0; d < 2; ++d)
      for (const int cell : me.kinds[0].cell[std::size_t(d)]) EXPECT_TRUE(cell >= 0 && cell < me.mesh.cells[d]);
  }
  EXPECT_EQ(found, 1800u);
}

// The edges of one are the guards of the other, cell by cell.
TEST(pic_ways, halos_arrive_where_they_belong) {
  const plan p = periodic(2, 1, 6, 2);
  patch<double> left(p, {0, 0, 0}), right(p, {1, 0, 0});
  fill(left.f, 1);
  take(right, edge_for(left, {1, 0, 0}));
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

// Grids of patches: memory layout, regions, messages, numbers.
#include <gtest/gtest.h>

#include <set>

#include "plans.hpp"
#include "plaq/pic/mesh/fields.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {
namespace {

using namespace test;

/// Calls use(cell) for all cells of a region.
template <class Use>
void for_each_cell_of(const region& r, Use use) {
  point at;
  for (at[2] = r.low[2]; at[2] < r.high[2]; ++at[2])
    for (at[1] = r.low[1]; at[1] < r.high[1]; ++at[1])
      for (at[0] = r.low[0]; at[0] < r.high[0]; ++at[0]) use(at);
}
/// All shifts to neighbours in so many dimensions.
std::vector<point> all_shifts(int dimensions) {
  std::vector<point> out;
  for_each_cell_of(
      {{-1, dimensions > 1 ? -1 : 0, dimensions > 2 ? -1 : 0}, {2, dimensions > 1 ? 2 : 1, dimensions > 2 ? 2 : 1}},
      [&](const point& s) {
        if (s != point{}) out.push_back(s);
      });
  return out;
}

TEST(patch_grid, cells_with_guards_are_all_of_the_memory_x_fastest) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int order = 1; order <= 3; ++order) {
      const patch_grid m(periodic(dimensions, order, 10, 2), {1, dimensions > 1, 0});
      std::ptrdiff_t next = 0;
      for_each_cell_of(with_guards(m), [&](const point& i) { EXPECT_EQ(m.index(i), next++); });
      EXPECT_EQ(std::size_t(next), m.size());
      EXPECT_EQ(m.index({0, 0, 0}), m.origin());
      for (int d = 0; d < 3; ++d) {
        EXPECT_EQ(m.guard[d], d < dimensions ? (order == 1 ? 2 : 3) : 0);
        EXPECT_EQ(m.stride[d] != 0, d < dimensions);
        EXPECT_EQ(m.extent(d), m.cells[d] + 2 * m.guard[d]);
      }
      EXPECT_NEAR(m.volume(), std::pow(0.2, dimensions), 1e-15);
    }
}

TEST(patch_grid, bounded_boxes_have_a_further_guard_cell_but_in_one_dimension) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    const plan open = periodic(dimensions, 2);
    const plan bounded =
        between(open, 0, field_boundary::conducting, particle_boundary::absorbed, particle_boundary::absorbed);
    EXPECT_EQ(bounded.guard(), open.guard() + (dimensions > 1));
    EXPECT_FALSE(open.bounded());
    EXPECT_TRUE(bounded.bounded());
    EXPECT_EQ(open.nodes(0), open.cells[0]);
    EXPECT_EQ(bounded.nodes(0), bounded.cells[0] + 1);
    for (int d = dimensions; d < 3; ++d) EXPECT_EQ(bounded.nodes(d), 1);
  }
}

TEST(patch_grid, guards_towards_all_neighbours_are_the_guard_cells_once) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    const patch_grid m(periodic(dimensions, 1, 7, 2), {0, 0, 0});
    std::multiset<std::ptrdiff_t> covered;
    for (const point& shift : all_shifts(dimensions))
      for_each_cell_of(guards_towards(m, shift), [&](const point& i) {
        covered.insert(m.index(i));
        for (int d = 0; d < dimensions; ++d)
          EXPECT_EQ(shift[d], i[d] < 0 ? -1 : i[d] >= m.cells[d] ? 1 : 0) << dimensions;
      });
    EXPECT_EQ(covered.size(), m.size() - own_cells(m).size());
    for (const auto i : covered) EXPECT_EQ(covered.count(i), 1u);
  }
}

TEST(patch_grid, edges_are_the_cells_that_the_neighbour_has_as_guards) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    const plan p = periodic(dimensions, 2, 9, 3);
    const index3 middle{1, dimensions > 1, dimensions > 2};
    const patch_grid m(p, point_of(middle));
    for (const auto& to : neighbours(p, middle)) {
      const patch_grid other(p, point_of(to.at));
      std::vector<point> sent, received;  // in cells of the box
      for_each_cell_of(edge_towards(m, to.shift), [&](const point& i) {
        sent.push_back({m.first[0] + i[0], m.first[1] + i[1], m.first[2] + i[2]});
      });
      for_each_cell_of(guards_towards(other, opposite(to.shift)), [&](const point& i) {
        received.push_back({other.first[0] + i[0], other.first[1] + i[1], other.first[2] + i[2]});
      });
      EXPECT_EQ(sent, received) << dimensions;
    }
  }
}

TEST(patch_grid, box_sides_are_those_of_the_outer_patches_that_are_not_periodic) {
  plan p = periodic(3, 1, 12, 3);
  p = between(p, 1, field_boundary::absorbing, particle_boundary::absorbed, particle_boundary::absorbed);
  for (int j = 0; j < 3; ++j) {
    const sides s = box_sides(p, {0, j, 2});
    EXPECT_FALSE(s[0][0] || s[0][1] || s[2][0] || s[2][1]);
    EXPECT_EQ(s[1][0], j == 0);
    EXPECT_EQ(s[1][1], j == 2);
  }
  plan one = between(periodic(1, 1, 8, 1), 0, field_boundary::conducting, particle_boundary::reflected,
                     particle_boundary::reflected);
  EXPECT_TRUE(box_sides(one, {})[0][0] && box_sides(one, {})[0][1]);
}

TEST(patch_grid, rows_cover_a_region_in_order) {
  const patch_grid m(periodic(3, 1, 5, 1), {0, 0, 0});
  const region r{{-1, 2, 0}, {4, 5, 3}};
  std::vector<std::ptrdiff_t> by_rows, by_cells;
  for_each_row(m, r, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
    EXPECT_EQ(n, 5);
    for (std::ptrdiff_t i = at; i < at + n; ++i) by_rows.push_back(i);
  });
  for_each_cell_of(r, [&](const point& i) { by_cells.push_back(m.index(i)); });
  EXPECT_EQ(by_rows, by_cells);
  EXPECT_EQ(by_rows.size(), r.size());
}

TEST(patch_grid, empty_regions_have_no_cells) {
  const patch_grid m(periodic(2, 1), {0, 0, 0});
  region r = own_cells(m);
  r.high[0] = r.low[0];
  EXPECT_EQ(r.size(), 0u);
  std::vector<double> from(m.size(), 1), out;
  append(m, r, from, out);
  EXPECT_TRUE(out.empty());
}

TEST(patch_grid, numbers_of_patches_and_nodes_run_with_x_fastest) {
  plan p = periodic(3, 1, 9, 3);
  p.patches = {3, 2, 4};
  for (int n = 0; n < 24; ++n) EXPECT_EQ(patch_number(p, patch_of(p, n)), n);
  EXPECT_EQ(patch_number(p, {1, 0, 0}), 1);
  EXPECT_EQ(patch_number(p, {0, 1, 0}), 3);
  EXPECT_EQ(patch_number(p, {0, 0, 1}), 6);
  p = between(p, 0, field_boundary::conducting, particle_boundary::absorbed, particle_boundary::absorbed);
  EXPECT_EQ(number_of_node(p, {0, 1, 0}), p.cells[0] + 1);
  EXPECT_EQ(number_of_node(p, {2, 0, 1}), 2 + std::int64_t(p.cells[0] + 1) * p.cells[1]);
}

TEST(patch_grid, corners_of_a_closed_box_have_the_fewest_neighbours) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    plan p = periodic(dimensions, 1, 12, 3);
    for (int d = 0; d < dimensions; ++d)
      p = between(p, d, field_boundary::conducting, particle_boundary::absorbed, particle_boundary::absorbed);
    EXPECT_EQ(neighbours(p, {0, 0, 0}).size(), std::size_t(1 << dimensions) - 1);
    EXPECT_EQ(neighbours(p, {1, dimensions > 1, dimensions > 2}).size(), all_shifts(dimensions).size());
  }
}

TEST(patch_grid, fields_are_as_long_as_the_grid_and_phi_is_empty) {
  const patch_grid m(periodic(2, 3), {0, 0, 0});
  const fields<float> f(m);
  for (const auto* field : {&f.e, &f.b, &f.j})
    for (const auto& component : *field) EXPECT_EQ(component.size(), m.size());
  EXPECT_EQ(f.rho.size(), m.size());
  EXPECT_TRUE(f.phi.empty());
}

}  // namespace
}  // namespace plaq::pic

#include <gtest/gtest.h>

#include <set>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/layout.hpp"

namespace plaq::lqcd {
namespace {

TEST(lattice, has_indices_of_sites_and_their_inverse) {
  const coordinates box{4, 6, 2, 8};
  for (std::int64_t i = 0; i < product(box); ++i) EXPECT_EQ(index_in(coordinates_in(i, box), box), i);
  EXPECT_EQ(neighbour_of({0, 5, 0, 0}, 1, 1, box), (coordinates{0, 0, 0, 0}));
  EXPECT_EQ(neighbour_of({0, 0, 0, 0}, 0, -1, box), (coordinates{3, 0, 0, 0}));
}

TEST(lattice, that_cannot_be_cut_is_refused) {
  EXPECT_THROW(lattice({4, 4, 3, 4}), input_error);
  EXPECT_THROW(lattice({4, 4, 4, 4}, {4, 1, 1, 1}), input_error);
  EXPECT_THROW(lattice({4, 4, 4, 4}, {0, 1, 1, 1}), input_error);
  EXPECT_THROW(lattice({4, 4, 4, 4}, {2, 1, 1, 1}, 2), input_error);
  EXPECT_THROW(choose_grid(3, {8, 8, 8, 8}), input_error);
}

TEST(lattice, boxes_that_no_layout_can_number_are_refused) {
  EXPECT_EQ(choose_sub_boxes(lattice({1024, 512, 512, 32}), 8).lanes, 8);
  EXPECT_THROW(choose_sub_boxes(lattice({1024, 624, 1024, 1024}, {1, 1, 1, 2}), 8), input_error);
  EXPECT_THROW(site_layout(lattice({1024, 1024, 1024, 1024}), 16), input_error);
}

TEST(lattice, a_grid_has_the_smallest_surface) {
  EXPECT_EQ(choose_grid(1, {4, 4, 4, 4}), (coordinates{1, 1, 1, 1}));
  EXPECT_EQ(choose_grid(2, {16, 8, 8, 8}), (coordinates{2, 1, 1, 1}));
  EXPECT_EQ(choose_grid(6, {8, 12, 8, 8}), (coordinates{1, 6, 1, 1}));
  EXPECT_EQ(choose_grid(16, {4, 4, 4, 4}), (coordinates{2, 2, 2, 2}));
  EXPECT_EQ(choose_grid(4, {8, 8, 8, 8}), (coordinates{4, 1, 1, 1}));
  EXPECT_EQ(choose_grid(8, {8, 8, 8, 32}), (coordinates{1, 1, 1, 8}));
}

TEST(lattice, lanes_cut_space_before_time) {
  EXPECT_EQ(site_layout(lattice({48, 24, 24, 24}), 8).split(), (coordinates{1, 2, 2, 2}));
  EXPECT_EQ(site_layout(lattice({8, 8, 8, 8}), 16).split(), (coordinates{1, 2, 2, 4}));
  EXPECT_EQ(site_layout(lattice({16, 4, 8, 4}), 4).split(), (coordinates{1, 1, 2, 2}));
  EXPECT_EQ(site_layout(lattice({32, 6, 6, 6}), 8).split(), (coordinates{8, 1, 1, 1}));
}

class layouts : public testing::TestWithParam<std::tuple<coordinates, int>> {};

TEST_P(layouts, give_every_site_one_location_and_its_neighbours) {
  const auto [box, lanes] = GetParam();
  const lattice all(box);
  const site_layout layout(all, lanes);
  std::set<std::pair<std::int64_t, int>> locations;
  for (std::int64_t i = 0; i < product(box); ++i) {
    const auto x = coordinates_in(i, box);
    const auto p = layout.locate(x);
    locations.insert({p.group, p.lane});
    EXPECT_EQ(layout.coordinates_of(p.group, p.lane), x);
    EXPECT_EQ(p.group >= layout.half(), parity(x) == 1);
    for (int d = 0; d < neighbours; ++d) {
      const auto there = layout.locate(neighbour_of(x, d / 2, d % 2 ? -1 : 1, box));
      EXPECT_EQ(layout.neighbours_of(p.group)[d], there.group);
      EXPECT_EQ(layout.edges(p.group) >> d & 1 ? layout.lane_from(d)[p.lane] : p.lane, there.lane);
    }
  }
  EXPECT_EQ(std::int64_t(locations.size()), product(box));
  EXPECT_EQ(std::int64_t(layout.interior(0).size() + layout.interior(1).size()), layout.groups());
}

INSTANTIATE_TEST_SUITE_P(shapes, layouts,
                         testing::Combine(testing::Values(coordinates{4, 4, 4, 4}, coordinates{8, 4, 2, 6},
                                                          coordinates{2, 2, 2, 2}, coordinates{16, 2, 2, 2}),
                                          testing::Values(1, 2, 4, 8, 16)));

TEST(layouts, have_as_many_lanes_as_the_box_can_be_cut_for) {
  const auto lanes = [](coordinates box) { return site_layout(lattice(box), 16).lanes(); };
  EXPECT_EQ(lanes({8, 8, 8, 8}), 16);
  EXPECT_EQ(lanes({6, 6, 6, 6}), 1);
  EXPECT_EQ(lanes({12, 6, 6, 6}), 2);
  EXPECT_EQ(lanes({2, 2, 2, 32}), 16);
}

}  // namespace
}  // namespace plaq::lqcd

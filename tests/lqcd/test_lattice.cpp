#include <gtest/gtest.h>

#include <set>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/layout.hpp"

namespace plaq::lqcd {
namespace {

TEST(lattice, numbers_of_sites_go_forth_and_back) {
  const coordinates box{4, 6, 2, 8};
  for (std::int64_t i = 0; i < product(box); ++i) EXPECT_EQ(number_in(place_in(i, box), box), i);
  EXPECT_EQ(moved({0, 5, 0, 0}, 1, 1, box), (coordinates{0, 0, 0, 0}));
  EXPECT_EQ(moved({0, 0, 0, 0}, 0, -1, box), (coordinates{3, 0, 0, 0}));
}

TEST(lattice, what_cannot_be_cut_is_refused) {
  EXPECT_THROW(lattice({4, 4, 3, 4}), input_error);
  EXPECT_THROW(lattice({4, 4, 4, 4}, {4, 1, 1, 1}), input_error);
  EXPECT_THROW(lattice({4, 4, 4, 4}, {0, 1, 1, 1}), input_error);
  EXPECT_THROW(lattice({4, 4, 4, 4}, {2, 1, 1, 1}, 2), input_error);
  EXPECT_THROW(grid_for(3, {8, 8, 8, 8}), input_error);
}

TEST(lattice, boxes_that_no_layout_can_number_are_refused) {
  EXPECT_EQ(cut_for(lattice({1024, 512, 512, 32}), 8).lanes, 8);
  EXPECT_THROW(cut_for(lattice({1024, 624, 1024, 1024}, {1, 1, 1, 2}), 8), input_error);
  EXPECT_THROW(layout(lattice({1024, 1024, 1024, 1024}), 16), input_error);
}

TEST(lattice, a_grid_has_the_smallest_surface) {
  EXPECT_EQ(grid_for(1, {4, 4, 4, 4}), (coordinates{1, 1, 1, 1}));
  EXPECT_EQ(grid_for(2, {16, 8, 8, 8}), (coordinates{2, 1, 1, 1}));
  EXPECT_EQ(grid_for(6, {8, 12, 8, 8}), (coordinates{1, 6, 1, 1}));
  EXPECT_EQ(grid_for(16, {4, 4, 4, 4}), (coordinates{2, 2, 2, 2}));
  EXPECT_EQ(grid_for(4, {8, 8, 8, 8}), (coordinates{4, 1, 1, 1}));
  EXPECT_EQ(grid_for(8, {8, 8, 8, 32}), (coordinates{1, 1, 1, 8}));
}

TEST(lattice, lanes_cut_space_before_time) {
  EXPECT_EQ(layout(lattice({48, 24, 24, 24}), 8).split(), (coordinates{1, 2, 2, 2}));
  EXPECT_EQ(layout(lattice({8, 8, 8, 8}), 16).split(), (coordinates{1, 2, 2, 4}));
  EXPECT_EQ(layout(lattice({16, 4, 8, 4}), 4).split(), (coordinates{1, 1, 2, 2}));
  EXPECT_EQ(layout(lattice({32, 6, 6, 6}), 8).split(), (coordinates{8, 1, 1, 1}));
}

class layouts : public testing::TestWithParam<std::tuple<coordinates, int>> {};

TEST_P(layouts, every_site_has_one_place_and_the_neighbours_that_it_should) {
  const auto [box, lanes] = GetParam();
  const lattice all(box);
  const layout where(all, lanes);
  std::set<std::pair<std::int64_t, int>> places;
  for (std::int64_t i = 0; i < product(box); ++i) {
    const auto x = place_in(i, box);
    const auto p = where.where(x);
    places.insert({p.block, p.lane});
    EXPECT_EQ(where.site(p.block, p.lane), x);
    EXPECT_EQ(p.block >= where.half(), parity(x) == 1);
    for (int d = 0; d < neighbours; ++d) {
      const auto there = where.where(moved(x, d / 2, d % 2 ? -1 : 1, box));
      EXPECT_EQ(where.next(p.block)[d], there.block);
      EXPECT_EQ(where.edges(p.block) >> d & 1 ? where.lane_from(d)[p.lane] : p.lane, there.lane);
    }
  }
  EXPECT_EQ(std::int64_t(places.size()), product(box));
  EXPECT_EQ(std::int64_t(where.inside(0).size() + where.inside(1).size()), where.blocks());
}

INSTANTIATE_TEST_SUITE_P(shapes, layouts,
                         testing::Combine(testing::Values(coordinates{4, 4, 4, 4}, coordinates{8, 4, 2, 6},
                                                          coordinates{2, 2, 2, 2}, coordinates{16, 2, 2, 2}),
                                          testing::Values(1, 2, 4, 8, 16)));

TEST(layouts, have_as_many_lanes_as_the_box_can_be_cut_for) {
  const auto lanes = [](coordinates box) { return layout(lattice(box), 16).lanes(); };
  EXPECT_EQ(lanes({8, 8, 8, 8}), 16);
  EXPECT_EQ(lanes({6, 6, 6, 6}), 1);
  EXPECT_EQ(lanes({12, 6, 6, 6}), 2);
  EXPECT_EQ(lanes({2, 2, 2, 32}), 16);
}

}  // namespace
}  // namespace plaq::lqcd

// Layouts of ranks in a grid: faces, edges and lanes against the neighbours of the global lattice. One process makes
// the layouts of all ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/layout.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{8, 8, 4, 12};

class layouts_of_ranks : public testing::TestWithParam<std::tuple<coordinates, int>> {
 protected:
  layouts_of_ranks() {
    const auto& [grid, lanes] = GetParam();
    for (int rank = 0; rank < product(grid); ++rank)
      all.push_back(std::make_unique<site_layout>(lattice(extents, grid, rank), lanes));
  }
  /// Rank, group and lane of a site of the global lattice.
  struct owner {
    int rank;
    site_layout::location at;
  };
  owner find(const coordinates& x) const {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const auto origin = all[rank]->lattice().origin(), local = all[rank]->lattice().local();
      coordinates y;
      bool inside = true;
      for (int mu = 0; mu < 4; ++mu) y[mu] = x[mu] - origin[mu], inside = inside && y[mu] >= 0 && y[mu] < local[mu];
      if (inside) return {int(rank), all[rank]->locate(y)};
    }
    return {-1, {}};
  }
  std::vector<std::unique_ptr<site_layout>> all;
};

INSTANTIATE_TEST_SUITE_P(grids, layouts_of_ranks,
                         testing::Combine(testing::Values(coordinates{1, 1, 1, 1}, coordinates{2, 1, 1, 1},
                                                          coordinates{1, 2, 1, 2}, coordinates{4, 1, 2, 1},
                                                          coordinates{2, 2, 1, 3}),
                                          testing::Values(1, 2, 4, 16)));

TEST_P(layouts_of_ranks, divide_the_lattice_between_them) {
  std::set<coordinates> sites;
  for (const auto& layout : all)
    for (std::int64_t g = 0; g < layout->groups(); ++g)
      for (int l = 0; l < layout->lanes(); ++l) sites.insert(layout->coordinates_of(g, l) + layout->lattice().origin());
  EXPECT_EQ(std::int64_t(sites.size()), product(extents));
}

TEST_P(layouts_of_ranks, begin_at_even_sites) {
  for (const auto& layout : all) EXPECT_EQ(parity(layout->lattice().origin()), 0);
}

TEST_P(layouts_of_ranks, are_inverse_to_the_location_of_sites) {
  for (const auto& layout : all)
    for (std::int64_t i = 0; i < product(layout->lattice().local()); ++i) {
      const auto x = coordinates_in(i, layout->lattice().local());
      const auto p = layout->locate(x);
      EXPECT_EQ(layout->coordinates_of(p.group, p.lane), x);
    }
}

TEST_P(layouts_of_ranks, lead_to_the_neighbours_of_the_global_lattice) {
  // Within a rank the neighbour has the group of neighbours_of(). Over an edge it belongs to the neighbouring rank in
  // the lanes at the edge: there its group is the entry of this rank's face.
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const auto& layout = *all[rank];
    for (std::int64_t g = 0; g < layout.groups(); ++g)
      for (int d = 0; d < neighbours; ++d) {
        const int mu = d / 2, step = d % 2 ? -1 : 1, p = g >= layout.half();
        const bool over_edge = layout.edges(g) >> (8 + d) & 1, permuted = layout.edges(g) >> d & 1;
        const auto next = layout.neighbours_of(g)[d];
        const std::int64_t group = over_edge ? layout.face(p, d)[std::size_t(next)] : next;
        const auto& from_elsewhere = layout.lanes_at_edge(d);
        for (int l = 0; l < layout.lanes(); ++l) {
          const auto x = layout.coordinates_of(g, l) + layout.lattice().origin();
          const auto [owner, at] = find(neighbour_of(x, mu, step, extents));
          const bool elsewhere =
              over_edge && std::find(from_elsewhere.begin(), from_elsewhere.end(), l) != from_elsewhere.end();
          EXPECT_EQ(owner, elsewhere ? layout.lattice().neighbour_rank(mu, step) : int(rank));
          EXPECT_EQ(at.group, group);
          EXPECT_EQ(at.lane, permuted ? layout.lane_from(d)[l] : l);
        }
      }
  }
}

TEST_P(layouts_of_ranks, have_boundary_groups_exactly_where_an_edge_leads_to_another_rank) {
  for (const auto& layout : all)
    for (const int p : {0, 1}) {
      for (const auto g : layout->interior(p)) EXPECT_EQ(layout->edges(g) >> 8, 0);
      for (const auto g : layout->boundary(p)) EXPECT_NE(layout->edges(g) >> 8, 0);
      EXPECT_EQ(std::int64_t(layout->interior(p).size() + layout->boundary(p).size()), layout->half());
    }
}

TEST_P(layouts_of_ranks, have_faces_of_all_groups_at_the_opposite_edge) {
  for (const auto& layout : all)
    for (int d = 0; d < neighbours; ++d) {
      if (!layout->is_cut(d / 2)) continue;
      for (const int p : {0, 1}) {
        const auto& face = layout->face(p, d);
        EXPECT_EQ(std::int64_t(face.size()), layout->face_size(d / 2));
        EXPECT_EQ(std::set<std::int32_t>(face.begin(), face.end()).size(), face.size());
        for (const auto g : face) {
          EXPECT_EQ(g >= layout->half(), p == 0);  // neighbours have the other parity
          EXPECT_TRUE(layout->edges(g) >> (8 + (d ^ 1)) & 1);
        }
      }
    }
}

TEST_P(layouts_of_ranks, are_neighbours_of_their_neighbours) {
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    for (int mu = 0; mu < 4; ++mu) {
      const int ahead = all[rank]->lattice().neighbour_rank(mu, 1);
      EXPECT_EQ(all[std::size_t(ahead)]->lattice().neighbour_rank(mu, -1), int(rank));
      if (!all[rank]->is_cut(mu)) {
        EXPECT_EQ(ahead, int(rank));
      }
    }
}

TEST(layouts_with, a_number_of_lanes_that_is_no_power_of_two_are_refused) {
  for (const int lanes : {0, -1, 3, 6, 32}) EXPECT_ANY_THROW(choose_sub_boxes(lattice(extents), lanes)) << lanes;
}

TEST(lattices, are_equal_with_equal_extents_grids_and_ranks) {
  EXPECT_EQ(lattice(extents), lattice(extents));
  EXPECT_FALSE(lattice(extents) == lattice({8, 8, 8, 12}));
  EXPECT_FALSE(lattice(extents, {2, 1, 1, 1}, 0) == lattice(extents, {2, 1, 1, 1}, 1));
  EXPECT_EQ(lattice(extents, {2, 1, 1, 3}, 5).local(), (coordinates{4, 8, 4, 4}));
  EXPECT_EQ(lattice(extents, {2, 1, 1, 3}, 5).origin(), (coordinates{4, 0, 0, 8}));
  EXPECT_EQ(lattice(extents).volume(), 8 * 8 * 4 * 12);
}

TEST(lattices, that_are_refused_name_extents_and_grid) {
  const auto message = [](const coordinates& extents, const coordinates& grid, int rank) -> std::string {
    try {
      lattice(extents, grid, rank);
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message({4, 4, 3, 4}, {1, 1, 1, 1}, 0).find("4 x 4 x 3 x 4: extents must be even"), std::string::npos);
  EXPECT_NE(message({4, 4, 4, 4}, {4, 1, 1, 1}, 0).find("cannot be cut for a grid of 4 x 1 x 1 x 1"),
            std::string::npos);
  EXPECT_NE(message({4, 4, 4, 4}, {1, 0, 1, 1}, 0).find("each direction needs at least one"), std::string::npos);
  EXPECT_NE(message({4, 4, 4, 4}, {2, 1, 1, 1}, 2).find("rank 2 is not in a grid of 2 x 1 x 1 x 1"), std::string::npos);
}

}  // namespace
}  // namespace plaq::lqcd

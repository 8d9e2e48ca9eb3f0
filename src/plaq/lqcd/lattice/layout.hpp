// Layout of a rank's sites in memory.
//
// The rank's box is cut into equal sub-boxes, one for each lane of a register (virtual sub-lattices: Boyle et al.,
// arXiv:1512.03487). A group is one site of every sub-box, at the same coordinates in each. So the neighbours of a
// group are groups, and numbers move from lane to lane only at the ends of sub-boxes. Even and odd sites are stored
// separately: sub-boxes have even extents, so all sites of a group have one parity.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "plaq/lqcd/lattice/lattice.hpp"

namespace plaq::lqcd {

/// Number of neighbours of a site: 2 mu is the one ahead in direction mu, 2 mu + 1 the one behind.
inline constexpr int neighbours = 8;

/// Cut of a rank's box for the lanes of a register.
struct sub_boxes {
  int lanes = 1;
  coordinates split{1, 1, 1, 1}, extents;  ///< number of sub-boxes in each direction, and their extents
};

/// Returns a cut with as many lanes as the box allows, at most `lanes`, a power of two. input_error for a box with more
/// groups than a layout can number.
sub_boxes choose_sub_boxes(const lattice& lat, int lanes);

/// Layout of a rank's box for kernels with `lanes` lanes.
class site_layout {
 public:
  static constexpr int max_lanes = 16;

  /// Location of a site of this rank: `group` counts even groups first, then odd ones.
  struct location {
    std::int64_t group;
    int lane;
  };

  /// Takes the cut of `choose_sub_boxes`.
  site_layout(const lqcd::lattice& lat, int lanes);

  const lqcd::lattice& lattice() const { return lattice_; }
  int lanes() const { return cut_.lanes; }
  const coordinates& split() const { return cut_.split; }  ///< number of sub-boxes in each direction
  const coordinates& sub() const { return cut_.extents; }  ///< extents of a sub-box
  std::int64_t half() const { return half_; }              ///< groups of each parity
  std::int64_t groups() const { return 2 * half_; }

  /// Location of the site with these local coordinates, and the inverse.
  location locate(const coordinates& local) const;
  coordinates coordinates_of(std::int64_t group, int lane) const;

  /// Neighbouring group in each direction; over an edge to another rank its index in the face.
  const std::array<std::int32_t, neighbours>& neighbours_of(std::int64_t group) const { return neighbours_[group]; }
  /// Edge bits of a group. Bit d: the sub-box ends in direction d, so numbers move between lanes. Bit 8 + d: the rank's
  /// box ends there too, and the last lanes belong to another rank.
  std::uint16_t edges(std::int64_t group) const { return edges_[group]; }

  /// Permutation of lanes over an edge in direction d: lane l gets the number of lane lane_from(d)[l].
  const std::array<int, max_lanes>& lane_from(int d) const { return lane_from_[d]; }

  /// Whether other ranks are neighbours in direction mu.
  bool is_cut(int mu) const { return lattice_.grid[mu] > 1; }
  /// Number of groups of one parity at an end of the sub-boxes in direction mu.
  std::int64_t face_size(int mu) const { return half_ / sub()[mu]; }
  /// Face in a direction d that leads to another rank: for the groups of `parity` at the edge, the groups at the
  /// opposite edge of this rank, which correspond to their neighbours.
  const std::vector<std::int32_t>& face(int parity, int d) const { return faces_[parity][d]; }
  /// Lanes that get their numbers from another rank over the edge d, ascending.
  const std::vector<int>& lanes_at_edge(int d) const { return edge_lanes_[d]; }

  /// Groups of a parity without neighbours on other ranks, and those with some.
  const std::vector<std::int32_t>& interior(int parity) const { return interior_[parity]; }
  const std::vector<std::int32_t>& boundary(int parity) const { return boundary_[parity]; }

 private:
  coordinates in_sub_box(std::int64_t group) const;
  std::int64_t face_index(coordinates in_sub_box, int mu) const;

  lqcd::lattice lattice_;
  sub_boxes cut_;
  std::int64_t half_;
  std::vector<std::array<std::int32_t, neighbours>> neighbours_;
  std::vector<std::uint16_t> edges_;
  std::array<std::array<int, max_lanes>, neighbours> lane_from_{};
  std::array<std::vector<int>, neighbours> edge_lanes_;
  std::array<std::array<std::vector<std::int32_t>, neighbours>, 2> faces_;
  std::array<std::vector<std::int32_t>, 2> interior_, boundary_;
};

}  // namespace plaq::lqcd

// Where the sites of a rank lie in memory.
//
// The rank's box is cut into equal sub-boxes, one for each lane of a register (virtual sub-lattices: Boyle et al.,
// arXiv:1512.03487). A block is one site of every sub-box, at the same place in each; so the neighbours of a block
// are blocks, and only where a sub-box ends numbers move from lane to lane. Even and odd sites lie apart:
// sub-boxes have even extents, so all sites of a block have one parity.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "plaq/lqcd/lattice.hpp"

namespace plaq::lqcd {

/// The eight neighbours of a site: 2 mu is the one ahead in direction mu, 2 mu + 1 the one behind.
inline constexpr int neighbours = 8;

/// A rank's box, cut for the lanes of a register.
struct sub_boxes {
  int lanes = 1;
  coordinates split{1, 1, 1, 1}, extents;  ///< sub-boxes each way, and their sites
};

/// With up to `lanes` lanes, as many as the box can be cut for; a power of two. input_error for a box with more blocks
/// than a layout can number.
sub_boxes cut_for(const lattice& of, int lanes);

class layout {
 public:
  static constexpr int most_lanes = 16;

  /// A site of this rank: `block` counts even blocks first, then odd ones.
  struct place {
    std::int64_t block;
    int lane;
  };

  /// With the lanes of cut_for.
  layout(const lattice& of, int lanes);

  const lattice& on() const { return lattice_; }
  int lanes() const { return cut_.lanes; }
  const coordinates& split() const { return cut_.split; }  ///< sub-boxes each way
  const coordinates& sub() const { return cut_.extents; }  ///< extents of a sub-box
  std::int64_t half() const { return half_; }              ///< blocks of each parity
  std::int64_t blocks() const { return 2 * half_; }

  place where(const coordinates& local) const;
  coordinates site(std::int64_t block, int lane) const;  ///< local coordinates

  /// next(b)[d] is the block there; over an edge to another rank the number in the face.
  const std::array<std::int32_t, neighbours>& next(std::int64_t block) const { return next_[block]; }
  /// Bit d: the sub-box ends there, so numbers move between lanes; bit 8 + d: the rank's box ends there too, and
  /// the last lanes are those of another rank.
  std::uint16_t edges(std::int64_t block) const { return edges_[block]; }

  /// Over an edge in direction d, lane l gets the number of lane lane_from(d)[l].
  const std::array<int, most_lanes>& lane_from(int d) const { return lane_from_[d]; }

  /// Whether other ranks are neighbours in direction mu.
  bool is_cut(int mu) const { return lattice_.grid[mu] > 1; }
  /// Blocks of one parity at an end of the sub-boxes in direction mu.
  std::int64_t face_size(int mu) const { return half_ / sub()[mu]; }
  /// Where direction d leads to another rank: the blocks that blocks of `parity` at the edge would find there,
  /// were they this rank's.
  const std::vector<std::int32_t>& face(int parity, int d) const { return faces_[parity][d]; }
  /// The lanes that get their numbers from another rank over the edge d, ascending.
  const std::vector<int>& lanes_at_edge(int d) const { return edge_lanes_[d]; }

  /// Blocks of a parity that need nothing of other ranks, and the rest.
  const std::vector<std::int32_t>& inside(int parity) const { return inside_[parity]; }
  const std::vector<std::int32_t>& outside(int parity) const { return outside_[parity]; }

 private:
  coordinates in_sub_box(std::int64_t block) const;
  std::int64_t face_number(coordinates in_sub_box, int mu) const;

  lattice lattice_;
  sub_boxes cut_;
  std::int64_t half_;
  std::vector<std::array<std::int32_t, neighbours>> next_;
  std::vector<std::uint16_t> edges_;
  std::array<std::array<int, most_lanes>, neighbours> lane_from_{};
  std::array<std::vector<int>, neighbours> edge_lanes_;
  std::array<std::array<std::vector<std::int32_t>, neighbours>, 2> faces_;
  std::array<std::vector<std::int32_t>, 2> inside_, outside_;
};

}  // namespace plaq::lqcd

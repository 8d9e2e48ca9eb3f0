// The Hilbert curve through a box of any size, without a table.
#pragma once
#include <array>
#include <cstdint>

namespace plaq::elements {

/// Number of points of the box (0 ... extent[d] - 1 in each dimension) before x on the curve of the smallest cube of
/// 2^m points a side that contains the box. In such a cube consecutive points are neighbours; in other boxes the curve
/// jumps where it reenters. N = 1, 2, 3.
///
/// C. Hamilton, "Compact Hilbert indices", Dalhousie University, CS-2006-07 (2006), sections 2.2 and 2.3: gray
/// code, entry and direction of the parts. The points before x are counted part by part, as overlaps of boxes.
template <std::size_t N>
std::uint64_t hilbert_position(const std::array<int, N>& x, const std::array<int, N>& extent);

/// Point of the box after `position` others on the curve.
template <std::size_t N>
std::array<int, N> hilbert_point(std::uint64_t position, const std::array<int, N>& extent);

}  // namespace plaq::elements

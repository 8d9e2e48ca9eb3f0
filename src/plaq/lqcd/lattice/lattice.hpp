// The lattice, and a rank's box of it.
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace plaq::lqcd {

/// Four integers in the order t, x, y, z of directions 0 ... 3.
using coordinates = std::array<int, 4>;

/// Number of sites (or ranks) in a box.
inline std::int64_t product(const coordinates& c) { return std::int64_t(c[0]) * c[1] * c[2] * c[3]; }

/// Index of a site (or rank) in a box: z runs fastest.
inline std::int64_t index_in(const coordinates& x, const coordinates& box) {
  return ((std::int64_t(x[0]) * box[1] + x[1]) * box[2] + x[2]) * box[3] + x[3];
}
/// Inverse of `index_in`.
inline coordinates coordinates_in(std::int64_t index, const coordinates& box) {
  coordinates x;
  for (int mu = 3; mu >= 0; --mu) x[mu] = int(index % box[mu]), index /= box[mu];
  return x;
}

inline coordinates operator+(coordinates a, const coordinates& b) {
  for (int mu = 0; mu < 4; ++mu) a[mu] += b[mu];
  return a;
}
/// Periodic neighbour, `step` sites ahead in direction mu.
inline coordinates neighbour_of(coordinates x, int mu, int step, const coordinates& box) {
  x[mu] = ((x[mu] + step) % box[mu] + box[mu]) % box[mu];
  return x;
}
inline int parity(const coordinates& x) { return (x[0] + x[1] + x[2] + x[3]) & 1; }

std::string to_string(const coordinates& c);  ///< "8 x 4 x 4 x 4"

/// Periodic lattice, cut into equal boxes, one for each rank of a grid.
struct lattice {
  coordinates extents, grid;
  int rank;

  /// Throws input_error if ranks and extents do not fit: every box must have even extents.
  lattice(const coordinates& extents, const coordinates& grid = {1, 1, 1, 1}, int rank = 0);

  coordinates local() const;  ///< extents of a rank's box
  coordinates rank_in_grid() const { return coordinates_in(rank, grid); }
  coordinates origin() const;  ///< first site of this rank's box
  int neighbour_rank(int mu, int step) const {
    return int(index_in(neighbour_of(rank_in_grid(), mu, step, grid), grid));
  }
  std::int64_t volume() const { return product(extents); }

  bool operator==(const lattice&) const = default;
};

/// Returns the grid of `ranks` ranks with the smallest surface between boxes. input_error if there is none.
coordinates choose_grid(int ranks, const coordinates& extents);

}  // namespace plaq::lqcd

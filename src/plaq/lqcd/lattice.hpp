// The lattice, and the part of it that a rank has.
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace plaq::lqcd {

/// In the order t, x, y, z of directions 0 ... 3.
using coordinates = std::array<int, 4>;

inline std::int64_t product(const coordinates& c) { return std::int64_t(c[0]) * c[1] * c[2] * c[3]; }

/// The number of a site (or rank) in a box: z runs fastest.
inline std::int64_t number_in(const coordinates& x, const coordinates& box) {
  return ((std::int64_t(x[0]) * box[1] + x[1]) * box[2] + x[2]) * box[3] + x[3];
}
inline coordinates place_in(std::int64_t number, const coordinates& box) {
  coordinates x;
  for (int mu = 3; mu >= 0; --mu) x[mu] = int(number % box[mu]), number /= box[mu];
  return x;
}

inline coordinates operator+(coordinates a, const coordinates& b) {
  for (int mu = 0; mu < 4; ++mu) a[mu] += b[mu];
  return a;
}
/// Periodic neighbour, `step` sites on in direction mu.
inline coordinates moved(coordinates x, int mu, int step, const coordinates& box) {
  x[mu] = ((x[mu] + step) % box[mu] + box[mu]) % box[mu];
  return x;
}
inline int parity(const coordinates& x) { return (x[0] + x[1] + x[2] + x[3]) & 1; }

std::string in_words(const coordinates& c);  ///< "8 x 4 x 4 x 4"

/// A periodic lattice, cut into equal boxes, one for each rank of a grid.
struct lattice {
  coordinates extents, grid;
  int rank;

  /// Throws input_error where ranks and extents do not fit: every box must have even extents.
  lattice(const coordinates& extents, const coordinates& grid = {1, 1, 1, 1}, int rank = 0);

  coordinates local() const;
  coordinates place() const { return place_in(rank, grid); }  ///< of this rank in the grid
  coordinates origin() const;                                 ///< the first site of this rank's box
  int neighbour_rank(int mu, int step) const { return int(number_in(moved(place(), mu, step, grid), grid)); }
  std::int64_t volume() const { return product(extents); }

  bool operator==(const lattice&) const = default;
};

/// The grid of so many ranks that makes the surface of the boxes smallest. input_error where none is possible.
coordinates grid_for(int ranks, const coordinates& extents);

}  // namespace plaq::lqcd

// Sites of one parity on a device: their numbers, neighbours, and tiles.
#pragma once
#include <cstdint>

#include "plaq/base/anywhere.hpp"
#include "plaq/lqcd/lattice/lattice.hpp"

namespace plaq::lqcd::device {

/// Divisor of numbers n with n * by < 2^32.
struct divisor {
  std::uint32_t by = 1, inverse = 0;

  divisor() = default;
  explicit divisor(int d)
      : by(std::uint32_t(d)), inverse(d == 1 ? 0 : std::uint32_t(((std::uint64_t(1) << 32) + by - 1) / by)) {}
  /// Returns n / by, rounded down.
  PLAQ_ANYWHERE std::uint32_t into(std::uint32_t n) const {
    return inverse == 0 ? n : std::uint32_t((std::uint64_t(n) * inverse) >> 32);
  }
};

/// Site of a parity: its number, a bit for each direction in which the lattice ends at it, and z % 2.
struct site {
  int number;
  unsigned ends, odd;
};

/// Returns the coordinates of a site of a parity. With all extents even, (t, x, y, z) has the number ((t X + x) Y + y)
/// Z / 2 + z / 2.
inline coordinates site_at(const coordinates& extents, int parity, std::int64_t number) {
  coordinates x = coordinates_in(2 * number, extents);
  x[3] += (x[0] + x[1] + x[2] + parity) & 1;
  return x;
}

/// Sites of either parity of a periodic lattice, cut into tiles. A block of threads has the sites of a tile, whose
/// neighbours are mostly in the tile.
class half_lattice {
 public:
  half_lattice() = default;
  /// Takes extents of tiles in (t, x, y, z / 2); replaces each by the largest divisor of the lattice's below it.
  half_lattice(const coordinates& extents, const coordinates& most) : sites_(int(product(extents) / 2)) {
    for (int mu = 3, stride = 1; mu >= 0; --mu) {
      box_[mu] = mu == 3 ? extents[mu] / 2 : extents[mu];
      stride_[mu] = stride, stride *= box_[mu];
      int extent = most[mu] < box_[mu] ? most[mu] : box_[mu];
      while (box_[mu] % extent) --extent;
      tile_[mu] = divisor(extent), grid_[mu] = divisor(box_[mu] / extent);
      tile_sites_ *= extent;
    }
  }

  PLAQ_ANYWHERE int sites() const { return sites_; }
  PLAQ_ANYWHERE int tile_sites() const { return tile_sites_; }
  PLAQ_ANYWHERE int tiles() const { return sites_ / tile_sites_; }
  int tile_extent(int mu) const { return int(tile_[mu].by); }

  /// Site i of a tile.
  PLAQ_ANYWHERE site find(int parity, int tile, int i) const {
    site s{0, 0, unsigned(parity)};
    auto outside = std::uint32_t(tile), inside = std::uint32_t(i);
    for (int mu = 3; mu >= 0; --mu) {
      const std::uint32_t a = grid_[mu].into(outside), b = tile_[mu].into(inside);
      const int at = int((outside - a * grid_[mu].by) * tile_[mu].by + inside - b * tile_[mu].by);
      outside = a, inside = b;
      s.number += at * stride_[mu];
      s.ends |= unsigned(at + 1 == box_[mu]) << 2 * mu | unsigned(at == 0) << (2 * mu + 1);
      if (mu != 3) s.odd += unsigned(at);
    }
    s.odd &= 1;
    return s;
  }

  /// Number of the neighbour in direction D, of the other parity: 2 mu is ahead, 2 mu + 1 behind.
  template <int D>
  PLAQ_ANYWHERE int neighbour(const site& s) const {
    constexpr int mu = D / 2;
    constexpr bool ahead = D % 2 == 0;
    const int around = (s.ends >> D & 1) ? box_[mu] * stride_[mu] : 0, step = stride_[mu] - around;
    if (mu == 3 && (s.odd == 1) != ahead) return s.number;
    return ahead ? s.number + step : s.number - step;
  }

 private:
  int sites_ = 0, tile_sites_ = 1;
  int box_[4] = {}, stride_[4] = {};
  divisor tile_[4], grid_[4];
};

}  // namespace plaq::lqcd::device

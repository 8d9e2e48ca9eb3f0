#include "plaq/collection/hilbert.hpp"

#include <algorithm>
#include <bit>

namespace plaq::elements {

namespace {

/// Cube of the curve: its corner and side, and the orientation of the curve in it.
template <std::size_t N>
struct cube {
  static constexpr unsigned all = (1u << N) - 1;

  std::array<int, N> corner{};
  int side;
  unsigned entry = 0, direction = 0;

  static unsigned rotate(unsigned bits, unsigned by) { return (bits << by | bits >> (N - by)) & all; }
  static unsigned gray(unsigned i) { return i ^ i >> 1; }

  /// Part i of 2^N along the curve.
  cube part(unsigned i) const {
    cube out = *this;
    out.side = side / 2;
    const unsigned by = (direction + 1) % N, where = rotate(gray(i), by) ^ entry;
    for (std::size_t d = 0; d < N; ++d) out.corner[d] += where >> d & 1 ? out.side : 0;
    out.entry = entry ^ rotate(i == 0 ? 0 : gray((i - 1) / 2 * 2), by);
    const unsigned turns = i == 0 ? 0 : unsigned(std::countr_one(i % 2 ? i : i - 1));
    out.direction = unsigned((direction + turns + 1) % N);
    return out;
  }
  /// Number of points that it shares with the box.
  std::uint64_t points(const std::array<int, N>& extent) const {
    std::uint64_t out = 1;
    for (std::size_t d = 0; d < N; ++d)
      out *= std::uint64_t(std::max(0, std::min(corner[d] + side, extent[d]) - corner[d]));
    return out;
  }
  bool holds(const std::array<int, N>& x) const {
    for (std::size_t d = 0; d < N; ++d)
      if (x[d] < corner[d] || x[d] >= corner[d] + side) return false;
    return true;
  }
  static cube around(const std::array<int, N>& extent) {
    return {.side = int(std::bit_ceil(unsigned(*std::ranges::max_element(extent))))};
  }
};

}  // namespace

template <std::size_t N>
std::uint64_t hilbert_position(const std::array<int, N>& x, const std::array<int, N>& extent) {
  std::uint64_t before = 0;
  for (auto in = cube<N>::around(extent); in.side > 1;)
    for (unsigned i = 0;; ++i) {
      const auto part = in.part(i);
      if (part.holds(x)) {
        in = part;
        break;
      }
      before += part.points(extent);
    }
  return before;
}

template <std::size_t N>
std::array<int, N> hilbert_point(std::uint64_t position, const std::array<int, N>& extent) {
  auto in = cube<N>::around(extent);
  while (in.side > 1)
    for (unsigned i = 0;; ++i) {
      const auto part = in.part(i);
      const auto points = part.points(extent);
      if (position < points) {
        in = part;
        break;
      }
      position -= points;
    }
  return in.corner;
}

#define PLAQ_CURVES(N)                                                                              \
  template std::uint64_t hilbert_position<N>(const std::array<int, N>&, const std::array<int, N>&); \
  template std::array<int, N> hilbert_point<N>(std::uint64_t, const std::array<int, N>&);
PLAQ_CURVES(1)
PLAQ_CURVES(2)
PLAQ_CURVES(3)
#undef PLAQ_CURVES

}  // namespace plaq::elements

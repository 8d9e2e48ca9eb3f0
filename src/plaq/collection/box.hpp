// Box of a mesh: its indices and their neighbours.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "plaq/collection/index.hpp"

namespace plaq {

namespace elements {

/// Neighbour of an element, at its index plus `shift`. In a periodic box it may be any element, and the element itself.
template <class Index>
struct neighbour {
  Index at;
  Index shift;
};

/// Array of up to `most` values without an allocation.
template <class V, std::size_t most>
class few {
 public:
  void push_back(const V& v) { values_[n_++] = v; }
  std::size_t size() const { return n_; }
  const V* begin() const { return values_.data(); }
  const V* end() const { return begin() + n_; }
  const V& operator[](std::size_t i) const { return values_[i]; }

 private:
  std::array<V, most> values_;
  std::size_t n_ = 0;
};

}  // namespace elements

/// Indices from (0, 0, ...) to extent - 1; x runs fastest.
template <elements::mesh_point Index>
class box {
  using traits = elements::index_traits<Index>;

 public:
  static constexpr std::size_t dimensions = traits::dimensions;
  using point = std::array<int, dimensions>;
  using neighbours_t = elements::few<elements::neighbour<Index>, dimensions == 1 ? 2 : dimensions == 2 ? 8 : 26>;

  /// Box with this many indices in each dimension. `periodic`: opposite sides touch, in all dimensions.
  /// @pre All sides are positive (input_error).
  box(Index extent, bool periodic = false) : extent_(traits::point(extent)), periodic_(periodic) {
    for (const int n : extent_)
      if (n < 1) throw input_error("a box of (" + traits::in_words(extent) + ") elements: every side needs one");
    (void)traits::to_key(extent);
  }

  /// Number of indices in each dimension.
  Index extent() const { return traits::at(extent_); }
  bool periodic() const { return periodic_; }
  /// Number of indices in the box.
  std::uint64_t size() const {
    std::uint64_t out = 1;
    for (const int n : extent_) out *= std::uint64_t(n);
    return out;
  }
  /// Returns whether the box contains the index.
  bool holds(const Index& at) const {
    const auto x = traits::point(at);
    for (std::size_t d = 0; d < dimensions; ++d)
      if (x[d] < 0 || x[d] >= extent_[d]) return false;
    return true;
  }

  /// Neighbours that share a face: two in each dimension, fewer at a border.
  neighbours_t faces(const Index& at) const { return around(at, 1); }
  /// Neighbours that share a face, an edge or a corner: up to 2, 8, 26.
  neighbours_t neighbours(const Index& at) const { return around(at, int(dimensions)); }

 private:
  neighbours_t around(const Index& at, int most) const {
    neighbours_t out;
    const auto x = traits::point(at);
    int all = 1;
    for (std::size_t d = 0; d < dimensions; ++d) all *= 3;
    for (int code = 0; code < all; ++code) {
      point to = x, shift;
      int moved = 0, rest = code;
      bool inside = true;
      for (std::size_t d = 0; d < dimensions; ++d, rest /= 3) {
        shift[d] = rest % 3 - 1;
        moved += shift[d] != 0;
        to[d] += shift[d];
        if (periodic_) to[d] = (to[d] + extent_[d]) % extent_[d];
        inside = inside && to[d] >= 0 && to[d] < extent_[d];
      }
      if (inside && moved > 0 && moved <= most) out.push_back({traits::at(to), traits::at(shift)});
    }
    return out;
  }

  point extent_;
  bool periodic_;
};

/// One-dimensional box, from an integer.
box(int, bool) -> box<int>;
/// One-dimensional box, from an integer; not periodic.
box(int) -> box<int>;

}  // namespace plaq

// Indices of elements: points of a mesh in one to three dimensions, or keys of one's own.
#pragma once
#include <array>
#include <compare>
#include <concepts>
#include <cstdint>
#include <string>

#include "plaq/base/error.hpp"

namespace plaq {

/// Index of a two-dimensional mesh: x, y from 0 to 2^31 - 1. Ordered by x, then y.
struct index2 {
  int x = 0, y = 0;
  auto operator<=>(const index2&) const = default;
};
/// Index of a three-dimensional mesh: x, y, z from 0 to 2^21 - 1. Ordered by x, then y, then z.
struct index3 {
  int x = 0, y = 0, z = 0;
  auto operator<=>(const index3&) const = default;
};

namespace elements {

/// Index as one number, by which elements are found and ordered.
using key = std::uint64_t;
/// Hash of a key: the finaliser of splitmix64 (Steele, Lea, Flood, 2014).
inline key scatter(key k) {
  k = (k ^ k >> 30) * 0xbf58476d1ce4e5b9u;
  k = (k ^ k >> 27) * 0x94d049bb133111ebu;
  return k ^ k >> 31;
}

/// Properties of an index type. Specialise it for indices of one's own: to_key, from_key and in_words, and point and at
/// if they lie on a mesh. Different indices have different keys.
template <class Index>
struct index_traits;

/// Points of a mesh: coordinates from 0 to 2^bits - 1.
template <class Index, int N>
struct mesh_index {
  static constexpr int dimensions = N;
  static constexpr int bits = N == 3 ? 21 : 31;

  /// @pre 0 <= coordinate < 2^bits (input_error).
  static key to_key(const Index& at) {
    const auto x = index_traits<Index>::point(at);
    key out = 0;
    for (int d = N; d-- > 0;) {
      if (x[d] < 0 || x[d] >> bits != 0)
        throw input_error("the index (" + in_words(at) + ") has a coordinate that is not within 0 ... 2^" +
                          std::to_string(bits) + " - 1");
      out = out << bits | key(x[d]);
    }
    return out;
  }
  static Index from_key(key k) {
    std::array<int, N> x;
    for (int d = 0; d < N; ++d, k >>= bits) x[d] = int(k & ((key(1) << bits) - 1));
    return index_traits<Index>::at(x);
  }
  static std::string in_words(const Index& at) {
    std::string out;
    for (const int x : index_traits<Index>::point(at)) out += (out.empty() ? "" : ", ") + std::to_string(x);
    return out;
  }
};

/// Points of a mesh in one dimension.
template <>
struct index_traits<int> : mesh_index<int, 1> {
  static std::array<int, 1> point(int at) { return {at}; }
  static int at(std::array<int, 1> x) { return x[0]; }
};
/// Points of a mesh in two dimensions.
template <>
struct index_traits<index2> : mesh_index<index2, 2> {
  static std::array<int, 2> point(index2 at) { return {at.x, at.y}; }
  static index2 at(std::array<int, 2> x) { return {x[0], x[1]}; }
};
/// Points of a mesh in three dimensions.
template <>
struct index_traits<index3> : mesh_index<index3, 3> {
  static std::array<int, 3> point(index3 at) { return {at.x, at.y, at.z}; }
  static index3 at(std::array<int, 3> x) { return {x[0], x[1], x[2]}; }
};
/// Key made by the user, such as a Morton code with its level.
template <>
struct index_traits<std::uint64_t> {
  static constexpr int dimensions = 0;
  static key to_key(std::uint64_t at) { return at; }
  static std::uint64_t from_key(key k) { return k; }
  static std::string in_words(std::uint64_t at) { return std::to_string(at); }
};

/// Type of an index: index_traits has its key, the way back, and its text in messages.
template <class Index>
concept index_type = requires(const Index& at, key k) {
  { index_traits<Index>::to_key(at) } -> std::same_as<key>;
  { index_traits<Index>::from_key(k) } -> std::same_as<Index>;
  { index_traits<Index>::in_words(at) } -> std::same_as<std::string>;
};
/// Index of a mesh.
template <class Index>
concept mesh_point = index_type<Index> && (index_traits<Index>::dimensions > 0);

}  // namespace elements
}  // namespace plaq

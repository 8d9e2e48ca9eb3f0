// Which rank an element is at home on: it begins there, and that rank always knows where it is.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>

#include "plaq/collection/box.hpp"
#include "plaq/collection/hilbert.hpp"

namespace plaq {

namespace elements {
/// Spreads keys that are alike.
inline key scatter(key k) {  // the finaliser of splitmix64 (Steele, Lea, Flood, 2014)
  k = (k ^ k >> 30) * 0xbf58476d1ce4e5b9u;
  k = (k ^ k >> 27) * 0x94d049bb133111ebu;
  return k ^ k >> 31;
}
}  // namespace elements

/// A map from indices to ranks, the same on every rank.
template <elements::index_type Index>
struct homes {
  std::function<int(const Index& at, int ranks)> rank_of;
  /// All elements of a rank, and whether there is such an element, where that is known beforehand; else empty.
  std::function<void(const std::function<void(const Index&)>& use, int rank, int ranks)> each_of_rank = {};
  std::function<bool(const Index& at)> holds = {};
  std::uint64_t count = 0;
  /// Where an element stands in a line of all, along which those that are close lie close.
  std::function<std::uint64_t(const Index& at)> position = {};
};

namespace elements {

/// The elements along a line, cut into as many parts as there are ranks, equal but for one element.
template <mesh_point Index, class Position, class At>
homes<Index> along(const box<Index>& all, Position position, At at) {
  const std::uint64_t n = all.size();
  const auto first = [n](std::uint64_t rank, int ranks) { return n * rank / std::uint64_t(ranks); };
  return {.rank_of =
              [=](const Index& i, int ranks) {
                // The last rank whose part begins at or before it.
                return int(((position(i) + 1) * std::uint64_t(ranks) - 1) / n);
              },
          .each_of_rank =
              [=](const std::function<void(const Index&)>& use, int rank, int ranks) {
                for (auto p = first(std::uint64_t(rank), ranks); p < first(std::uint64_t(rank) + 1, ranks); ++p)
                  use(at(p));
              },
          .holds = [all](const Index& i) { return all.holds(i); },
          .count = n,
          .position = position};
}

}  // namespace elements

/// Rows of the box, one after the other.
template <elements::mesh_point Index>
homes<Index> in_rows(const box<Index>& all) {
  using traits = elements::index_traits<Index>;
  const auto extent = traits::point(all.extent());
  return elements::along(
      all,
      [=](const Index& at) {
        const auto x = traits::point(at);
        std::uint64_t p = 0;
        for (std::size_t d = extent.size(); d-- > 0;) p = p * std::uint64_t(extent[d]) + std::uint64_t(x[d]);
        return p;
      },
      [=](std::uint64_t p) {
        auto x = extent;
        for (std::size_t d = 0; d < extent.size(); ++d, p /= std::uint64_t(extent[d - 1]))
          x[d] = int(p % std::uint64_t(extent[d]));
        return traits::at(x);
      });
}

/// Along the Hilbert curve: what lies on one rank is compact.
template <elements::mesh_point Index>
homes<Index> along_hilbert(const box<Index>& all) {
  using traits = elements::index_traits<Index>;
  const auto extent = traits::point(all.extent());
  return elements::along(
      all, [=](const Index& at) { return elements::hilbert_position(traits::point(at), extent); },
      [=](std::uint64_t p) { return traits::at(elements::hilbert_point(p, extent)); });
}

/// Where the user says: rank_of(index, ranks).
template <elements::mesh_point Index, class RankOf>
homes<Index> by_rule(const box<Index>& all, RankOf rank_of) {
  auto out = in_rows(all);
  out.each_of_rank = [rank_of, rows = out.each_of_rank](const auto& use, int rank, int ranks) {
    rows(
        [&](const Index& at) {
          if (rank_of(at, ranks) == rank) use(at);
        },
        0, 1);
  };
  out.rank_of = std::move(rank_of);
  return out;
}

/// For elements that come and go: by a hash of the key. Nobody knows beforehand which there are.
template <elements::index_type Index>
homes<Index> scattered() {
  using traits = elements::index_traits<Index>;
  return {.rank_of = [](const Index& at,
                        int ranks) { return int(elements::scatter(traits::to_key(at)) % std::uint64_t(ranks)); },
          .position = [](const Index& at) { return traits::to_key(at); }};
}

}  // namespace plaq

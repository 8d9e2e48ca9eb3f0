// Homes: the rank on which an element begins, and which always knows where it is.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>

#include "plaq/collection/box.hpp"
#include "plaq/collection/hilbert.hpp"

namespace plaq {

namespace elements {

/// Place of an element in the order in which reductions combine.
using place = std::uint64_t;
/// Places from first to last.
struct places {
  place first = 0, last = ~place(0);
};

}  // namespace elements

/// Map from indices to ranks, the same on every rank.
template <elements::index_type Index>
struct homes {
  std::function<int(const Index& at, int ranks)> rank_of;
  /// Calls use(index) for all elements of a rank. Empty where elements come and go.
  std::function<void(const std::function<void(const Index&)>& use, int rank, int ranks)> each_of_rank = {};
  /// Whether there is an element of this index. Empty where elements come and go.
  std::function<bool(const Index& at)> holds = {};
  std::uint64_t count = 0;
  /// Position of an element along a curve that keeps neighbours close.
  std::function<std::uint64_t(const Index& at)> position = {};
  /// Values of elements::scatter(key) of the elements of a rank, rising with the rank, where homes are such intervals:
  /// ranks then combine the values of elements that come and go. Otherwise rank 0 combines them all.
  std::function<elements::places(int rank, int ranks)> hashes_of_rank = {};
};

namespace elements {

/// Cuts a curve through all elements into a part for each rank; their sizes differ by one at most.
template <mesh_point Index, class Position, class At>
homes<Index> cut_curve(const box<Index>& all, Position position, At at) {
  const std::uint64_t n = all.size();
  const auto first = [n](std::uint64_t rank, int ranks) { return n * rank / std::uint64_t(ranks); };
  return {.rank_of =
              [=](const Index& i, int ranks) {
                // the last rank whose part begins at or before it
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

/// Homes by rows of the box, one after the other.
template <elements::mesh_point Index>
homes<Index> row_homes(const box<Index>& all) {
  using traits = elements::index_traits<Index>;
  const auto extent = traits::point(all.extent());
  return elements::cut_curve(
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

/// Homes along the Hilbert curve: the elements of a rank are compact.
template <elements::mesh_point Index>
homes<Index> hilbert_homes(const box<Index>& all) {
  using traits = elements::index_traits<Index>;
  const auto extent = traits::point(all.extent());
  return elements::cut_curve(
      all, [=](const Index& at) { return elements::hilbert_position(traits::point(at), extent); },
      [=](std::uint64_t p) { return traits::at(elements::hilbert_point(p, extent)); });
}

/// Homes by a rule of the user: rank_of(index, ranks).
template <elements::mesh_point Index, class RankOf>
homes<Index> homes_by_rule(const box<Index>& all, RankOf rank_of) {
  auto out = row_homes(all);
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

/// Homes by a hash of the key, for elements that come and go: equal parts of all hashes.
template <elements::index_type Index>
homes<Index> hashed_homes() {
  using traits = elements::index_traits<Index>;
  const auto first = [](int rank, int ranks) {  // upper half of the first hash of a rank
    return ((std::uint64_t(rank) << 32) + std::uint64_t(ranks) - 1) / std::uint64_t(ranks);
  };
  return {.rank_of =
              [](const Index& at, int ranks) {
                return int((elements::scatter(traits::to_key(at)) >> 32) * std::uint64_t(ranks) >> 32);
              },
          .position = [](const Index& at) { return traits::to_key(at); },
          .hashes_of_rank =
              [first](int rank, int ranks) {
                return elements::places{first(rank, ranks) << 32, (first(rank + 1, ranks) << 32) - 1};
              }};
}

}  // namespace plaq

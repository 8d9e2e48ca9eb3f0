// Values that come from several ranks, and pieces of sums over ranks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plaq/comm/schedules/exchange.hpp"

namespace plaq::comm {

/// Contributions of ranks 0, 1, ..., one after the other; empty on ranks that do not receive them.
template <class T>
struct gathered {
  std::vector<T> values;
  std::vector<std::size_t> offsets;  ///< [ranks + 1]
  std::span<const T> from(int rank) const {
    return std::span(values).subspan(offsets[rank], offsets[rank + 1] - offsets[rank]);
  }
};

/// Blocks from several ranks, one after the other, by rank.
template <class T>
struct arrivals {
  std::vector<T> values;
  std::vector<neighbour> from;
};

/// Numbered part of a sum over ranks, e.g. the accumulator of a Markov chain.
template <class T>
struct piece {
  std::int64_t index;
  std::span<const T> values;
};

}  // namespace plaq::comm

// Exchange of blocks between neighbours: every rank names the ranks that it sends to and receives from.
#pragma once
#include <cstddef>
#include <vector>

#include "plaq/comm/schedules/schedule.hpp"

namespace plaq::comm {

/// Block of consecutive values of a buffer that is sent to a rank, or received from it.
struct neighbour {
  int rank;
  std::size_t count;  ///< values
  bool operator==(const neighbour&) const = default;
};

/// Returns the steps of `rank` among `ranks`: the blocks of the input, one after the other, are sent to the ranks of
/// `to`, and those of the output are received from the ranks of `from`. Values have `width` bytes. A rank may be named
/// several times, and itself: the i-th block for it is the i-th that it receives from the sender. Empty blocks are not
/// sent.
/// @pre Ranks exist, and blocks of this rank for itself have equal lengths on both sides (input_error).
schedule make_exchange(int rank, int ranks, const std::vector<neighbour>& to, const std::vector<neighbour>& from,
                       std::size_t width);

/// Returns the number of values in all blocks.
std::size_t total_of(const std::vector<neighbour>& blocks);

}  // namespace plaq::comm

// Bracketing of a reduction: the partial results that may be combined.
//
// Contributions are numbered 0 ... n-1. In a fixed order, block (m, j) is contribution j for m = 0, else block
// (m-1, 2j) combined with block (m-1, 2j+1), cut off at n: a balanced binary tree that depends on n alone. A
// contiguous range of contributions is kept as the fewest blocks that make it up, at most 2 log2(n); whatever the
// ranks and the tree of messages between them, the last block is the same, bit by bit. In a free order any two
// neighbouring ranges combine, so one part is enough.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "plaq/comm/schedules/schedule.hpp"

namespace plaq::comm {

/// Order of a reduction.
struct bracketing {
  bool fixed = false;
  std::int64_t total = 0;  ///< contributions
};

/// Partial result: its contributions and its location.
struct part_of_sum {
  std::int64_t begin, end;
  location at;
  bool writable = true;  ///< may be overwritten
};

/// Returns the ranges that the contributions begin ... end - 1 are kept as, ascending.
std::vector<part_of_sum> parts_of(bracketing how, std::int64_t begin, std::int64_t end);

/// Combines neighbouring parts of `size` bytes until they are those of `parts_of`, ascending. If one part is left and
/// `target` is given, that part is there.
std::vector<part_of_sum> merge(program& steps, bracketing how, std::vector<part_of_sum> parts, std::size_t size,
                               std::optional<location> target);

}  // namespace plaq::comm

// How long collective operations take here: for the tuning table and for benchmarks.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "plaq/comm/collectives/collectives.hpp"

namespace plaq::comm {

/// For each variant the median over `repeats` of the seconds from when the first rank has begun to when the last
/// has ended, on rank 0's clock. All leave a barrier before; that they leave it one after another, about a latency
/// apart, or as they get a core where there are fewer than ranks, is in all times. The variants take turns, so that
/// whatever else the machine does meets all of them. Collective.
std::vector<double> median_seconds(const communicator& over, const std::vector<std::function<void()>>& variants,
                                   int repeats);

/// A call of this operation with blocks of `bytes` that hold floats, for `median_seconds`. Sums have one value per
/// four bytes.
std::function<void()> sample_call(collectives& by, collective what, std::size_t bytes);

/// The methods that are worth a try, for `ranks` ranks and blocks of `bytes`.
std::vector<method> candidates(collective what, int ranks, std::size_t bytes);

struct measured {
  method by;
  double seconds;
};

/// Every candidate for this operation, blocks and communicator, the quickest first. Collective.
std::vector<measured> measure_candidates(const communicator& over, collective what, std::size_t bytes, int repeats);

}  // namespace plaq::comm

// Measured times of collective operations, for the tuning table and benchmarks.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "plaq/comm/collectives/collectives.hpp"

namespace plaq::comm {

/// Returns for each variant the median over `repeats` of the seconds between the first begin and the last end of a
/// rank, on rank 0's clock. A barrier precedes each call; ranks leave it about a latency apart, or when they get a
/// core, which is included in all times. Variants are interleaved, so that other load of the machine affects all of
/// them. Collective.
std::vector<double> median_seconds(const communicator& over, const std::vector<std::function<void()>>& variants,
                                   int repeats);

/// Returns a call of this operation with blocks of `bytes` of floats, for `median_seconds`.
std::function<void()> sample_call(collectives& by, collective what, std::size_t bytes);

/// Returns the methods that may be the quickest, for `ranks` ranks and blocks of `bytes`.
std::vector<method> candidates(collective what, int ranks, std::size_t bytes);

/// Measured time of a method.
struct measurement {
  method by;
  double seconds;
};

/// Measures every candidate for this operation, blocks and communicator. Returns the quickest first. Collective.
std::vector<measurement> measure_candidates(const communicator& over, collective what, std::size_t bytes, int repeats);

}  // namespace plaq::comm

// Offsets between the clocks of ranks, from round trips of messages.
#pragma once
#include "plaq/comm/wire/communicator.hpp"

namespace plaq::comm {

/// Offset to add to this rank's steady_clock for rank 0's, in seconds. Its error is at most `error`: half the time of
/// the quickest round trip.
struct clock_offset {
  double seconds, error;
};

/// Measures the offset. Collective: rank 0 asks one rank after the other for its time, `trips` times each; some 10 us
/// per trip.
clock_offset measure_clock_offset(const communicator& all, int trips = 20);

}  // namespace plaq::comm

// How far the clocks of the ranks are apart, by messages that go forth and back.
#pragma once
#include "plaq/comm/wire/communicator.hpp"

namespace plaq::comm {

/// What to add to this rank's steady_clock to get rank 0's, in seconds. It is off by `error` at most: half the
/// time of the quickest round trip.
struct clock_offset {
  double seconds, error;
};

/// Collective. Rank 0 asks one rank after the other for its time, `trips` times each; some 10 us per trip.
clock_offset measure_clock_offset(const communicator& all, int trips = 20);

}  // namespace plaq::comm

#include <gtest/gtest.h>

#include <cmath>

#include "plaq/comm/job/world.hpp"
#include "plaq/comm/wire/clock_offset.hpp"

namespace {

using namespace plaq::comm;

// The ranks of this suite share one host, hence one clock: the offset is nothing but its error.
TEST(ClockOffset, IsNothingOnOneHost) {
  static const communicator world = plaq::comm::world();
  for (int trips : {1, 20}) {
    const clock_offset found = measure_clock_offset(world, trips);
    EXPECT_LE(std::abs(found.seconds), found.error);
    if (world.rank() == 0)
      EXPECT_EQ(found.error, 0);
    else
      EXPECT_GT(found.error, 0);
  }
}

}  // namespace

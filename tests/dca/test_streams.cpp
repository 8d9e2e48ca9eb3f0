#include <gtest/gtest.h>

#include "plaq/dca/streams.hpp"

namespace plaq::dca {
namespace {

// In this order, or runs that were stopped under an earlier version would go on with other numbers.
TEST(streams, have_temperature_iteration_chain_and_bin_as_coordinates) {
  const chain_rules rules{.seed = 7, .point = 2, .iteration = 3};
  const stream_id found = streams::of(rules, streams::warm_up_moves, 4, 5), expected{7, 2, 2, 3, 4, 5};
  EXPECT_EQ(random_words(found, 9), random_words(expected, 9));
}

}  // namespace
}  // namespace plaq::dca

#include <gtest/gtest.h>

#include <cstdint>

#include "plaq/dca/streams.hpp"

namespace plaq::dca {
namespace {

// In this order, or runs that were stopped under an earlier version would go on with other numbers.
TEST(streams, have_temperature_iteration_chain_and_bin_as_coordinates) {
  const chain_rules rules{.seed = 7, .point = 2, .iteration = 3};
  const stream_id found = streams::of(rules, streams::warm_up_moves, 4, 5), expected{7, 2, 2, 3, 4, 5};
  EXPECT_EQ(random_words(found, 9), random_words(expected, 9));
}

TEST(streams, have_purposes_whose_numbers_never_change) {
  EXPECT_EQ(streams::moves, 1u);
  EXPECT_EQ(streams::warm_up_moves, 2u);
  EXPECT_EQ(streams::measurement_times, 3u);
  EXPECT_EQ(streams::neighbours, 4u);
  EXPECT_EQ(streams::worms, 5u);
  EXPECT_EQ(streams::warm_up_worms, 6u);
  EXPECT_EQ(streams::charge_worms, 7u);
  EXPECT_EQ(streams::warm_up_charge_worms, 8u);
}

TEST(streams, keep_coordinates_of_all_bits) {
  const chain_rules rules{.seed = ~std::uint64_t(0), .point = ~0u, .iteration = ~0u - 1};
  const stream_id all = streams::of(rules, streams::worms, ~0u - 2, ~std::uint64_t(0) - 3);
  const stream_id expected{~std::uint64_t(0), 5, ~0u, ~0u - 1, ~0u - 2, ~std::uint64_t(0) - 3};
  EXPECT_EQ(random_words(all, 0), random_words(expected, 0));
}

TEST(streams, of_bins_differ_in_every_early_number) {
  const chain_rules rules{.seed = 7};
  for (std::uint64_t index = 0; index < 20; ++index)
    EXPECT_NE(random_words(streams::of(rules, streams::moves, 0, 0), index),
              random_words(streams::of(rules, streams::moves, 0, 1), index));
}

}  // namespace
}  // namespace plaq::dca

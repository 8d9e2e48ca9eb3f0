#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/mpi/launcher.hpp"
#include "plaq/comm/mpi/library.hpp"
#include "ranks.hpp"

namespace {

using namespace plaq::comm;
using test::world;

TEST(communicator, world_is_what_was_asked_for) {
  EXPECT_EQ(world().size(), expected_ranks().value_or(1));
  EXPECT_LT(world().rank(), world().size());
  EXPECT_EQ(thread_level().empty(), !find_launch());
}

TEST(communicator, is_move_only) {
  static_assert(!std::is_copy_constructible_v<communicator>);
  communicator a = world().split(0);
  communicator b = std::move(a);
  EXPECT_EQ(b.size(), world().size());
  collectives(b).barrier();
}

TEST(communicator, splits_by_color_and_orders_by_key) {
  const int p = world().size(), me = world().rank();
  const communicator part = world().split(me % 2, -me);
  EXPECT_EQ(part.size(), me % 2 ? p / 2 : (p + 1) / 2);
  const auto members = collectives(part).all_gather_any(std::array{me}).values;
  EXPECT_TRUE(std::ranges::is_sorted(members, std::greater{}));
  for (int r : members) EXPECT_EQ(r % 2, me % 2);
  EXPECT_THROW(world().split(-1), plaq::input_error);
}

TEST(communicator, a_node_is_part_of_the_world) {
  const communicator node = world().split_by_node();
  EXPECT_GE(node.size(), 1);
  EXPECT_LE(node.size(), world().size());
}

TEST(communicator, the_longest_message_is_checked) {
  if (!find_launch()) GTEST_SKIP() << "only MPI cuts messages";
  EXPECT_THROW(plaq::comm::world({.longest_message = 0}), plaq::input_error);
}

}  // namespace

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "counting_wire.hpp"
#include "plaq/base/error.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/comm/mpi/launcher.hpp"
#include "plaq/comm/mpi/library.hpp"
#include "ranks.hpp"

namespace {

using namespace plaq::comm;
using test::counting_wire;
using test::world;

TEST(communicator, world_is_what_was_asked_for) {
  EXPECT_EQ(world().size(), expected_ranks().value_or(1));
  EXPECT_LT(world().rank(), world().size());
  EXPECT_EQ(thread_level().empty(), !find_launch());
}

// Whatever ranks share a node, in order or not, equally many or not.
TEST(communicator, finds_its_nodes_once) {
  const int p = world().size();
  for (const auto& node_of_rank : std::vector<std::function<int(int)>>{
           [](int) { return 0; }, [](int r) { return r; }, [](int r) { return r / 3; }, [](int r) { return r % 2; },
           [](int r) { return (r + 1) / 3; }, [](int r) { return r == 0 ? 5 : 1; }}) {
    std::vector<int> node_of;
    for (int r = 0; r < p; ++r) node_of.push_back(node_of_rank(r));
    counting_wire::counts made;
    const communicator over(std::make_unique<counting_wire>(world().open_wire(), made, node_of));
    for (int time = 0; time < 2; ++time) {
      made = {};
      collectives c(over);
      EXPECT_EQ(made.duplicates, 1);
      EXPECT_EQ(made.nodes, time == 0 ? 1 : 0);
      if (time == 1) {
        EXPECT_LT(made.messages, std::max(p, 2)) << "of one broadcast";
      }
      const node_map expected(node_of);
      const auto& found = c.ranks_by_node();
      EXPECT_EQ(found.nodes(), expected.nodes());
      for (int i = 0; i < p; ++i) EXPECT_EQ(found.rank_at(i), expected.rank_at(i));
      EXPECT_EQ(found.split({0, p}, 3), expected.split({0, p}, 3));
      std::array sum{world().rank()};
      c.all_reduce(sum, operation::sum);
      EXPECT_EQ(sum[0], p * (p - 1) / 2);
    }
  }
}

// The set-up makes calls before it knows the method: none of their schedules stays.
TEST(communicator, calls_go_by_the_method_that_was_asked_for) {
  counting_wire::counts made;
  const int p = world().size();
  const communicator over(std::make_unique<counting_wire>(world().open_wire(), made, std::vector<int>(std::size_t(p))));
  for (int time = 0; time < 2; ++time) {
    collectives c(over, {.by = method{algorithm::chain, 1}});
    for (std::size_t bytes = 1; bytes <= 64; ++bytes) {
      made = {};
      std::vector<char> value(bytes);
      c.broadcast(value);
      EXPECT_EQ(made.messages, c.rank() + 1 < p ? 1 : 0) << bytes << " bytes";
    }
  }
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
  if (launched_rank() > 0) GTEST_SKIP() << "the error of others waits for that of the first rank";
  EXPECT_THROW(plaq::comm::world({.longest_message = 0}), plaq::input_error);
}

}  // namespace
